import { describe, expect, test } from "vitest";
import { importPairs, type JudgeFile, type ORDERS } from "../../../eval/panel/import-pairs.ts";
import { recordedCase } from "../../../eval/panel/recorded-case.ts";
import { replay } from "../../../eval/panel/replay.ts";

/** An entry in the shape of LLMBar's results, on an invented pair. */
function llmbar(label: 1 | 2, stored: string | null, swapped: string | null) {
  const results = [
    ["a question that the judge asked itself", "stop"],
    { "swap = False": { completion: ["…", "stop"], winner: stored }, "swap = True": { winner: swapped } },
  ];
  return { input: "Name a colour.", output_1: "Red.", output_2: "Seven.", label, results };
}

/** A line in the shape of JudgeBench's outputs. */
function judgebench(label: string, stored: string | null, swapped?: string | null) {
  const judgmentOf = (decision: string | null) => decision && { decision, judgment: { response: "…" } };
  const judgments = [judgmentOf(stored), ...(swapped === undefined ? [] : [judgmentOf(swapped)])];
  return `${JSON.stringify({ pair_id: "pair-1", question: "…", label, judgments })}\n`;
}

const filesOf = (...texts: readonly string[]): JudgeFile[] =>
  texts.map((text, index) => ({ name: `sets/GPT/style-${index}/result.json`, text }));

const BOTH = { kind: "llmbar", order: "both", hasSecondModel: false } as const;

const scoresBy = (kind: "llmbar" | "judgebench", order: (typeof ORDERS)[number], files: JudgeFile[]) =>
  Object.values(importPairs(files, { kind, order, hasSecondModel: false }).rows[0]?.ballots ?? {}).map(
    (ballot) => ballot?.score ?? null,
  );

describe("pairwise judgments", () => {
  const three = filesOf(
    JSON.stringify([llmbar(1, "1", "1")]),
    JSON.stringify([llmbar(1, "1", "2")]),
    JSON.stringify([llmbar(1, "2", null)]),
  );

  test.each([
    ["both", [90, 50, null, null]],
    ["stored", [90, 90, 10, null]],
    ["swapped", [90, 10, null, null]],
    ["alternate", [90, 10, 10, null]],
  ] as const)("in the order %s become the scores %j", (order, scores) => {
    expect(scoresBy("llmbar", order, three)).toEqual(scores);
  });

  test("of JudgeBench name the swapped pair in swapped letters, and may have no second judgment", () => {
    const files = filesOf(
      judgebench("B>A", "B>A", "A>B"),
      judgebench("B>A", "A=B", "A=B"),
      judgebench("B>A", "A>B", "A>B"),
      judgebench("B>A", "B>A"),
    );
    expect(scoresBy("judgebench", "both", files)).toEqual([10, 50, 50, null]);
    expect(scoresBy("judgebench", "stored", files)).toEqual([10, 50, 90, 10]);
  });

  test("make one case of a pair, in the form of a recording, which the votes alone decide", () => {
    const right = JSON.stringify([llmbar(2, "2", "2")]);
    const { rows, faults } = importPairs(filesOf(right, right, right), BOTH);
    expect(faults).toEqual([]);
    expect(rows.map((row) => recordedCase.parse(row))).toEqual(rows);
    expect(rows[0]).toMatchObject({
      source: "import of llmbar, order both",
      expected: ["REJECT"],
      models: { criteria_auditor: "sets/GPT/style-0", user_advocate: null, critic: null },
    });
    expect(replay(rows)).toMatchObject([{ verdict: "REJECT", is_right: true, rules_fired: [] }]);
  });

  test("that do not fit are named with their place, and so is a pair with two labels", () => {
    const bad = JSON.stringify([
      { ...llmbar(1, "1", "1"), label: 3 },
      llmbar(1, "1", "3"),
      llmbar(1, "1", "1"),
    ]);
    const other = JSON.stringify([llmbar(2, "1", "1")]);
    const { rows, faults } = importPairs(filesOf(bad, other, other), BOTH);
    expect(rows).toEqual([]);
    expect(faults).toEqual([
      expect.stringMatching(/^sets\/GPT\/style-0\/result\.json\[0\]: label: .*expected/i),
      expect.stringMatching(/\[1\]: .*expected "swap = False"/),
      expect.stringMatching(/^llmbar-[\da-f]{16}: its labels differ$/),
    ]);
  });

  test.each([[2], [5]])("of %i judges are refused", (count) => {
    const files = filesOf(...Array.from({ length: count }, () => "[]"));
    expect(() => importPairs(files, BOTH)).toThrow("expected 3 or 4");
  });
});
