import { splitJsonArray } from "./criteria-json.ts";
import { splitLines } from "./criteria-lines.ts";
import { MAX_CRITERIA } from "./policy.ts";
import type { Criterion } from "./types.ts";

/**
 * Acceptance criteria as numbered items, in their order: the elements of a JSON array, the items of a list, lines, scenarios, or the
 * whole text as one item; the fence of a block of code around all of it is no part of it. Each is one line, so that nothing within one
 * can pass for another. Items beyond the thirtieth are joined to it, so nothing is dropped; none for null or a text without a visible
 * word.
 */
export function splitCriteria(acceptanceCriteria: string | null): readonly Criterion[] {
  if (acceptanceCriteria === null) return [];
  const given = unfenced(acceptanceCriteria);
  const texts = (splitJsonArray(given) ?? splitLines(given)).map(toOneLine).filter((text) => text !== "");
  return joinBeyond(texts, MAX_CRITERIA).map((text, index) => ({ id: `c${index + 1}`, text }));
}

/** The text without the fence of a block of code that it is as a whole. */
function unfenced(text: string): string {
  const plain = text.trim();
  const end = plain.indexOf("\n");
  if (end < 0 || !plain.startsWith("```") || plain.indexOf("```", 3) !== plain.length - 3) return text;
  return plain.slice(end + 1, -3);
}

function joinBeyond(texts: readonly string[], limit: number): readonly string[] {
  if (texts.length <= limit) return texts;
  return [...texts.slice(0, limit - 1), texts.slice(limit - 1).join("; ")];
}

function toOneLine(text: string): string {
  return text.replace(/[\n\v\f\r\u0085\u2028\u2029]+/g, " ").trim();
}
