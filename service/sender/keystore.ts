import { randomBytes, randomUUID } from "node:crypto";
import { decrypt, encrypt, scrypt, toKey } from "ox/Keystore";
import { type Address, type Hex, isAddressEqual } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-fA-F]{${2 * bytes}}$`));
const saltText = z.string().regex(/^([0-9a-fA-F]{2}){1,64}$/);
/** Above what any wallet writes, and below what would take minutes or all memory. */
const MAX_MEMORY = 1_073_741_824;
const MAX_ROUNDS = 10_000_000;

const kdf = z.discriminatedUnion("kdf", [
  z.object({
    kdf: z.literal("scrypt"),
    kdfparams: z
      .object({
        dklen: z.literal(32),
        n: z.int().min(2),
        r: z.int().min(1),
        p: z.int().min(1).max(64),
        salt: saltText,
      })
      .refine(({ n, r }) => Number.isInteger(Math.log2(n)) && 128 * n * r <= MAX_MEMORY),
  }),
  z.object({
    kdf: z.literal("pbkdf2"),
    kdfparams: z.object({
      dklen: z.literal(32),
      c: z.int().min(1).max(MAX_ROUNDS),
      prf: z.literal("hmac-sha256"),
      salt: saltText,
    }),
  }),
]);

const keystoreFile = z.object({
  version: z.literal(3),
  id: z.string().default(""),
  address: z
    .string()
    .regex(/^(0x)?[0-9a-fA-F]{40}$/)
    .optional(),
  crypto: z
    .object({
      cipher: z.literal("aes-128-ctr"),
      cipherparams: z.object({ iv: hex(16) }),
      ciphertext: hex(32),
      mac: hex(32),
    })
    .and(kdf),
});

/** go-ethereum's standard: about a second and 256 MB for each try at a password. */
const STANDARD_COST = 262_144;
const BLOCK_SIZE = 8;

/** Decrypts a keystore of Web3 Secret Storage version 3, by scrypt or PBKDF2; it takes about a second, and the thread with it. */
export function openKeystore(
  text: string,
  password: string,
):
  | { kind: "open"; privateKey: Hex }
  | { kind: "malformed" | "wrong_password" | "wrong_address"; fault: string } {
  const parsed = keystoreFile.safeParse(parseJson(text));
  if (!parsed.success) return { kind: "malformed", fault: "is no keystore of Web3 Secret Storage version 3" };
  const { address, ...keystore } = parsed.data;
  const privateKey = decryptChecked(keystore, password);
  if (privateKey === null) return { kind: "wrong_password", fault: "does not open with that password" };
  const named = address === undefined ? null : addressOf(address);
  if (named !== null && !isAddressEqual(named, privateKeyToAddress(privateKey)))
    return { kind: "wrong_address", fault: `names the address ${named}, and holds the key of another` };
  return { kind: "open", privateKey };
}

/** A keystore of Web3 Secret Storage version 3 as text, by scrypt at the given cost, a power of two. */
export function writeKeystore(
  secret: { readonly privateKey: Hex; readonly password: string },
  { salt, iv, id }: { salt: Uint8Array; iv: Uint8Array; id: string },
  cost = STANDARD_COST,
): string {
  const { privateKey, password } = secret;
  const [key, options] = scrypt({ password, salt, iv, n: cost, r: BLOCK_SIZE, p: 1 });
  const keystore = encrypt(privateKey, key, { ...options, id });
  const address = privateKeyToAddress(privateKey).slice(2).toLowerCase();
  return `${JSON.stringify({ address, ...keystore }, null, 2)}\n`;
}

export function keystoreEntropy(): Parameters<typeof writeKeystore>[1] {
  return { salt: randomBytes(32), iv: randomBytes(16), id: randomUUID() };
}

function decryptChecked(keystore: Parameters<typeof decrypt>[0], password: string): Hex | null {
  try {
    return decrypt(keystore, toKey(keystore, { password }), { as: "Hex" });
  } catch (error) {
    // ox's only word for a code that does not match.
    if (error instanceof Error && error.message === "corrupt keystore") return null;
    throw error;
  }
}

function addressOf(text: string): Address {
  return `0x${text.replace(/^0x/, "")}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON is as much no keystore as any other text.
    return null;
  }
}
