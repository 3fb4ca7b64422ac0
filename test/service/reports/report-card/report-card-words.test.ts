import { describe, expect, it } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import type { FeatureLine } from "../../../../service/model/score/record.ts";
import type { CardCounts } from "../../../../service/reports/report-card/report-card-counts.ts";
import { isFeature, sentenceOf, titleOf } from "../../../../service/reports/report-card/report-card-words.ts";

const line = (changes: Partial<FeatureLine>): FeatureLine => ({
  ...{
    dimension: "D1",
    name: "success_rate",
    value: 0.5,
    unit: "share of calls",
    samples: 1,
    state: "measured",
  },
  ...{ score: 1, weight: 1, contribution: 1, reason: null },
  ...changes,
});

const COUNTS: CardCounts = { calls: 1, succeeded: 1, burnt: 0, unmended: 0 };

/** The features that are estimates, of so many calls. */
const estimates = (samples: number) =>
  ["success_rate", "gas_efficiency", "failure_recovery"].map((name) => line({ name, value: 0.911, samples }));

describe("the words of a report card", () => {
  it("exist for every feature of the model", () => {
    for (const { dimension, name } of AHS_2026_1.features) {
      expect(isFeature(line({ dimension, name }))).toBe(true);
      expect(titleOf(name)).toMatch(/^[A-Z]/);
      for (const counts of [null, COUNTS]) {
        expect(sentenceOf(line({ name, value: 0.123456 }), counts)).toMatch(/^[A-Z0-9].*[^.]$/);
      }
    }
  });

  it("say what is not known or does not apply, and why", () => {
    expect(sentenceOf(line({ state: "unknown", value: null, reason: "not read" }), COUNTS)).toBe(
      "Not known: not read",
    );
    expect(sentenceOf(line({ state: "not_applicable", value: null }), COUNTS)).toBe("Does not apply");
  });

  it.each<readonly [string, Partial<CardCounts>, readonly string[]]>([
    [
      "a wallet that never failed",
      {},
      ["1 of 1 call to others succeeded", "0 % of the fees were burnt by failures", "No call failed"],
    ],
    [
      "one that nearly always failed",
      { calls: 94, succeeded: 1, burnt: 0.8791, unmended: 91 },
      [
        "1 of 94 calls to others succeeded",
        "87.9 % of the fees were burnt by failures",
        "93 calls failed, 91 not made good since",
      ],
    ],
    [
      "one that failed once and cheaply",
      { calls: 2, succeeded: 1, burnt: 0.0001 },
      [
        "1 of 2 calls to others succeeded",
        "Under 0.1 % of the fees were burnt by failures",
        "1 call failed, made good since",
      ],
    ],
  ])("tell of %s what happened, not what the model makes of it", (_, changes, sentences) => {
    const counts = { ...COUNTS, ...changes };
    expect(estimates(counts.calls).map((feature) => sentenceOf(feature, counts))).toEqual(sentences);
  });

  it("praise nobody for learning from failures without one", () => {
    const says = (value: number, succeeded: number) =>
      sentenceOf(line({ name: "adaptation", value, samples: 3 }), { ...COUNTS, calls: 3, succeeded });
    expect([says(100, 3), says(45, 3), says(45, 2)]).toEqual([
      "No failure to learn from",
      "No failure; gas prices 45 of 100",
      "45 of 100 for learning from what failed",
    ]);
  });

  it("call an estimate one, of no number of calls, where the calls of the score were not counted", () => {
    for (const counts of [null, { ...COUNTS, calls: 4 }]) {
      expect(estimates(3).map((feature) => sentenceOf(feature, counts))).toEqual([
        "An estimated 91.1 % of its calls succeed",
        "An estimated 91.1 % of the fees burnt by failures",
        "Estimated burden of failures 0.91, 0 being none",
      ]);
    }
  });

  it("fall back to the model's own for caps and effects", () => {
    expect(titleOf("weak_link")).toBe("Weak link");
    expect(isFeature(line({ name: "rounding" }))).toBe(false);
    expect(sentenceOf(line({ dimension: "AHS", name: "weak_link", value: -3.256, reason: null }), null)).toBe(
      "-3.26 points",
    );
  });
});
