/** Takes secrets out of a text. */
export type Scrub = (text: string) => string;

const REDACTED = "[Redacted]";

/** Names of headers and members whose value is a secret whoever sent it. */
const NAMES = [
  "x-api-key",
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
  "payment-signature",
  "x-payment",
  "sign-in-with-x",
  "x-payment-claim",
  "apiKey",
  "api_key",
  "privateKey",
  "private_key",
  "password",
  "passphrase",
  "claim",
  "manage_token",
  "manageToken",
].join("|");

/** Parts of a query that name a secret. */
const QUERY_NAMES = "api[-_]?key|key|access[-_]?token|token|secret|password|auth";

/** What is a secret by its form or its place, with what stays of it. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  // Members and headers in JSON, or in JSON within a JSON string.
  [new RegExp(`(\\\\*"(?:${NAMES})\\\\*"\\s*:\\s*\\\\*")[^"\\\\]+`, "gi"), `$1${REDACTED}`],
  // Headers as text, as errors of HTTP clients repeat them.
  [
    /\b((?:x-api-key|payment-signature|sign-in-with-x|x-payment-claim)\s*[:=]\s*)[^\s"',;\\]+/gi,
    `$1${REDACTED}`,
  ],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/g, `$1 ${REDACTED}`],
  // Name and password in a URL; the last @ before the path ends them.
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'\\]*@/gi, `$1${REDACTED}@`],
  [new RegExp(`([?&](?:${QUERY_NAMES})=)[^&\\s"'\\\\#]+`, "gi"), `$1${REDACTED}`],
  // Providers of nodes carry their key in the path.
  [/(:\/\/[^\s/"'\\]+\/v\d\/)[A-Za-z0-9_-]{16,}/g, `$1${REDACTED}`],
  // Our own: API keys, secrets of webhooks, tokens that manage a subscription.
  [/\bahs_[A-Za-z0-9_-]{40,}/g, `ahs_${REDACTED}`],
  [/\bwhsec_[A-Za-z0-9+/=]{16,}/g, `whsec_${REDACTED}`],
  [/\bamt_[A-Za-z0-9_-]{20,}/g, `amt_${REDACTED}`],
];

/** Replaces known secrets, in whatever case, and all that is a secret by its form, wherever they stand. */
export function createScrub(known: readonly string[]): Scrub {
  const anyKnown = known.length === 0 ? null : new RegExp(known.map(escaped).join("|"), "gi");
  return (text) => {
    const less = anyKnown === null ? text : text.replace(anyKnown, REDACTED);
    return FORMS.reduce((so, [form, kept]) => so.replace(form, kept), less);
  };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
