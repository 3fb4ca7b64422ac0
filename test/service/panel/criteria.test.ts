import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitCriteria } from "../../../service/panel/criteria.ts";
import { MAX_CRITERIA } from "../../../service/panel/policy.ts";

const textsOf = (given: string | null) => splitCriteria(given).map(({ text }) => text);

it.each<[name: string, given: string | null, texts: readonly string[]]>([
  ["null", null, []],
  ["an empty text", "", []],
  ["white space", " \n\t \r\n", []],
  ["one sentence", "Names three cities.", ["Names three cities."]],
  [
    "prose of two sentences",
    "Names three cities. Each has a river.",
    ["Names three cities. Each has a river."],
  ],
  [
    "wrapped prose",
    "Names three cities and\nthe river that each\nlies at.",
    ["Names three cities and the river that each lies at."],
  ],
  [
    "lines",
    "Names three cities\nEach has a river\r\nAt most 200 words",
    ["Names three cities", "Each has a river", "At most 200 words"],
  ],
  ["lines in lower case", "names three cities\nin english", ["names three cities", "in english"]],
  ["paragraphs", "Names three cities.\n\nEach has a river.", ["Names three cities.", "Each has a river."]],
  [
    "a numbered list",
    "1. Three cities\n2. A river each\n3. English",
    ["Three cities", "A river each", "English"],
  ],
  ["numbers with brackets", "1) Three cities\n2) A river each", ["Three cities", "A river each"]],
  ["numbers in brackets", "(1) Three cities\n(2) A river each", ["Three cities", "A river each"]],
  [
    "numbers that do not count",
    "1. Three cities\n12. July is the deadline",
    ["Three cities", "12. July is the deadline"],
  ],
  ["all numbered one", "1. Three cities\n1. A river each", ["Three cities", "A river each"]],
  ["right-aligned numbers", " 9. Three cities\n10. A river each", ["9. Three cities", "A river each"]],
  ["bullets", "- Three cities\n- A river each", ["Three cities", "A river each"]],
  ["other bullets", "• Three cities\n* A river each\n– English", ["Three cities", "A river each", "English"]],
  ["letters", "a) Three cities\nb) A river each", ["a) Three cities", "b) A river each"]],
  [
    "a line that is continued",
    "- Three cities\n  of France\n- A river each",
    ["Three cities of France", "A river each"],
  ],
  [
    "one continued without indentation",
    "1. Three cities\nof France\n2. A river each",
    ["Three cities of France", "A river each"],
  ],
  [
    "an item over two paragraphs",
    "- Three cities\n\n  of France\n- A river each",
    ["Three cities of France", "A river each"],
  ],
  [
    "a paragraph after the list",
    "- Three cities\n\nAll of it in English.",
    ["Three cities", "All of it in English."],
  ],
  [
    "items below an item",
    "- Cities:\n  - three\n  - of France\n- A river each",
    ["Cities: - three - of France", "A river each"],
  ],
  [
    "a line that leads in",
    "The output has:\n- three cities\n- a river each",
    ["The output has: three cities", "a river each"],
  ],
  [
    "headings",
    "# Content\n- Three cities\n## Form\n- English",
    ["# Content Three cities", "## Form English"],
  ],
  ["prose before a list", "Be exact and\nbrief.\n- Three cities", ["Be exact and brief.", "Three cities"]],
  ["nothing but a line that leads in", "Criteria:", ["Criteria:"]],
  ["a JSON array", '["Three cities", "A river\\neach", ""]', ["Three cities", "A river each"]],
  ["a JSON array of objects", '[{"id": 1, "text": "a, b"}, 7]', ['{"id": 1, "text": "a, b"}', "7"]],
  ["nested JSON", '[["a", "]"], "b\\"],"]', ['["a", "]"]', 'b"],']],
  ["an empty JSON array", "[]", []],
  ["a JSON object", '{\n  "cities": 3\n}', ['{   "cities": 3 }']],
  ["broken JSON", '["Three cities"', ['["Three cities"']],
  ["a minus that is no bullet", "-5 degrees at most", ["-5 degrees at most"]],
  ["line breaks of all kinds", "A\u2028B\u0085C\vD", ["A", "B", "C", "D"]],
])("splits %s", (_, given, texts) => {
  expect(textsOf(given)).toEqual(texts);
});

it("numbers the items from c1 on", () => {
  expect(splitCriteria("- Three cities\n- A river each")).toEqual([
    { id: "c1", text: "Three cities" },
    { id: "c2", text: "A river each" },
  ]);
});

describe("beyond the greatest number of items", () => {
  it("joins the rest into the last one", () => {
    const given = Array.from({ length: MAX_CRITERIA + 2 }, (_, index) => `- Item ${index + 1}`).join("\n");
    const items = splitCriteria(given);
    expect(items).toHaveLength(MAX_CRITERIA);
    expect(items.at(-1)).toEqual({ id: `c${MAX_CRITERIA}`, text: "Item 30; Item 31; Item 32" });
  });
});

const word = fc.constantFrom("Three", "cities", "naïve", "都市", "rivers", "42", "x=1", "—", "a:b", "No.");
const item = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => `Item ${words.join(" ")} ends.`);
const items = fc.array(item, { minLength: 1, maxLength: MAX_CRITERIA });
const styles: readonly ((texts: readonly string[]) => string)[] = [
  (texts) => texts.map((text, index) => `${index + 1}. ${text}`).join("\n"),
  (texts) => texts.map((text, index) => `  (${index + 1}) ${text}`).join("\r\n\r\n"),
  (texts) => texts.map((text) => `* ${text.replace(" ", "\n    ")}`).join("\n"),
  (texts) => texts.join("\n"),
  (texts) => JSON.stringify(texts),
  (texts) => JSON.stringify(texts, null, 2),
];

it("finds the items again in whatever way they are listed", () => {
  fc.assert(
    fc.property(items, fc.constantFrom(...styles), (texts, list) => {
      expect(textsOf(list(texts))).toEqual(texts);
    }),
    { numRuns: 2_000 },
  );
});

it("loses nothing that the client wrote but marks of items, and keeps each item on one line", () => {
  const piece = fc.oneof(
    word,
    fc.constantFrom(
      "\n",
      "\n\n",
      "\r\n",
      "\u2028",
      " ",
      "  ",
      "\t",
      ":",
      ",",
      "- ",
      "1. ",
      "2) ",
      "a) ",
      "# ",
      "[",
      "]",
      "{",
      '"',
      "\\",
    ),
    fc.string({ unit: "grapheme", maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
      const given = pieces.join("");
      const texts = textsOf(given);
      const letters = (text: string) => (text.match(/\p{L}/gu) ?? []).join("");
      if (!isJson(given)) expect(letters(texts.join(""))).toBe(letters(given));
      expect(texts.length).toBeLessThanOrEqual(MAX_CRITERIA);
      for (const text of texts) expect(text).toMatch(/^\S(?:[^\n\r\u2028\u2029]*\S)?$/);
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  ["lines", "a:\n".repeat(66_000)],
  ["bullets", "- \n".repeat(66_000)],
  ["indented bullets", `- a\n${"      - b\n".repeat(20_000)}`],
  ["brackets", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ["quotes", `[${'"a",'.repeat(50_000)}"a"]`],
  ["blanks", `${" ".repeat(199_999)}a`],
])("splits 200,000 characters of %s in time that grows with their number", (_, given) => {
  const whole = timeOf(() => splitCriteria(given));
  const tenth = timeOf(() => splitCriteria(given.slice(0, given.length / 10)));
  expect(whole).toBeLessThan(60 * tenth + 100);
});

function timeOf(work: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
