import { KEY_SUFFIXES, ROLE_PREFIXES } from "../keys/key-variables.ts";

/** Variables that hold a URL with, perhaps, a password, or a key in its path or query. */
export const SECRET_URLS: readonly string[] = [
  "DATABASE_URL",
  "RPC_URL",
  "X402_FACILITATOR_URL",
  "PANEL_BASE_URL",
  "HISTORY_URL",
  "LABELS_URL",
  "IPFS_GATEWAY_URL",
  ...Object.values(ROLE_PREFIXES).map((prefix) => `${prefix}${KEY_SUFFIXES.signerUrl}`),
];

/** Variables that hold a secret, or several separated by commas. */
export const SECRET_VALUES: readonly string[] = [
  ...Object.values(ROLE_PREFIXES).map((prefix) => `${prefix}${KEY_SUFFIXES.raw}`),
  "PANEL_API_KEY",
  "RECEIPT_PRIVATE_KEY",
  "RECEIPT_PREVIOUS_KEYS",
  "AHS_API_KEY",
  "HISTORY_API_KEY",
  "LABELS_API_KEY",
  // Of the client's library, for a DATABASE_URL without a password.
  "PGPASSWORD",
];

/** Variables whose value no message repeats. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([...SECRET_URLS, ...SECRET_VALUES]);
