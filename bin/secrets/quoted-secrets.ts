export const REDACTED = "[Redacted]";

/** Headers whose value is a secret whoever sent it. */
const HEADERS = [
  "x-api-key",
  "authorization",
  "cookie",
  "payment-signature",
  "x-payment",
  "sign-in-with-x",
  "x-payment-claim",
].join("|");

/** Members whose value is a secret; what ends in such a name is one as well. */
const MEMBERS = [
  "apiKey",
  "api_key",
  "privateKey",
  "private_key",
  "password",
  "passphrase",
  "mnemonic",
  "secret",
  "claim",
  "manage_token",
  "manageToken",
].join("|");

/** Between a name and its value, also as JSON writes line ends within a string. */
const SPACE = "(?:\\s|\\\\{1,15}[nrt]){0,40}";
const CLOSING = "\\\\{0,15}[\"'`]";
/** JSON strings within JSON strings, each of which doubles the backslashes. */
const DEEPEST = 4;

/** A quotation mark that opens, and everything before the one that closes, as parts of an expression. */
type Quotation = { readonly open: string; readonly inside: string };

/**
 * Finds values behind names of secrets, quoted as JSON does, as JSON within JSON strings, and as Node shows objects; of a list, all
 * its members as one. No value reaches beyond the JSON string that it stands in. With it what replaces it: everything up to the first
 * opening mark stays.
 */
export function quotedSecrets(): readonly [RegExp, string] {
  const quotations = [
    ...Array.from({ length: DEEPEST + 1 }, (_, depth) => doubleQuoted(depth)),
    ...["'", "`"].map(nodeQuoted),
  ];
  const values = quotations.flatMap(({ open, inside }) => [
    `(${open})${inside}`,
    `(\\[${SPACE}${open})${inside}(?:${open}${SPACE},${SPACE}${open}${inside})*`,
  ]);
  const named = `(?:${HEADERS}|${MEMBERS})(?:${CLOSING})?${SPACE}[:=]`;
  // Headers as Node received them: one list of names and values by turns.
  const listed = `(?:${HEADERS})${CLOSING}${SPACE},`;
  const head = `((?:${named}|${listed})${SPACE})`;
  // As Node shows what is no string.
  const bare = "(?:0x)?[0-9a-f]{32,}";
  const kept = Array.from({ length: values.length + 1 }, (_, i) => `$${i + 1}`).join("");
  return [new RegExp(`${head}(?:${values.join("|")}|${bare})`, "gi"), `${kept}${REDACTED}`];
}

/**
 * In a JSON string so many strings deep, where as many backslashes as a pair are one of the value. One less before a mark makes it a
 * mark of the value; still fewer end the value, or a string around it.
 */
function doubleQuoted(depth: number): Quotation {
  const pair = 2 ** (depth + 1);
  const ofValue = ['[^"\\\\]+', `\\\\{${pair}}`, `\\\\{${pair - 1}}"`, `\\\\{1,${pair - 1}}(?=[^"\\\\])`];
  return { open: `\\\\{${pair / 2 - 1}}"`, inside: `(?:${ofValue.join("|")})*` };
}

/** Marks that JSON leaves as they are; a double one without a backslash ends the string around. */
function nodeQuoted(mark: string): Quotation {
  return { open: mark, inside: `(?:[^${mark}"\\\\]|\\\\{1,15}${mark}|\\\\[^])*` };
}
