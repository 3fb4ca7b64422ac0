/** Sixths of a token per character. Each value is above common tokenisers. */
const SIXTHS = {
  /** Letters and single spaces: English has at least four per token. */
  letter: 2,
  /** Signs and line ends: in code two or three often share a token. */
  sign: 4,
  /** Some tokenisers split every digit, and data such as base64 is similar. */
  digit: 6,
  /** Latin letters with accents, Greek, Cyrillic, Hebrew, Arabic. */
  twoBytes: 6,
  /** Chinese, Japanese and Korean above all. */
  threeBytes: 9,
  /** Half of a surrogate pair: an emoji or a rare script, four tokens in all. */
  halfPair: 12,
} as const;

/** Longer runs of letters and digits are data. */
const LONGEST_WORD = 24;

/**
 * Estimates the tokens of a text in one pass, above every common tokeniser. Only a text of rare short words takes more; then the model's
 * server refuses it and reports that.
 */
export function estimateTokens(text: string): number {
  let sixths = 0;
  let run = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isAlphanumeric = isLetter(code) || isDigit(code);
    run = isAlphanumeric ? run + 1 : 0;
    sixths += run > LONGEST_WORD ? SIXTHS.digit : weightOf(code);
  }
  return Math.ceil(sixths / 6);
}

function weightOf(code: number): number {
  if (isLetter(code) || code === 0x20) return SIXTHS.letter;
  if (isDigit(code)) return SIXTHS.digit;
  if (code < 0x80) return SIXTHS.sign;
  if (code < 0x800) return SIXTHS.twoBytes;
  return code >= 0xd800 && code <= 0xdfff ? SIXTHS.halfPair : SIXTHS.threeBytes;
}

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
