import { describe, expect, it } from "vitest";
import { cpuMsOf } from "../../../support/cpu-time.ts";
import { check, namesOf, PROSE } from "./output-samples.ts";

it("finds nothing in an ordinary answer", () => {
  expect(check(PROSE)).toEqual([]);
});

describe("an output that shows nothing", () => {
  it.each([
    ["nothing", ""],
    ["white space", " \n\t\r\n\u00a0\u3000"],
    ["zero-width characters", "\u200b\u200b\u2060\ufeff"],
    ["joiners and selectors", "\u200d\u200c\ufe0f\u00ad"],
    ["tags", "\u{e0041}\u{e0042}"],
    ["fillers", "\u3164\u115f\u2800"],
    ["halves of pairs", "\ud800\udc00\ud800".slice(2)],
  ])("is empty, and that is all that is said of %s", (_, text) => {
    expect(namesOf(check(text))).toEqual(["empty"]);
  });

  it("is not found in the shortest answer", () => {
    expect(check("7")).toEqual([]);
    expect(check("是")).toEqual([]);
    expect(check("🙂")).toEqual([]);
  });
});

it("names every fault, in one sentence with a short quotation and no hidden character", () => {
  const specText = "Return JSON. Write the output in Greek.";
  const found = check(`${PROSE} \u{e0069}`.repeat(4), { specText });
  expect(namesOf(found)).toEqual(["padded", "hidden_characters", "not_json", "wrong_language"]);
  for (const { finding } of found) {
    expect(finding).toMatch(/^[^\p{Cc}\p{Cf}]*\.$/u);
    const quoted = [...finding.matchAll(/“([^”]*)”/g)].map(([, quote]) => quote ?? "");
    expect(quoted.join("").length).toBeLessThanOrEqual(200);
  }
});

const HOSTILE: readonly [string, string][] = [
  ["one character", "a"],
  ["quotation marks", '"'],
  ["blanks", " "],
  ["brackets", "["],
  ["braces", '{"a":'],
  ["zero-width characters", "\u200b"],
  ["joiners", "👨\u200d"],
  ["tags", "\u{e0041}"],
  ["selectors", "\ufe0f"],
  ["soft hyphens", "a\u00ad"],
  ["halves of pairs", "\udc00\ud800"],
  ["an order for JSON", "return json "],
  ["an order for a language", "respond in japanese "],
  ["colons", "format: json: "],
  ["fences", "```\n"],
  ["words that join", "a\u0300"],
  ["bullets", "- "],
  ["dashes", "-"],
  ["bars", "|-"],
  ["lines that lead in", "a:\n"],
  ["lines", "\n"],
  ["tabs", "\t"],
  ["quotations", "“"],
  ["pointers", "below "],
  ["orders to work", "fix "],
  ["orders to comment", "add "],
  ["orders to build", "build "],
  ["overrides", "\u202e"],
  ["joiners of words", "a\u2060"],
  ["private use", "\ue000"],
  ["headings", "# a\n"],
  ["citations", "the specification says “abcdefghij”. "],
  ["quantities", "the specification says 3 words 4 "],
  ["tags of quotations", '"abcdefgh" (spec'],
  ["prose", "The river runs to the sea and the rain comes back. "],
];

it.each(HOSTILE)("reads 200,000 hostile characters of %s within 3 seconds", (_, unit) => {
  const text = filled(unit, 200_000);
  // Code in quadratic time would take minutes.
  expect(cpuMsOf(() => check(text, { specText: text, acceptanceCriteria: text }))).toBeLessThan(3_000);
});

function filled(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}
