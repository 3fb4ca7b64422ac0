import { isInvisibleAt } from "./check-invisible.ts";
import { MAX_QUOTE_CHARACTERS } from "./policy.ts";

/**
 * The start of a text as one line of at most the given number of UTF-16 units, an ellipsis included where something was left out;
 * white space becomes single spaces, and characters that show nothing stand as their code points. Reads no more than it shows.
 */
export function quoteOf(text: string, limit: number = MAX_QUOTE_CHARACTERS): string {
  let quote = "";
  let spaced = true;
  let index = 0;
  while (index < text.length) {
    const point = text.codePointAt(index) ?? 0;
    const shown = showAt(text, index, point);
    const isSpace = shown === " ";
    if (!(isSpace && spaced)) {
      if (quote.length + shown.length > limit) return `${trimTo(quote, limit - 1)}…`;
      quote += shown;
    }
    spaced = isSpace;
    index += point > 0xffff ? 2 : 1;
    // White space alone may be endless.
    if (index > limit * READ_AHEAD) return `${trimTo(quote, limit - 1)}…`;
  }
  return quote.trimEnd();
}

const READ_AHEAD = 10;

function showAt(text: string, index: number, point: number): string {
  if (isInvisibleAt(text, index)) return `⟨U+${point.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  const character = String.fromCodePoint(point);
  // The next line (U+0085) is white space in Unicode, though not to JavaScript.
  return /[\s\u0085]/.test(character) ? " " : character;
}

function trimTo(quote: string, limit: number): string {
  if (quote.length <= limit) return quote.trimEnd();
  const cut = quote.slice(0, limit);
  // A pair that was cut in two leaves its first half.
  return (cut.isWellFormed() ? cut : cut.slice(0, -1)).trimEnd();
}
