/**
 * Code points that are invisible in every position. Tabs and line breaks count as visible; joiners and selectors depend on their position.
 */
const INVISIBLE: readonly Range[] = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x84],
  [0x86, 0x9f],
  // Combining grapheme joiner, Hangul and Khmer fillers.
  [0x034f, 0x034f],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200b],
  // Embeddings and overrides of direction.
  [0x202a, 0x202e],
  // Word joiner, invisible operators, isolates, deprecated format characters.
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  // Halves of surrogate pairs, then private use.
  [0xd800, 0xf8ff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xfffe, 0xffff],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  // Planes 15 and 16: private use.
  [0xf0000, 0x10ffff],
];

const PICTOGRAPHS: readonly Range[] = [
  [0x23, 0x23],
  [0x2a, 0x2a],
  [0x30, 0x39],
  [0xa9, 0xa9],
  [0xae, 0xae],
  [0x203c, 0x203c],
  [0x2049, 0x2049],
  [0x2122, 0x2122],
  [0x2139, 0x2139],
  [0x2190, 0x2bff],
  [0x3030, 0x303d],
  [0x3297, 0x3299],
  [0x1f000, 0x1faff],
];

const IDEOGRAPHS: readonly Range[] = [
  [0x3400, 0x9fff],
  [0xf900, 0xfaff],
  [0x20000, 0x3ffff],
];

const [SOFT_HYPHEN, JOINER, NON_JOINER, MARK_LTR, MARK_RTL, BYTE_ORDER] = [
  0xad, 0x200d, 0x200c, 0x200e, 0x200f, 0xfeff,
];
const [BLACK_FLAG, FIRST_TAG, LAST_TAG] = [0x1f3f4, 0xe0000, 0xe007f];
/** Longest tag sequence of a flag: seven letters and an end tag. */
const FLAG_TAGS = 8;

/**
 * True if the character at an index is invisible and has no function there: zero-width and control characters, overrides of direction,
 * tags, private use, fillers, unpaired surrogates. Joiners in emoji and in scripts that need them, one variation selector after its base,
 * soft hyphens between letters, direction marks beside right-to-left letters and a leading byte order mark have a function. The work is
 * bounded for every text.
 */
export function isInvisibleAt(text: string, index: number): boolean {
  const point = text.codePointAt(index);
  if (point === undefined || (point >= 0x20 && point < 0x7f)) return false;
  if (within(point, INVISIBLE)) return true;
  if (point < SOFT_HYPHEN) return false;
  return isMisplaced(text, index, point);
}

function isMisplaced(text: string, index: number, point: number): boolean {
  const before = pointBefore(text, index);
  switch (point) {
    case SOFT_HYPHEN:
      return !(isLetter(before) && isLetter(text.codePointAt(index + 1)));
    case NON_JOINER:
      return !within(before, JOINING);
    case JOINER:
      return !within(before, JOINING) && !joinsPictographs(text, index);
    case MARK_LTR:
    case MARK_RTL:
      return !within(before, RIGHT_TO_LEFT) && !within(text.codePointAt(index + 1), RIGHT_TO_LEFT);
    case BYTE_ORDER:
      return index > 0;
  }
  if (isTag(point)) return !isTagOfFlag(text, index);
  // One selector varies its base. A row of selectors carries data.
  if (point >= 0xfe00 && point <= 0xfe0f) return before === undefined || isSelector(before) || before <= 0x20;
  if (point >= 0xe0100 && point <= 0xe01ef) return !within(before, IDEOGRAPHS);
  return false;
}

function joinsPictographs(text: string, index: number): boolean {
  const before = pointBefore(text, index);
  const varied = before === 0xfe0f ? pointBefore(text, index - 1) : before;
  return within(varied, PICTOGRAPHS) && within(text.codePointAt(index + 1), PICTOGRAPHS);
}

/** Tags after a black flag name a subdivision. */
function isTagOfFlag(text: string, index: number): boolean {
  for (let back = 2; back <= 2 * FLAG_TAGS; back += 2) {
    const before = text.codePointAt(index - back);
    if (before === BLACK_FLAG) return true;
    if (before === undefined || !isTag(before)) return false;
  }
  return false;
}

/** True for a tag: an invisible letter or sign. */
export function isTag(point: number): boolean {
  return point >= FIRST_TAG && point <= LAST_TAG;
}

/** True for a variation selector. */
export function isSelector(point: number): boolean {
  return (point >= 0xfe00 && point <= 0xfe0f) || (point >= 0xe0100 && point <= 0xe01ef);
}

function isLetter(point: number | undefined): boolean {
  return point !== undefined && /^\p{L}$/u.test(String.fromCodePoint(point));
}

/** First and last code point. */
export type Range = readonly [first: number, last: number];

/** Scripts with joiners: Arabic to Sinhala, Tibetan, Myanmar, Khmer, Mongolian, Tai Tham to Balinese, Meetei and related ones. */
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

/** Right-to-left letters: Hebrew, Arabic and related scripts. */
const RIGHT_TO_LEFT: readonly Range[] = [
  [0x0590, 0x08ff],
  [0xfb1d, 0xfdff],
  [0xfe70, 0xfefe],
  [0x10800, 0x10fff],
  [0x1e800, 0x1efff],
];

/** Scripts without spaces between words: Thai, Lao, kana, ideographs and their punctuation, Hangul. */
export const UNSPACED: readonly Range[] = [
  [0x0e00, 0x0eff],
  [0x3000, 0x9fff],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xff00, 0xffef],
  [0x20000, 0x3ffff],
];

/** True if a code point is in one of the ascending ranges. */
export function within(point: number | undefined, ranges: readonly Range[]): boolean {
  if (point === undefined) return false;
  for (const [first, last] of ranges) {
    if (point < first) return false;
    if (point <= last) return true;
  }
  return false;
}

/** Code point before the index; undefined at the start. */
export function pointBefore(text: string, index: number): number | undefined {
  if (index <= 0) return undefined;
  const unit = text.charCodeAt(index - 1);
  const isLow = unit >= 0xdc00 && unit <= 0xdfff;
  return text.codePointAt(isLow && index > 1 ? index - 2 : index - 1);
}

/** True for a letter, mark or digit of any script. */
export function isOfWord(point: number | undefined): boolean {
  return point !== undefined && /^[\p{L}\p{M}\p{N}]$/u.test(String.fromCodePoint(point));
}

/** True if a text has a right-to-left letter. */
export function hasRightToLeft(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) < 0x590) continue;
    if (within(text.codePointAt(index), RIGHT_TO_LEFT)) return true;
  }
  return false;
}

/** A character that shows nothing to a reader. */
type InvisibleCharacter = {
  /** As U+200B. */
  readonly name: string;
  /** Number of characters before it. */
  readonly after: number;
};

/** Returns the first invisible character of a text; null without one. */
export function findInvisible(text: string): InvisibleCharacter | null {
  let after = 0;
  for (let index = 0; index < text.length; ) {
    const point = text.codePointAt(index) ?? 0;
    if (isInvisibleAt(text, index)) return { name: nameOf(point), after };
    index += point > 0xffff ? 2 : 1;
    after += 1;
  }
  return null;
}

function nameOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}
