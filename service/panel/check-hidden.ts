import { isInvisibleAt } from "./check-invisible.ts";
import { quoteOf } from "./check-quote.ts";
import type { OutputCheck } from "./types.ts";

/** So much stands before the first one in its quotation, to show where it is. */
const CONTEXT_CHARACTERS = 40;

/** An output with characters that a reader does not see and a model reads; null where there are none. */
export function checkHidden(outputText: string): OutputCheck | null {
  let count = 0;
  let first = -1;
  for (let index = 0; index < outputText.length; index += 1) {
    const unit = outputText.charCodeAt(index);
    if (unit >= 0x20 && unit < 0x7f) continue;
    if (isInvisibleAt(outputText, index)) {
      count += 1;
      if (first < 0) first = index;
    }
    if (unit >= 0xd800 && unit <= 0xdbff && isPair(outputText, index)) index += 1;
  }
  if (first < 0) return null;
  const quote = quoteOf(
    outputText.slice(Math.max(0, first - CONTEXT_CHARACTERS), first + 2 * CONTEXT_CHARACTERS),
  );
  return {
    name: "hidden_characters",
    finding: `The output carries ${count} hidden character${count === 1 ? "" : "s"}, the first after ${first} others: “${quote}”.`,
    criterion: null,
  };
}

function isPair(text: string, index: number): boolean {
  return (text.codePointAt(index) ?? 0) > 0xffff;
}
