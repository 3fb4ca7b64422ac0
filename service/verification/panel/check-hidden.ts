import {
  hasRightToLeft,
  isInvisibleAt,
  isOfWord,
  isSelector,
  isTag,
  JOINING,
  pointBefore,
  type Range,
  UNSPACED,
  within,
} from "./invisible.ts";
import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

/** Characters quoted before the first hidden one. */
const CONTEXT_CHARACTERS = 40;
/** Two may meet by chance. A longer row carries data. */
const LONGEST_ROW = 2;
/** Nested isolates end and the next one starts. */
const LONGEST_DIRECTING_ROW = 4;
/** Rows that are one visible character apart: split words. Formulas have fewer factors. */
const LONGEST_CHAIN = 5;
/** Pasted text brings at most this many. */
const MOST_PASTED = 3;
/** Share of all characters. Pasted pages stay below it. */
const GREATEST_SHARE = 0.005;
/** Fewer reversed letters do not make a word. */
const MIN_TURNED = 3;

/** Longest list of such characters in source code. */
const LONGEST_CLASS = 12;
/** Delimiters around a character that source code names. */
const DELIMITERS = new Set("'\"`/[](){}<>|“”‘’«»„⟨⟩");

const OVERRIDES: readonly Range[] = [[0x202d, 0x202e]];
/** Characters that split a word without a visible gap. */
const ZERO_WIDTH: readonly Range[] = [
  [0x180e, 0x180e],
  [0x200b, 0x200d],
  [0x2060, 0x2064],
  [0xfeff, 0xfeff],
];

/**
 * Finds an output that hides text from its reader: tags, letters reversed by an override, rows of invisible characters, words split by
 * them, or more of them than pasted text brings. Null if each may have a use.
 */
export function checkHidden(outputText: string): OutputCheck | null {
  const rows = unseenRows(outputText).filter((row) => !isSubject(outputText, row));
  const hidden = rows.filter(({ hidden: count }) => count > 0);
  const count = hidden.reduce((sum, row) => sum + row.hidden, 0);
  const isMuch = count > MOST_PASTED && count > outputText.length * GREATEST_SHARE;
  const shown = isMuch ? hidden : rows.filter((row) => tells(outputText, row));
  const [first] = shown;
  if (first === undefined) return null;
  const start = Math.max(0, first.start - CONTEXT_CHARACTERS);
  const quote = quoteOf(outputText.slice(start, first.start + 2 * CONTEXT_CHARACTERS));
  const all = shown.reduce((sum, { points }) => sum + points.length, 0);
  return {
    name: "hidden_characters",
    finding: `The output carries ${all} hidden character${all === 1 ? "" : "s"}, the first after ${first.start} others: “${quote}”.`,
    criterion: null,
  };
}

/** A row of adjacent invisible characters without a certain use. */
type Row = {
  readonly start: number;
  end: number;
  readonly points: number[];
  /** Number of them without any use. */
  hidden: number;
  /** Number of rows up to this one that are one visible character apart. */
  readonly chain: number;
};

function unseenRows(text: string): readonly Row[] {
  const rows: Row[] = [];
  const context = { text, isRightToLeft: hasRightToLeft(text) };
  let gap = 0;
  let last: Row | undefined;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    const isAscii = unit >= 0x20 && unit < 0x7f;
    const kind = isAscii ? "seen" : hiddenKindAt(context, index);
    const point = isAscii ? unit : (text.codePointAt(index) ?? 0);
    if (kind === "seen") gap += 1;
    else {
      if (last === undefined || gap > 0) {
        const chain = within(point, ZERO_WIDTH) ? (gap === 1 ? (last?.chain ?? 0) : 0) + 1 : 0;
        last = { start: index, end: index, points: [], hidden: 0, chain };
        rows.push(last);
      }
      last.points.push(point);
      last.end = index + (point > 0xffff ? 2 : 1);
      if (kind === "hidden") last.hidden += 1;
      gap = 0;
    }
    if (point > 0xffff) index += 1;
  }
  return rows;
}

/** True for distinct characters between delimiters: source code names them. */
function isSubject(text: string, { start, end, points }: Row): boolean {
  if (points.length > LONGEST_CLASS || points.some(turnsOrTags)) return false;
  const isBetween = DELIMITERS.has(text.charAt(start - 1)) && DELIMITERS.has(text.charAt(end));
  return isBetween && new Set(points).size === points.length;
}

function turnsOrTags(point: number): boolean {
  return isTag(point) || within(point, OVERRIDES);
}

function tells(text: string, { start, end, points, hidden, chain }: Row): boolean {
  // The first selector of a row may belong to the character before it.
  const length = isSelector(points[0] ?? 0) ? points.length + 1 : points.length;
  const longest = hidden === 0 && points.every(isDirecting) ? LONGEST_DIRECTING_ROW : LONGEST_ROW;
  if (length > longest || chain > LONGEST_CHAIN || points.some(isTag)) return true;
  return points.some((point) => within(point, OVERRIDES)) && turnsLetters(text, start, end);
}

/** True if letters follow before the line or the override ends. */
function turnsLetters(text: string, start: number, end: number): boolean {
  let letters = 0;
  for (let at = end; at < text.length && at - start < CONTEXT_CHARACTERS; at += 1) {
    if (/[\n\r\u202a-\u202e]/.test(text.charAt(at))) break;
    if (isOfWord(text.codePointAt(at))) letters += 1;
  }
  return letters >= MIN_TURNED;
}

/**
 * Kind of a character in its position. `seen`: visible, or acts on visible text. `alone`: ordinary unless more follow it. `hidden`: without
 * a known use.
 */
type HiddenKind = "seen" | "alone" | "hidden";

/** Vertical tabs and form feeds of word processors and old files. */
const LAYOUT: readonly Range[] = [[0x0b, 0x0c]];
/** Quotation marks and dashes of Windows-1252 decoded as Latin-1. */
const MISREAD: readonly Range[] = [[0x91, 0x97]];
/** Word joiner, then invisible operators of formulas. */
const OPERATORS: readonly Range[] = [[0x2060, 0x2064]];
/** Left-to-right isolates around pasted names, numbers and paths. */
const ISOLATING: readonly Range[] = [
  [0x202a, 0x202a],
  [0x202c, 0x202c],
  [0x2066, 0x2066],
  [0x2068, 0x2069],
];
/** Marks, embeddings and isolates of any direction, without overrides. */
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
/** Old Hangul syllables use a filler for a missing part. */
const JAMO: readonly Range[] = [[0x1100, 0x11ff]];
const [JAMO_INITIAL, JAMO_VOWEL] = [0x115f, 0x1160];
const [ESCAPE, MONGOLIAN_BREAK, SPACE, NON_JOINER, BYTE_ORDER] = [0x1b, 0x180e, 0x200b, 0x200c, 0xfeff];

/** True for a code point that sets the direction of text near it. */
function isDirecting(point: number): boolean {
  return within(point, DIRECTING);
}

/** Returns the kind of the character at an index. The work is bounded for every text. */
function hiddenKindAt(
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

/** True for controls of layout, of terminal colours, and of misread encodings. */
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

/** True for word breaks in scripts without spaces and at word edges, fillers of their script, ligature breaks and joined files. */
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
