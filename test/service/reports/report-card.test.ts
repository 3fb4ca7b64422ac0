import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import type { FeatureLine } from "../../../service/model/score/record.ts";
import {
  benchmark,
  type CardCounts,
  countForCard,
  isFeature,
  percentileOf,
  sentenceOf,
  titleOf,
} from "../../../service/reports/report-card.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  HOUR,
  rowsOf,
  START,
  type Step,
  WALLET,
} from "../model/features/histories.ts";
import { repeat } from "../model/features/measured.ts";

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

const COUNTS: CardCounts = { calls: 1, succeeded: 1, burnt: 0, unrepaired: 0 };

/** The features that are estimates, of so many calls. */
const estimates = (samples: number) =>
  ["success_rate", "gas_efficiency", "failure_recovery"].map((name) => line({ name, value: 0.911, samples }));

describe("the words of a report card", () => {
  it("exist for every feature of the model", () => {
    for (const { dimension, name } of AHS_2026_2.features) {
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
      { calls: 94, succeeded: 1, burnt: 0.8791, unrepaired: 91 },
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

  it("fall back to the model's own for deductions", () => {
    expect(titleOf("weak_link")).toBe("Weak link");
    expect(isFeature(line({ name: "rounding" }))).toBe(false);
    expect(sentenceOf(line({ dimension: "AHS", name: "weak_link", value: -3.256, reason: null }), null)).toBe(
      "-3.26 points",
    );
  });
});

const count = (steps: readonly Step[], upToBlock = Number.MAX_SAFE_INTEGER) =>
  countForCard({ rows: rowsOf(callsOf(steps)), upToBlock }, AHS_2026_2);

const good = repeat(3, HOUR, { at: START, to: account(9) });
const bad: Step = { at: START + DAY, to: account(9), ok: false };

it("counts what happened, however few the calls and however long ago", () => {
  expect(count(good)).toEqual({ calls: 3, succeeded: 3, burnt: 0, unrepaired: 0 });
  expect(count([])).toEqual({ calls: 0, succeeded: 0, burnt: null, unrepaired: 0 });
  const old = repeat(3, HOUR, { at: START + 170 * DAY, to: account(9), ok: false });
  expect(count([...good, ...old])).toMatchObject({ calls: 6, succeeded: 3, burnt: 0.5 });
});

it("tells failures that a success of the same call followed from those that none did", () => {
  const mended = count([...good, bad, { at: START + 2 * DAY, to: account(9) }]);
  expect(mended).toMatchObject({ calls: 5, succeeded: 4, unrepaired: 0 });
  const given = count([...good, bad, { at: START + 2 * DAY, to: account(10) }]);
  expect(given).toMatchObject({ calls: 5, succeeded: 4, unrepaired: 1 });
});

it("takes the share of fees from what was paid: one dear failure burns more than three cheap successes", () => {
  expect(count([...good, { ...bad, gasPrice: 9n * GWEI }]).burnt).toBeCloseTo(0.75);
  expect(count(good.map((step) => ({ ...step, gasPrice: 0n }))).burnt).toBeNull();
});

it("leaves out calls to itself, and those after the block of the score", () => {
  const calls = callsOf([...good, bad]);
  const [, , third] = calls;
  expect(count([...good, bad], third?.blockNumber)).toMatchObject({ calls: 3, succeeded: 3 });
  expect(count([...good, { at: START + DAY, to: WALLET }])).toMatchObject({ calls: 3 });
});

const distributions = fc
  .uniqueArray(
    fc.record({ score: fc.integer({ min: 0, max: 100 }), wallets: fc.integer({ min: 1, max: 1e6 }) }),
    {
      selector: ({ score }) => score,
    },
  )
  .map((list) => list.toSorted((one, other) => one.score - other.score));
const scores = fc.integer({ min: 0, max: 100 });

test("a higher score never has a lower percentile, and every percentile lies between 0 and 100", () => {
  fc.assert(
    fc.property(distributions, scores, scores, (distribution, one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const below = percentileOf(low, distribution);
      const above = percentileOf(high, distribution);
      if (below === null || above === null) return distribution.length === 0;
      return below <= above && below >= 0 && above <= 100;
    }),
  );
});

test("grades and tenths hold every wallet once", () => {
  fc.assert(
    fc.property(distributions, (distribution) => {
      const { scoredWallets, grades, tenths } = benchmark(50, distribution, AHS_2026_2.grades);
      const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
      expect(sum(Object.values(grades))).toBe(scoredWallets);
      expect(sum(tenths)).toBe(scoredWallets);
    }),
  );
});

describe("the standing of a score", () => {
  it("counts half of its equals, and is unknown among none", () => {
    const distribution = [
      { score: 10, wallets: 1 },
      { score: 100, wallets: 3 },
    ];
    expect(percentileOf(100, distribution)).toBe(62.5);
    expect(percentileOf(10, distribution)).toBe(12.5);
    expect(percentileOf(50, distribution)).toBe(25);
    expect(percentileOf(50, [])).toBeNull();
    expect(benchmark(null, distribution, AHS_2026_2.grades)).toMatchObject({
      percentile: null,
      averageScore: 77.5,
    });
    expect(benchmark(100, distribution, AHS_2026_2.grades).tenths).toEqual([0, 1, 0, 0, 0, 0, 0, 0, 0, 3]);
    expect(benchmark(1, [], AHS_2026_2.grades)).toMatchObject({ scoredWallets: 0, averageScore: null });
  });
});
