import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitCriteria } from "../../../../service/verification/panel/criteria.ts";
import { MAX_CRITERIA } from "../../../../service/verification/panel/policy.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";

const textsOf = (given: string | null) => splitCriteria(given).map(({ text }) => text);

it.each<[name: string, given: string | null, texts: string]>([
  ["null", null, ""],
  ["an empty text", "", ""],
  ["white space", " \n\t \r\n", ""],
  ["one sentence", "Names three cities.", "Names three cities."],
  ["two sentences", "Names three cities. Each has a river.", "Names three cities. Each has a river."],
  [
    "wrapped prose",
    "Names three cities and\nthe river that each\nlies at.",
    "Names three cities and the river that each lies at.",
  ],
  [
    "lines",
    "Names three cities\nEach has a river\r\nAt most 200 words",
    "Names three cities ¦ Each has a river ¦ At most 200 words",
  ],
  ["lines in lower case", "names three cities\nin english", "names three cities ¦ in english"],
  ["paragraphs", "Names three cities.\n\nEach has a river.", "Names three cities. ¦ Each has a river."],
  ["numbers", "1. Three cities\n2. A river each\n3. English", "Three cities ¦ A river each ¦ English"],
  ["numbers with brackets", "1) Three cities\n2) A river each", "Three cities ¦ A river each"],
  ["numbers in brackets", "(1) Three cities\n(2) A river each", "Three cities ¦ A river each"],
  [
    "numbers that do not count",
    "1. Three cities\n12. July is the deadline",
    "Three cities ¦ 12. July is the deadline",
  ],
  ["all numbered one", "1. Three cities\n1. A river each", "Three cities ¦ A river each"],
  ["right-aligned numbers", " 9. Three cities\n10. A river each", "9. Three cities ¦ A river each"],
  ["bullets", "- Three cities\n- A river each", "Three cities ¦ A river each"],
  ["other bullets", "• Three cities\n* A river each\n– English", "Three cities ¦ A river each ¦ English"],
  ["letters", "a) Three cities\nb) A river each", "Three cities ¦ A river each"],
  ["letters with points", "a. Three cities\nb. A river each", "Three cities ¦ A river each"],
  ["letters that do not count", "c. Three cities\nd. A river each", "c. Three cities ¦ d. A river each"],
  ["an initial", "A. Smith is named\n\nThree cities", "A. Smith is named ¦ Three cities"],
  [
    "Roman numerals",
    "i. Three cities\nii. A river each\niii. English\niv. Brief",
    "Three cities ¦ A river each ¦ English ¦ Brief",
  ],
  ["Roman numerals in brackets", "(I) Three cities\n(II) A river each", "Three cities ¦ A river each"],
  ["ideographic commas", "1、三つの都市\n2、川", "三つの都市 ¦ 川"],
  ["middle dots", "・三つの都市\n・川", "三つの都市 ¦ 川"],
  ["circled numbers", "① 三つの都市\n② 川", "三つの都市 ¦ 川"],
  ["ticks", "✓ Three cities\n✅ A river each", "Three cities ¦ A river each"],
  ["boxes to tick", "[ ] Three cities\n[x] A river each", "Three cities ¦ A river each"],
  ["bullets with boxes", "- [ ] Three cities\n- [x] A river each", "Three cities ¦ A river each"],
  ["dashes without a blank", "-three cities\n-two rivers", "three cities ¦ two rivers"],
  ["command options", "-v prints the version\n-h prints help", "-v prints the version ¦ -h prints help"],
  [
    "code below an item",
    '- Returns\n```json\n{"a": 1}\n```\n- English',
    'Returns ```json {"a": 1} ``` ¦ English',
  ],
  [
    "code below a line",
    "Prints this\n```\nhello\n- world\n```\nEnds well",
    "Prints this ``` hello - world ``` ¦ Ends well",
  ],
  ["a list in a block of code", "```\n- Three cities\n- A river each\n```", "Three cities ¦ A river each"],
  ["JSON in a fence", '```json\n["Three cities", "A river each"]\n```', "Three cities ¦ A river each"],
  ["a fence without an end", "```\nThree cities\nA river each", "``` ¦ Three cities ¦ A river each"],
  [
    "a table",
    "| # | Criterion |\n|---|:---|\n| 1 | Three cities |\n| 2 | A river each |",
    "| # | Criterion | | 1 | Three cities | ¦ | 2 | A river each |",
  ],
  ["a rule", "Three cities\n---\nA river each", "Three cities ¦ A river each"],
  [
    "a last line that leads to nothing",
    "- Three cities\n- A river each\nNote:",
    "Three cities ¦ A river each Note:",
  ],
  [
    "scenarios",
    "Feature: Log in\n\nScenario: Right word\n  Given a user\n  When she logs in\n  Then she sees a page\n\n" +
      "Scenario Outline: Wrong word\nGiven <a user>\n\nWhen she logs in\nThen she does not\nExamples:\n| a user |\n| Ann |",
    "Feature: Log in Scenario: Right word Given a user When she logs in Then she sees a page ¦ Scenario Outline: Wrong word Given <a user> When she logs in Then she does not Examples: | a user | | Ann |",
  ],
  [
    "steps without titles",
    "Given a user\nWhen she logs in\nThen she sees a page\nAnd her name\nGiven no user\nThen there is none",
    "Given a user When she logs in Then she sees a page And her name ¦ Given no user Then there is none",
  ],
  ["features that are no scenarios", "Feature: dark\nFeature: light", "Feature: dark ¦ Feature: light"],
  [
    "a line that is continued",
    "- Three cities\n  of France\n- A river each",
    "Three cities of France ¦ A river each",
  ],
  [
    "one continued without indentation",
    "1. Three cities\nof France\n2. A river each",
    "Three cities of France ¦ A river each",
  ],
  [
    "an item over two paragraphs",
    "- Three cities\n\n  of France\n- A river each",
    "Three cities of France ¦ A river each",
  ],
  ["a later paragraph", "- Three cities\n\nAll of it in English.", "Three cities ¦ All of it in English."],
  [
    "items below an item",
    "- Cities:\n  - three\n  - of France\n- A river each",
    "Cities: - three - of France ¦ A river each",
  ],
  [
    "a line that leads in",
    "The output has:\n- three cities\n- a river each",
    "The output has: three cities ¦ a river each",
  ],
  ["headings", "# Content\n- Three cities\n## Form\n- English", "# Content Three cities ¦ ## Form English"],
  ["prose before a list", "Be exact and\nbrief.\n- Three cities", "Be exact and brief. ¦ Three cities"],
  ["nothing but a line that leads in", "Criteria:", "Criteria:"],
  ["a JSON array", '["Three cities", "A river\\neach", ""]', "Three cities ¦ A river each"],
  ["a JSON array of objects", '[{"id": 1, "text": "a, b"}, 7]', '{"id": 1, "text": "a, b"} ¦ 7'],
  ["nested JSON", '[["a", "]"], "b\\"],"]', '["a", "]"] ¦ b"],'],
  ["an empty JSON array", "[]", ""],
  ["a JSON object", '{\n  "cities": 3\n}', '{   "cities": 3 }'],
  ["broken JSON", '["Three cities"', '["Three cities"'],
  ["a minus that is no bullet", "-5 degrees at most", "-5 degrees at most"],
  ["line breaks of all kinds", "A\u2028B\u0085C\vD", "A ¦ B ¦ C ¦ D"],
])("splits %s", (_, given, texts) => {
  expect(textsOf(given)).toEqual(texts === "" ? [] : texts.split(" ¦ "));
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it.each([
  ["lines", "a:\n".repeat(66_000)],
  ["bullets", "- \n".repeat(66_000)],
  ["indented bullets", `- a\n${"      - b\n".repeat(20_000)}`],
  ["brackets", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
  ["quotes", `[${'"a",'.repeat(50_000)}"a"]`],
  ["blanks", `${" ".repeat(199_999)}a`],
  ["fences", "```\n".repeat(50_000)],
  ["dashes", "-\n".repeat(100_000)],
  ["bars", "|".repeat(200_000)],
  ["steps", `Given a\n${"When a\n".repeat(28_000)}`],
  ["outcomes", `Given a\n${"Then a\n".repeat(28_000)}`],
  ["letters", "a) b\n".repeat(40_000)],
])("splits 200,000 characters of %s within 3 seconds", (_, given) => {
  // Code in quadratic time would take minutes.
  expect(cpuMsOf(() => splitCriteria(given))).toBeLessThan(3_000);
});
