/** First and last code point. */
export type Range = readonly [first: number, last: number];

/** Scripts whose letters take joiners: Arabic to Sinhala, Tibetan, Myanmar, Khmer, Mongolian, Tai Tham to Balinese, Meetei and kin. */
export const JOINING: readonly Range[] = [
  [0x0600, 0x0dff],
  [0x0f00, 0x109f],
  [0x1780, 0x18af],
  [0x1a20, 0x1bff],
  [0xa840, 0xabff],
  [0xfb50, 0xfdff],
  [0xfe70, 0xfefe],
  [0x10a00, 0x11fff],
  [0x1e900, 0x1e95f],
];

/** Letters that are written from right to left: Hebrew, Arabic and their kin. */
export const RIGHT_TO_LEFT: readonly Range[] = [
  [0x0590, 0x08ff],
  [0xfb1d, 0xfdff],
  [0xfe70, 0xfefe],
  [0x10800, 0x10fff],
  [0x1e800, 0x1efff],
];

/** Scripts without blanks between words: Thai, Lao, kana, ideographs and their punctuation, Hangul. */
export const UNSPACED: readonly Range[] = [
  [0x0e00, 0x0eff],
  [0x3000, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff00, 0xffef],
  [0x20000, 0x3ffff],
];

/** Whether a code point is in one of ascending ranges; false for none. */
export function within(point: number | undefined, ranges: readonly Range[]): boolean {
  if (point === undefined) return false;
  for (const [first, last] of ranges) {
    if (point < first) return false;
    if (point <= last) return true;
  }
  return false;
}

/** The code point that ends before the index; undefined at the start. */
export function pointBefore(text: string, index: number): number | undefined {
  if (index <= 0) return undefined;
  const unit = text.charCodeAt(index - 1);
  const isLow = unit >= 0xdc00 && unit <= 0xdfff;
  return text.codePointAt(isLow && index > 1 ? index - 2 : index - 1);
}

/** Whether a code point is a letter, a mark or a digit of any script; false for none. */
export function isOfWord(point: number | undefined): boolean {
  return point !== undefined && /^[\p{L}\p{M}\p{N}]$/u.test(String.fromCodePoint(point));
}

/** Whether a text has a letter that is written from right to left. */
export function hasRightToLeft(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) < 0x590) continue;
    if (within(text.codePointAt(index), RIGHT_TO_LEFT)) return true;
  }
  return false;
}
