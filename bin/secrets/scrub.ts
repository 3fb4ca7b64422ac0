import { quotedSecrets, REDACTED } from "./quoted-secrets.ts";

/** Takes secrets out of a text. */
export type Scrub = (text: string) => string;

/** Parts of a query that name a secret. */
const QUERY_NAMES = "api[-_]?key|key|access[-_]?token|token|secret|password|auth";

/**
 * What is a secret by its form or its place, with what stays of it. Strangers choose much of what is logged: no form may begin with a
 * repetition, or look further than a bounded way for what it then misses, lest a long line takes the square of its length.
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
 * Replaces known secrets, in whatever case, and all that is a secret by its form, wherever they stand; a text of more than a million
 * characters as a whole.
 */
export function createScrub(known: readonly string[]): Scrub {
  const anyKnown = known.length === 0 ? null : new RegExp(known.map(escaped).join("|"), "gi");
  return (text) => {
    if (text.length > LONGEST) return `${REDACTED}\n`;
    const less = anyKnown === null ? text : text.replace(anyKnown, REDACTED);
    return FORMS.reduce((so, [form, kept]) => so.replace(form, kept), less);
  };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
