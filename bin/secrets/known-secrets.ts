import { KEY_SUFFIXES, ROLE_PREFIXES } from "../keys/key-variables.ts";

/** Below that a text is found by chance in lines that have nothing to do with it; passwords in URLs are found by their place. */
const SHORTEST = 8;
/** Providers' keys in paths are longer than names of versions, networks and databases. */
const SHORTEST_SEGMENT = 12;
const PRIVATE_KEY = /^0x([0-9a-fA-F]{64})$/;

/**
 * The secrets that the environment holds: values of secret variables, and of URLs the passwords, long parts of paths and values of
 * queries. Longest first, so that none is replaced in part.
 */
export function knownSecrets(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = SECRET_VALUES.flatMap((name) => (env[name] ?? "").split(","));
  const parts = SECRET_URLS.flatMap((name) => partsOf(env[name] ?? ""));
  const found = [...values, ...parts].map((value) => value.trim()).filter(({ length }) => length >= SHORTEST);
  return [...new Set(found.flatMap(spellings))].toSorted((a, b) => b.length - a.length);
}

function partsOf(text: string): string[] {
  const url = URL.canParse(text) ? new URL(text) : null;
  // A value that is no URL is a faulty setting, which may still be a secret.
  if (url === null) return [text];
  const isHttp = url.protocol.startsWith("http");
  return [
    url.password,
    // As the header of basic authentication says it.
    ...(url.password.length < SHORTEST ? [] : [base64(`${decoded(url.username)}:${decoded(url.password)}`)]),
    ...(isHttp ? [] : url.searchParams.getAll("password")),
    ...(isHttp ? url.pathname.split("/").filter(({ length }) => length >= SHORTEST_SEGMENT) : []),
    ...(isHttp ? url.searchParams.values() : []),
  ];
}

/** As it is, decoded, encoded for a URL, and inside a JSON string; a key also as digits alone and in both forms of base64. */
function spellings(secret: string): string[] {
  const written = [secret, ...keySpellings(secret)];
  return written.flatMap((text) => [
    text,
    decoded(text),
    encodeURIComponent(text),
    JSON.stringify(text).slice(1, -1),
  ]);
}

function keySpellings(secret: string): string[] {
  const digits = PRIVATE_KEY.exec(secret)?.[1];
  if (digits === undefined) return [];
  const bytes = Buffer.from(digits, "hex");
  return [digits, bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A stray percent sign: it is not encoded.
    return text;
  }
}

/** Variables that hold a URL with, perhaps, a password, or a key in its path or query. */
const SECRET_URLS: readonly string[] = [
  "DATABASE_URL",
  "DATABASE_READ_URL",
  "RPC_URL",
  "X402_FACILITATOR_URL",
  "PANEL_BASE_URL",
  "PANEL_SECOND_BASE_URL",
  "PANEL_APPEAL_BASE_URL",
  "HISTORY_URL",
  "HISTORY_BATCH_URL",
  "LABELS_URL",
  "IPFS_GATEWAY_URL",
  ...Object.values(ROLE_PREFIXES).map((prefix) => `${prefix}${KEY_SUFFIXES.signerUrl}`),
];

/** Variables that hold a secret, or several separated by commas. */
const SECRET_VALUES: readonly string[] = [
  ...Object.values(ROLE_PREFIXES).map((prefix) => `${prefix}${KEY_SUFFIXES.raw}`),
  "X402_FACILITATOR_TOKEN",
  "X402_FACILITATOR_KEY_SECRET",
  "PANEL_API_KEY",
  "PANEL_SECOND_API_KEY",
  "PANEL_APPEAL_API_KEY",
  "RECEIPT_PRIVATE_KEY",
  "TEXT_ENCRYPTION_KEY",
  "TEXT_ENCRYPTION_OLD_KEYS",
  "RECEIPT_PREVIOUS_KEYS",
  "AHS_API_KEY",
  "HISTORY_API_KEY",
  "HISTORY_BATCH_API_KEY",
  "LABELS_API_KEY",
  // Of the client's library, for a DATABASE_URL without a password.
  "PGPASSWORD",
];

/** Variables whose value no message repeats. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([...SECRET_URLS, ...SECRET_VALUES]);
