/** Sixths of a token that a character counts as, by what it is. Tokenisers differ; each of these is on the high side of them. */
const SIXTHS = {
  /** Letters of words and single spaces: English has four or more to a token. */
  letter: 2,
  /** Signs and ends of lines: in code two or three often share one. */
  sign: 4,
  /** Some tokenisers take each digit by itself; what is no word, like base64, comes near to it as well. */
  digit: 6,
  /** Latin letters with accents, Greek, Cyrillic, Hebrew, Arabic. */
  twoBytes: 6,
  /** Chinese, Japanese and Korean above all. */
  threeBytes: 9,
  /** Half of a pair: emoji and rare scripts, of which a whole one counts as four tokens. */
  halfPair: 12,
} as const;

/** Longer runs of letters and digits are no words of a language. */
const LONGEST_WORD = 24;

/**
 * How many tokens a text takes at most, give or take: an estimate on the high side for every common tokeniser, made in one pass. Only
 * a text made of rare short words takes more; then the model's server refuses it, which is told as such.
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
