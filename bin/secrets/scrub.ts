import { StringDecoder } from "node:string_decoder";
import { limitLines } from "../limit-lines.ts";

/** Takes secrets out of a text. */
export type Scrub = (text: string) => string;

const REDACTED = "[Redacted]";

/** Headers whose value is always a secret. */
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
 * its members as one. No value reaches beyond the JSON string that contains it. With it what replaces it: everything up to the first
 * opening mark stays.
 */
function quotedSecrets(): readonly [RegExp, string] {
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
  const groups = Array.from({ length: values.length + 1 }, (_, i) => `$${i + 1}`).join("");
  return [new RegExp(`${head}(?:${values.join("|")}|${bare})`, "gi"), `${groups}${REDACTED}`];
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

/** Parts of a query that name a secret. */
const QUERY_NAMES = "api[-_]?key|key|access[-_]?token|token|secret|password|auth";

/**
 * Forms and places of secrets, with the part that stays in the log. Third parties choose much of the logged text. So no form begins
 * with a repetition or searches without a bound: a long line must not take time by the square of its length.
 */
const FORMS: readonly (readonly [RegExp, string])[] = [
  quotedSecrets(),
  // Headers as text, as errors of HTTP clients repeat them.
  [
    /((?:x-api-key|payment-signature|x-payment|sign-in-with-x|x-payment-claim)\s{0,8}[:=]\s{0,8})[^\s"',;\\]+/gi,
    `$1${REDACTED}`,
  ],
  [/(cookie\s{0,8}[:=]\s{0,8})[^\s"'\\][^\r\n"'\\]*/gi, `$1${REDACTED}`],
  [/\b(Bearer)(?:\s{1,8}|%20)[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  // "basic" is a word as well: base64 has capitals, digits or a padding.
  [/\b([Bb]asic|BASIC)(?:\s{1,8}|%20)(?=[a-z/+_-]{0,80}[A-Z0-9=])[A-Za-z0-9._~+/=-]{8,}/g, `$1 ${REDACTED}`],
  // Name and password in a URL; the last @ before the path ends them.
  [/(:\/\/)[^\s/?#"'\\]*@/g, `$1${REDACTED}@`],
  [new RegExp(`([?&](?:${QUERY_NAMES})=)[^&\\s"'\\\\#]+`, "gi"), `$1${REDACTED}`],
  // Providers of nodes carry their key in the path, behind a version, or without one as a long segment of letters and digits.
  [/(:\/\/[^\s/"'\\]+\/v\d\/)[A-Za-z0-9_-]{16,}/g, `$1${REDACTED}`],
  [
    /(:\/\/[^\s/"'\\]+(?:\/[^\s/"'\\]{1,23}){0,3}\/)(?!0x|Qm|baf)(?=[A-Za-z]{0,80}\d)[A-Za-z0-9]{24,}(?![A-Za-z0-9_-])/g,
    `$1${REDACTED}`,
  ],
  // Our own: API keys, secrets of webhooks, tokens that manage a subscription; as they are, and encoded for a URL.
  [/(ahs(?:_|%5F))(?:[A-Za-z0-9_-]|%5F|%2D){40,}/gi, `$1${REDACTED}`],
  [/(whsec(?:_|%5F))(?:[A-Za-z0-9+/=]|%2B|%2F|%3D){16,}/gi, `$1${REDACTED}`],
  [/(amt(?:_|%5F))(?:[A-Za-z0-9_-]|%5F|%2D){20,}/gi, `$1${REDACTED}`],
];

/** Longer ones than any process writes could take more stack than an expression has. */
const LONGEST = 1_000_000;

/**
 * Replaces known secrets, in upper or lower case, and all secrets by their form, at any place; a text of more than a million
 * characters as a whole.
 */
export function createScrub(known: readonly string[]): Scrub {
  const anyKnown = known.length === 0 ? null : new RegExp(known.map(escaped).join("|"), "gi");
  return (text) => {
    if (text.length > LONGEST) return `${REDACTED}\n`;
    const less = anyKnown === null ? text : text.replace(anyKnown, REDACTED);
    return FORMS.reduce((so, [form, replacement]) => so.replace(form, replacement), less);
  };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/**
 * Has whatever this process writes to standard output or error from now on scrubbed, text or bytes, by whichever library: Ponder makes
 * its own logger, which takes no destination, and writes to a replaced output instead of the file descriptor. Lines go out whole, so
 * that none hides a secret in two pieces, and their number is limited. The function returned writes what has no line end yet. For a
 * process that prints no secret on purpose.
 */
export function scrubOutput(scrub: Scrub, outputs: readonly NodeJS.WriteStream[]): () => void {
  const endings = outputs.map((output) => {
    const write = output.write.bind(output) as (text: string, done?: unknown) => boolean;
    const lines = wholeLines();
    const limited = limitLines((line) => write(scrub(line)));
    // One implementation for the two signatures of write.
    output.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, encodingOf(rest[0])) : chunk;
      limited(lines.take(bytes));
      return write("", rest.find(isCallback));
    }) as typeof output.write;
    return () => write(scrub(lines.rest()));
  });
  return () => {
    for (const end of endings) end();
  };
}

/** Gives of what it takes the lines that are whole, and keeps the rest. */
function wholeLines() {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return {
    take(bytes: Uint8Array): string {
      const text = rest + decoder.write(bytes);
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      return text.slice(0, end);
    },
    rest(): string {
      const text = rest + decoder.end();
      rest = "";
      return text;
    },
  };
}

function encodingOf(given: unknown): BufferEncoding {
  return typeof given === "string" && Buffer.isEncoding(given) ? given : "utf8";
}

function isCallback(given: unknown): boolean {
  return typeof given === "function";
}
