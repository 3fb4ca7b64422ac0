/** A text that asks for something: a criterion, or null for the specification itself. */
export type Asking = { criterion: string | null; text: string };

/** A part of a sentence: its words in lower case, with commas, slashes and colons between them, and as it is written. */
export type Clause = { criterion: string | null; words: readonly string[]; source: string };

/** Characters that a clause may extend on each side of the word. A longer one is not a plain order. */
const REACH = 240;
/** Matches read per text. An order comes early, and the work stays bounded. */
const MAX_PLACES = 40;

const END = /[.!?;\n\r\u2028\u2029()[\]{}"“”。！？；]/u;

/** Returns each clause that contains a match of the pattern, once. The pattern must be global and must not backtrack. */
export function clausesAround(askings: readonly Asking[], pattern: RegExp): readonly Clause[] {
  return askings.flatMap(({ criterion, text }) => {
    const clauses: Clause[] = [];
    let readTo = 0;
    let places = 0;
    for (const match of text.matchAll(pattern)) {
      if (match.index < readTo) continue;
      places += 1;
      if (places > MAX_PLACES) break;
      const start = startOf(text, match.index);
      const end = endOf(text, match.index + match[0].length);
      const source = text.slice(start, end).trim();
      const all = source.toLowerCase().match(/[\p{L}\p{N}\p{M}'’]+|[,/:]/gu) ?? [];
      clauses.push({ criterion, words: all, source });
      readTo = end;
    }
    return clauses;
  });
}

function startOf(text: string, index: number): number {
  let start = index;
  while (start > 0 && index - start < REACH && !END.test(text.charAt(start - 1))) start -= 1;
  return start;
}

function endOf(text: string, index: number): number {
  let end = index;
  while (end < text.length && end - index < REACH && !END.test(text.charAt(end))) end += 1;
  return end;
}

/** The words of a text that has one blank between them. */
export function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

export function skip(all: readonly string[], skipped: ReadonlySet<string>): readonly string[] {
  const start = all.findIndex((word) => !skipped.has(word));
  return start < 0 ? [] : all.slice(start);
}
