import { JOINING, pointBefore, type Range, RIGHT_TO_LEFT, within } from "./code-points.ts";

/** Code points that show nothing wherever they stand. Tabs and line breaks are seen; joiners and selectors depend on their place. */
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
/** The longest tags of a flag name a subdivision in seven letters and end. */
const FLAG_TAGS = 8;

/**
 * Whether the character at an index shows nothing to a reader and belongs to nothing that does: zero-width and control characters,
 * overrides of direction, tags, private use, fillers, halves of surrogate pairs. Joiners within emoji and within scripts that need
 * them, one variation selector after what it varies, soft hyphens between letters, direction marks beside letters from right to
 * left and a byte order mark at the start are ordinary. Work is bounded whatever the text.
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
  // One selector has something to vary; rows of them carry bytes.
  if (point >= 0xfe00 && point <= 0xfe0f) return before === undefined || isSelector(before) || before <= 0x20;
  if (point >= 0xe0100 && point <= 0xe01ef) return !within(before, IDEOGRAPHS);
  return false;
}

function joinsPictographs(text: string, index: number): boolean {
  const before = pointBefore(text, index);
  const varied = before === 0xfe0f ? pointBefore(text, index - 1) : before;
  return within(varied, PICTOGRAPHS) && within(text.codePointAt(index + 1), PICTOGRAPHS);
}

/** Tags spell a subdivision after a black flag. */
function isTagOfFlag(text: string, index: number): boolean {
  for (let back = 2; back <= 2 * FLAG_TAGS; back += 2) {
    const before = text.codePointAt(index - back);
    if (before === BLACK_FLAG) return true;
    if (before === undefined || !isTag(before)) return false;
  }
  return false;
}

/** Whether a code point is a tag: a letter or sign in a form that nobody sees. */
export function isTag(point: number): boolean {
  return point >= FIRST_TAG && point <= LAST_TAG;
}

/** Whether a code point varies the character before it. */
export function isSelector(point: number): boolean {
  return (point >= 0xfe00 && point <= 0xfe0f) || (point >= 0xe0100 && point <= 0xe01ef);
}

function isLetter(point: number | undefined): boolean {
  return point !== undefined && /^\p{L}$/u.test(String.fromCodePoint(point));
}
