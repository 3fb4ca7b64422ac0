import { isInvisibleAt, isSelector } from "./check-invisible.ts";
import { isOfWord, JOINING, pointBefore, type Range, UNSPACED, within } from "./code-points.ts";

/**
 * What a character is where it stands: `seen` has a form, or works on what has; `alone` is ordinary as long as no more of them stand
 * with it; `hidden` has no use that is known.
 */
export type HiddenKind = "seen" | "alone" | "hidden";

/** Vertical tabs and form feeds of word processors and old files. */
const LAYOUT: readonly Range[] = [[0x0b, 0x0c]];
/** Quotation marks and dashes of Windows-1252 that were read as Latin 1. */
const MISREAD: readonly Range[] = [[0x91, 0x97]];
/** Word joiner, then invisible operators of formulas. */
const OPERATORS: readonly Range[] = [[0x2060, 0x2064]];
/** Around names, numbers and paths that are pasted; those from right to left, which turn other letters round, are not among them. */
const ISOLATING: readonly Range[] = [
  [0x202a, 0x202a],
  [0x202c, 0x202c],
  [0x2066, 0x2066],
  [0x2068, 0x2069],
];
/** Marks, embeddings and isolates of any direction; overrides are not among them. */
const DIRECTING: readonly Range[] = [
  [0x200e, 0x200f],
  [0x202a, 0x202c],
  [0x2066, 0x2069],
];
/** Icons of fonts. */
const PRIVATE_USE: readonly Range[] = [
  [0xe000, 0xf8ff],
  [0xf0000, 0xffffd],
  [0x100000, 0x10fffd],
];
/** Old syllables may lack a part, which a filler of theirs stands for. */
const JAMO: readonly Range[] = [[0x1100, 0x11ff]];
const [JAMO_INITIAL, JAMO_VOWEL] = [0x115f, 0x1160];
const [ESCAPE, MONGOLIAN_BREAK, SPACE, NON_JOINER, BYTE_ORDER] = [0x1b, 0x180e, 0x200b, 0x200c, 0xfeff];

/** Whether a code point sets the direction of what stands near it, as they meet in nested texts of two directions. */
export function isDirecting(point: number): boolean {
  return within(point, DIRECTING);
}

/** The kind of the character at an index of a text with or without letters from right to left. Work is bounded whatever the text. */
export function hiddenKindAt(
  { text, isRightToLeft }: { readonly text: string; readonly isRightToLeft: boolean },
  index: number,
): HiddenKind {
  const point = text.codePointAt(index);
  if (point === undefined || !isInvisibleAt(text, index)) return "seen";
  if (isSelector(point)) return "hidden";
  const before = pointBefore(text, index);
  const after = text.codePointAt(index + (point > 0xffff ? 2 : 1));
  if (isLayout(point, after)) return "seen";
  if (within(point, ISOLATING) || within(point, OPERATORS) || within(point, PRIVATE_USE)) return "alone";
  if (isDirecting(point)) return isRightToLeft ? "alone" : "hidden";
  return hasUseBetween(point, { text, index, before, after }) ? "alone" : "hidden";
}

/** Controls of layout, of terminals' colours and of text that was read in another encoding. */
function isLayout(point: number, after: number | undefined): boolean {
  if (within(point, LAYOUT) || within(point, MISREAD)) return true;
  return point === ESCAPE && after !== undefined && "[](".includes(String.fromCodePoint(after));
}

type Place = {
  readonly text: string;
  readonly index: number;
  readonly before: number | undefined;
  readonly after: number | undefined;
};

/** Breaks of words in scripts without blanks and at the edges of words, fillers of their script, breaks of ligatures, joined files. */
function hasUseBetween(point: number, { text, index, before, after }: Place): boolean {
  const touches = (ranges: readonly Range[]) => within(before, ranges) || within(after, ranges);
  if (touches(JOINING)) return true;
  switch (point) {
    case SPACE:
    case MONGOLIAN_BREAK:
      return touches(UNSPACED) || !(isOfWord(before) && isOfWord(after));
    case NON_JOINER:
      return isTwoLetters(text, index - 2) && isTwoLetters(text, index + 1);
    case BYTE_ORDER:
      return before === 0x0a;
    case JAMO_INITIAL:
    case JAMO_VOWEL:
      return touches(JAMO);
  }
  return false;
}

function isTwoLetters(text: string, index: number): boolean {
  return /^\p{L}{2}$/u.test(text.slice(Math.max(0, index), index + 2));
}
