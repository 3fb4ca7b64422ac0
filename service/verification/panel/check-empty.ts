import { isInvisibleAt } from "./check-invisible.ts";
import { quoteOf } from "./check-quote.ts";
import type { OutputCheck } from "./types.ts";

/** An output of white space and characters that show nothing; null where there is anything to read. */
export function checkEmpty(outputText: string): OutputCheck | null {
  for (let index = 0; index < outputText.length; index += 1) {
    if (!isBlankAt(outputText, index)) return null;
  }
  const length = outputText.length;
  const shown = length === 0 ? "" : `, which begin with “${quoteOf(outputText)}”`;
  return {
    name: "empty",
    finding: `The output shows nothing: it has ${length} characters of white space or without a form${shown}.`,
    criterion: null,
  };
}

/** Second halves of pairs are judged with their first. */
function isBlankAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (unit >= 0xdc00 && unit <= 0xdfff) return true;
  return (
    unit <= 0x20 ||
    isInvisibleAt(text, index) ||
    /\s|\u00ad|[\u200c-\u200f]|\u2800|[\ufe00-\ufe0f]/.test(text.charAt(index))
  );
}
