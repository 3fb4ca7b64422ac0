import { resolve } from "node:path";
import type { Hex } from "viem";
import type { z } from "zod";
import type { environment } from "../environment.ts";
import { KEY_SUFFIXES, ROLE_PREFIXES, ROLES, type Role, type SignerName } from "./key-variables.ts";

/** Where a role's key is. */
export type KeySetting =
  | { readonly kind: "raw"; readonly privateKey: Hex }
  | { readonly kind: "keystore"; readonly file: string; readonly passwordFile: string }
  | ({ readonly kind: "remote"; readonly url: string } & SignerName);

/** The keys of all roles, null for a role without a key here; those whose variables do not fit together have been refused before. */
export function keySettings(data: z.infer<typeof environment>): Readonly<Record<Role, KeySetting | null>> {
  return {
    publisher: keySetting(data, "publisher"),
    signer: keySetting(data, "signer"),
    facilitator: keySetting(data, "facilitator"),
    verdictSigner: keySetting(data, "verdictSigner"),
    relayer: keySetting(data, "relayer"),
    owner: keySetting(data, "owner"),
  };
}

function keySetting(data: z.infer<typeof environment>, role: Role): KeySetting | null {
  const prefix = ROLE_PREFIXES[role];
  const privateKey = data[`${prefix}_PRIVATE_KEY`];
  const file = data[`${prefix}_KEYSTORE`];
  const passwordFile = data[`${prefix}_KEYSTORE_PASSWORD_FILE`];
  const url = data[`${prefix}_SIGNER_URL`];
  const name = data[`${prefix}_SIGNER_ADDRESS`] ?? null;
  if (privateKey !== undefined) return { kind: "raw", privateKey };
  if (file !== undefined && passwordFile !== undefined)
    return { kind: "keystore", file: resolve(file), passwordFile: resolve(passwordFile) };
  return url !== undefined && name !== null ? { kind: "remote", url, ...name } : null;
}

/** Variables of which one is of no use without the other. */
const PAIRS = [
  ["keystore", "password"],
  ["signerUrl", "signerAddress"],
] as const;

/** Roles whose key is given in two forms, or in half of one. */
export function keyFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  return ROLES.flatMap((role) => {
    const nameOf = (part: keyof typeof KEY_SUFFIXES) => `${ROLE_PREFIXES[role]}${KEY_SUFFIXES[part]}`;
    const isSet = (part: keyof typeof KEY_SUFFIXES) => present[nameOf(part)] !== undefined;
    const forms = (["raw", "keystore", "signerUrl"] as const).filter(isSet);
    const halves = PAIRS.flatMap(([a, b]) => [
      ...(isSet(a) && !isSet(b) ? [`${nameOf(a)}: needs ${nameOf(b)}`] : []),
      ...(isSet(b) && !isSet(a) ? [`${nameOf(b)}: needs ${nameOf(a)}`] : []),
    ]);
    const [first, ...others] = forms.map(nameOf);
    const doubled = others.length > 0 ? [`${first}: excludes ${others.join(" and ")}; one key per role`] : [];
    return [...doubled, ...halves];
  }).map((fault) => `  ${fault}`);
}

/** The variables by any form of which a role gets its key, for messages. */
export function formsOf(role: Role): string {
  const prefix = ROLE_PREFIXES[role];
  return `${prefix}_PRIVATE_KEY, ${prefix}_KEYSTORE or ${prefix}_SIGNER_URL`;
}
