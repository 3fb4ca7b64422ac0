import type { Address, Hex } from "viem";
import { isAddress, zeroAddress } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { z } from "zod";

/** Whose transactions and signatures a key makes, with what its variables' names begin. */
export const ROLE_PREFIXES = {
  publisher: "PUBLISHER",
  signer: "SIGNER",
  facilitator: "FACILITATOR",
  verdictSigner: "VERDICT_SIGNER",
  relayer: "RELAYER",
  owner: "OWNER",
} as const;

export type Role = keyof typeof ROLE_PREFIXES;

export const ROLES = Object.keys(ROLE_PREFIXES) as readonly Role[];

/** The last parts of the variables that hold a role's key, in one of three forms. */
export const KEY_SUFFIXES = {
  raw: "_PRIVATE_KEY",
  keystore: "_KEYSTORE",
  password: "_KEYSTORE_PASSWORD_FILE",
  signerUrl: "_SIGNER_URL",
  signerAddress: "_SIGNER_ADDRESS",
} as const;

/** Key of a remote signer: its address, or its public key. */
export type SignerName = { readonly address: Address; readonly identifier: Hex };

const PUBLIC_KEY = /^0x(04)?[0-9a-fA-F]{128}$/;

/** 0x and 64 hexadecimal digits. */
export const privateKey = z
  .templateLiteral(["0x", z.string().regex(/^[0-9a-fA-F]{64}$/)])
  .transform((value) => value as Hex)
  .optional()
  .describe("0x and 64 hexadecimal digits");

const file = z.string().min(1).optional().describe("a file name");

const url = z
  .url({ protocol: /^https?$/ })
  .optional()
  .describe("a URL that starts with http:// or https://");

const signerName = z
  .string()
  .transform(readSignerName)
  .refine((name) => name !== null)
  .optional()
  .describe("an address, or a public key of 64 bytes where the signer is asked by that");

/** The variables of one role. */
export function keyVariables<Prefix extends string>(prefix: Prefix) {
  const variables = {
    [`${prefix}${KEY_SUFFIXES.raw}`]: privateKey,
    [`${prefix}${KEY_SUFFIXES.keystore}`]: file,
    [`${prefix}${KEY_SUFFIXES.password}`]: file,
    [`${prefix}${KEY_SUFFIXES.signerUrl}`]: url,
    [`${prefix}${KEY_SUFFIXES.signerAddress}`]: signerName,
  };
  // Computed names are lost to the compiler: these are the ones just above.
  return variables as Record<`${Prefix}_PRIVATE_KEY`, typeof privateKey> &
    Record<`${Prefix}_KEYSTORE` | `${Prefix}_KEYSTORE_PASSWORD_FILE`, typeof file> &
    Record<`${Prefix}_SIGNER_URL`, typeof url> &
    Record<`${Prefix}_SIGNER_ADDRESS`, typeof signerName>;
}

function readSignerName(text: string): SignerName | null {
  if (isAddress(text)) return text === zeroAddress ? null : { address: text, identifier: text };
  if (!PUBLIC_KEY.test(text)) return null;
  const digits = text.slice(-128);
  return { address: publicKeyToAddress(`0x04${digits}`), identifier: `0x${digits}` };
}
