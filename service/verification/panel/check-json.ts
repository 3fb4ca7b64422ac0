import { type Asking, type Clause, clausesAround, skip, words } from "./asked-clauses.ts";
import { quoteOf } from "./quotes.ts";
import type { OutputCheck } from "./types.ts";

const ORDERS = words(
  "return respond reply answer output produce deliver provide emit submit give print generate",
);
const SUBJECTS = words("output response answer result reply deliverable submission format");
/** Words for the output itself, when the task is a program. */
const SUBJECTS_OF_CODE = words("output deliverable submission");
const BEFORE_SUBJECT = words("the your this whole entire final complete");
const BETWEEN = words(
  "a an the only valid raw strict strictly pure single one well formed plain parseable parsable minified compact in as with your results " +
    "result data it them everything output response answer just formatted encoded back must should shall has have needs need to is " +
    "be parse parses returned given delivered written format please :",
);
const BEFORE_ORDER = words("please then you must should always only");
/** Words that make JSON optional or only a part of the output. */
const ELSEWHERE = words(
  "not no never without avoid don't don’t instead than neither if when unless either or csv xml yaml html markdown",
);
const AFTER = words("array object list only format document with of containing that where matching");
/** If the task is a program, JSON may be the result of that program. */
const PROGRAM =
  /\b(?:endpoints?|apis?|routes?|handlers?|scripts?|functions?|programs?|programmes?|cli|parsers?|seriali[sz]ers?|webhooks?|middleware|controllers?|backend|microservices?|servers?|code|implement\w*)\b/i;
const BUILT =
  /\b(?:build|write|create|develop|make|design|add|fix)s?\b[^.\n]{0,60}\b(?:services?|tools?|class(?:es)?|methods?|librar(?:y|ies)|packages?|modules?|components?|apps?|applications?|bots?|workers?|agents?|prompts?|contracts?|workflows?|quer(?:y|ies)|commands?)\b/i;
/** Words for JSON lines, where each row is a value. */
const ROWS =
  /\b(?:per|each|every|one|single|own)[ -]lines?\b|\bline[ -](?:by[ -]line|delimited|separated)\b|\b(?:jsonl|ndjson)\b|\bnewline/i;
/** Words that forbid any text around the JSON. */
const ALONE = words("only raw strict strictly pure plain single just parse parses parseable parsable");
const MAX_BLOCKS = 20;
const NOTHING_ELSE =
  /\b(?:nothing else|no (?:other|extra|additional|prose|text|explanation|commentary|markdown)|without any)\b/i;

/** Finds an output that is not JSON although an order plainly asks for JSON alone; null otherwise. */
export function checkJson(
  outputText: string,
  askings: readonly Asking[],
  domain: string,
): OutputCheck | null {
  const clauses = clausesAround(askings, /\bjson\b/gi);
  if (clauses.length === 0 || askings.some(({ text }) => PROGRAM.test(text) || BUILT.test(text))) return null;
  const takesRows = askings.some(({ text }) => ROWS.test(text));
  const isStrict = askings.some(({ text }) => NOTHING_ELSE.test(text));
  for (const clause of clauses) {
    const shape = askedShape(clause, domain);
    if (shape === null) continue;
    if (takesRows && isJsonInRows(outputText)) continue;
    const isAlone = isStrict || clause.words.some((word) => ALONE.has(word));
    const fault = faultOf(outputText, shape, isAlone);
    if (fault === null) continue;
    return {
      name: "not_json",
      finding: `“${quoteOf(clause.source, 80)}” asks for JSON, and the output ${fault}: “${quoteOf(outputText, 100)}”.`,
      criterion: clause.criterion,
    };
  }
  return null;
}

/** Kind of JSON that an order asks for; null if it asks for none. */
function askedShape({ words: all, criterion }: Clause, domain: string): "array" | "object" | "any" | null {
  const at = all.indexOf("json");
  // An example or data follows the colon.
  const order = all[at + 1] === ":" ? all.slice(0, at + 1) : all;
  const before = skip(all.slice(0, at), BEFORE_ORDER);
  const next = order[at + 1];
  if (order.some((word) => ELSEWHERE.has(word)) || !(next === undefined || AFTER.has(next))) return null;
  const named = skip(before, BEFORE_SUBJECT);
  const subjects = domain === "code" ? SUBJECTS_OF_CODE : SUBJECTS;
  const bySubject =
    subjects.has(named[0] ?? "") && named.length > 1 && named.slice(1).every((word) => BETWEEN.has(word));
  // A program may be ordered to return JSON. Only words about the output itself count then.
  const byOrder = ORDERS.has(before[0] ?? "") && before.slice(1).every((word) => BETWEEN.has(word));
  const byCriterion = criterion !== null && before.every((word) => BETWEEN.has(word));
  if (!(bySubject || (domain !== "code" && (byOrder || byCriterion)))) return null;
  if (next === "array" || next === "list") return "array";
  return next === "object" ? "object" : "any";
}

/** Strict JSON allows no text around it. Other JSON may be inside a code block with text around it. */
function faultOf(outputText: string, shape: ReturnType<typeof askedShape>, isAlone: boolean): string | null {
  const plain = outputText.replace(/^\ufeff/, "").trim();
  const texts = [plain, ...(isAlone ? wholeBlock(plain) : blocksOf(plain))];
  const values = texts.flatMap(parse);
  if (values.length === 0) return "does not parse as JSON";
  if (shape === "array" && !values.some(Array.isArray)) return "is JSON, but no array";
  return shape === "object" && !values.some(isObject) ? "is JSON, but no object" : null;
}

function parse(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return [];
    throw error;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wholeBlock(plain: string): readonly string[] {
  const isBlock = plain.startsWith("```") && plain.endsWith("```");
  return isBlock ? [withoutName(plain.slice(3, -3))] : [];
}

/** Contents of code blocks. The limit bounds the work. */
function blocksOf(plain: string): readonly string[] {
  const parts = plain.split("```", 2 * MAX_BLOCKS);
  return parts.filter((_, index) => index % 2 === 1).map(withoutName);
}

function withoutName(block: string): string {
  return block.replace(/^[a-zA-Z0-9]{1,12}(?=\s|[[{])/, "");
}

function isJsonInRows(outputText: string): boolean {
  const [whole = outputText] = wholeBlock(outputText.trim());
  const rows = whole.split("\n").filter((row) => row.trim() !== "");
  return rows.every((row) => parse(row).length > 0);
}
