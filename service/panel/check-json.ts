import { type Asking, type Clause, clausesAround } from "./asked-clauses.ts";
import { quoteOf } from "./check-quote.ts";
import type { OutputCheck } from "./types.ts";

/** What JSON may have to be. */
type Shape = "array" | "object" | "any";

const ORDERS = words(
  "return respond reply answer output produce deliver provide emit submit give print generate",
);
const SUBJECTS = words("output response answer result reply deliverable submission format");
const BEFORE_SUBJECT = words("the your this whole entire final complete");
const BETWEEN = words(
  "a an the only valid raw strict strictly pure single one well formed plain parseable parsable minified compact in as with your results " +
    "result data it them everything output response answer just formatted encoded back must should shall has have needs need to is " +
    "be parse parses returned given delivered written format please :",
);
const BEFORE_ORDER = words("please then you must should always only");
/** What makes JSON something else than the whole of the output, or leaves a choice. */
const ELSEWHERE = words(
  "not no never without avoid don't don’t instead than neither if when unless either or csv xml yaml html markdown",
);
const AFTER = words("array object list only format document with of containing that where matching");

/** An output that is no JSON where it was plainly asked for as the whole; null where it is, or was not. Code is not its own answer. */
export function checkJson(
  outputText: string,
  askings: readonly Asking[],
  domain: string,
): OutputCheck | null {
  for (const clause of clausesAround(askings, /\bjson\b/gi)) {
    const shape = askedShape(clause, domain);
    if (shape === null) continue;
    const fault = faultOf(outputText, shape);
    if (fault === null) continue;
    return {
      name: "not_json",
      finding: `“${quoteOf(clause.source, 80)}” asks for JSON, and the output ${fault}: “${quoteOf(outputText, 100)}”.`,
      criterion: clause.criterion,
    };
  }
  return null;
}

function askedShape({ words: all, criterion }: Clause, domain: string): Shape | null {
  const at = all.indexOf("json");
  // Behind a colon stands an example, or the data.
  const order = all[at + 1] === ":" ? all.slice(0, at + 1) : all;
  const before = skip(all.slice(0, at), BEFORE_ORDER);
  const next = order[at + 1];
  if (order.some((word) => ELSEWHERE.has(word)) || !(next === undefined || AFTER.has(next))) return null;
  const named = skip(before, BEFORE_SUBJECT);
  const bySubject =
    SUBJECTS.has(named[0] ?? "") && named.length > 1 && named.slice(1).every((word) => BETWEEN.has(word));
  // A program that is asked for may be told to return JSON: only what speaks of the output itself is about it.
  const byOrder = ORDERS.has(before[0] ?? "") && before.slice(1).every((word) => BETWEEN.has(word));
  const byCriterion = criterion !== null && before.every((word) => BETWEEN.has(word));
  if (!(bySubject || (domain !== "code" && (byOrder || byCriterion)))) return null;
  if (next === "array" || next === "list") return "array";
  return next === "object" ? "object" : "any";
}

function faultOf(outputText: string, shape: Shape): string | null {
  try {
    const value: unknown = JSON.parse(unfenced(outputText));
    if (shape === "array" && !Array.isArray(value)) return "is JSON, but no array";
    if (shape === "object" && (typeof value !== "object" || value === null || Array.isArray(value))) {
      return "is JSON, but no object";
    }
    return null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return "does not parse as JSON";
    throw error;
  }
}

/** The text without a byte order mark, and without a code block's fence where it is one block and nothing else. */
function unfenced(text: string): string {
  const plain = text.replace(/^\ufeff/, "").trim();
  if (!plain.startsWith("```") || !plain.endsWith("```")) return plain;
  const firstLineEnd = plain.indexOf("\n");
  return firstLineEnd < 0 ? plain : plain.slice(firstLineEnd + 1, -3);
}

function skip(all: readonly string[], skipped: ReadonlySet<string>): readonly string[] {
  const start = all.findIndex((word) => !skipped.has(word));
  return start < 0 ? [] : all.slice(start);
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
