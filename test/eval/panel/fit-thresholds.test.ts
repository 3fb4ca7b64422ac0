import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../devnet/population/random.ts";
import {
  type Costs,
  DEFAULT_COSTS,
  fitThresholds,
  isInFirstHalf,
} from "../../../eval/panel/fit-thresholds.ts";
import { FORMAT, type RecordedCase } from "../../../eval/panel/recorded-case.ts";
import { type Decision, ROLE_NAMES } from "../../../service/verification/panel/types.ts";

/** A case that all four judge alike, and nothing else says anything of. */
function recorded(id: string, best: Decision, score: number, confidence = 0.95): RecordedCase {
  const ballot = { score, confidence, unmet: [], uncheckable_claims: 0, instructions_shown: 0 };
  return {
    ...{ format: FORMAT, id, source: "a test", domain: "default", expected: [best], criteria: 1 },
    ...{
      provider_has_score: true,
      released_usd: null,
      second_model: false,
      checks: [],
      synthesis: { unmet: [] },
    },
    ballots: {
      criteria_auditor: ballot,
      domain_expert: ballot,
      evidence_checker: ballot,
      user_advocate: ballot,
    },
    critique: { confidence: 0.9, fabrication_risk: "none", spec_gaming: false, challenged: [] },
    models: Object.fromEntries(ROLE_NAMES.map((role) => [role, null])) as RecordedCase["models"],
    ...{ prompt_hash: null, panel_version: null, verdict: null },
  };
}

const each = (count: number, make: (index: number) => RecordedCase) =>
  Array.from({ length: count }, (_, i) => make(i));

/** Bad outputs with scores to 82, good ones with scores from 84: the judges are too kind. */
const KIND = [
  ...each(60, (i) => recorded(`bad-${i}`, "REJECT", 66 + (i % 17))),
  ...each(60, (i) => recorded(`good-${i}`, "ALLOW", 84 + (i % 17))),
];

const fitBy = (cases: readonly RecordedCase[], costs: Costs = DEFAULT_COSTS, seed = "1") =>
  fitThresholds(cases, { costs, seed, random: seededRandom(seed) });
const changedBy = (...given: Parameters<typeof fitBy>) =>
  fitBy(...given)
    .thresholds.filter(({ now, chosen }) => now !== chosen)
    .map(({ name, chosen }) => [name, chosen]);

describe("a fit", () => {
  test("changes only the threshold that errors come from, and reports both halves by both policies", () => {
    const found = fitBy(KIND);
    expect(changedBy(KIND)).toEqual([["allowFrom", 85]]);
    expect(found.fitted.now.cases + found.reported.now.cases).toBe(KIND.length);
    expect(found.reported.now.falseAllow.value).toBe(1);
    expect(found.reported.chosen.falseAllow.value).toBe(0);
    const bad = KIND.filter(({ id }) => id.startsWith("bad") && !isInFirstHalf(id, "1")).length;
    expect(found.reported.now.cost.value).toBeCloseTo((10 * bad) / found.reported.now.cases);
    expect(found.difference.interval?.high).toBeLessThan(0);
  });

  test("sees nothing of the reported half", () => {
    const spoiled = KIND.map((one) =>
      isInFirstHalf(one.id, "1")
        ? one
        : { ...one, expected: [one.expected[0] === "ALLOW" ? "REJECT" : "ALLOW"] },
    ) as RecordedCase[];
    expect(fitBy(spoiled).thresholds).toEqual(fitBy(KIND).thresholds);
    expect(fitBy(spoiled).reported.chosen.falseAllow.value).toBeGreaterThan(0.8);
  });

  test("weighs a false ALLOW against HOLD by the costs given", () => {
    // One of three outputs with a score of 70 is bad.
    const mixed = each(120, (i) => recorded(`mixed-${i}`, i % 3 === 0 ? "REJECT" : "ALLOW", 70));
    expect(changedBy(mixed, { falseAllow: 2, falseReject: 1, hold: 1 })).toEqual([]);
    expect(changedBy(mixed, { falseAllow: 10, falseReject: 4, hold: 1 })).toContainEqual(["allowFrom", 75]);
  });

  test("finds the confidence from which votes can be trusted, in the domain that has cases", () => {
    const unsure = [
      ...each(40, (i) => recorded(`wrong-${i}`, "REJECT", 90, 0.72 + (i % 10) / 100)),
      ...each(80, (i) => recorded(`right-${i}`, "ALLOW", 90, 0.86 + (i % 10) / 100)),
    ];
    expect(changedBy(unsure)).toEqual([["confidence, default", 85]]);
  });

  test("keeps the thresholds in force where no other is better", () => {
    const right = each(40, (i) =>
      recorded(`right-${i}`, i % 2 === 0 ? "ALLOW" : "REJECT", i % 2 === 0 ? 90 : 10),
    );
    expect(fitBy(right)).toMatchObject({ difference: { value: 0 }, fitted: { now: { cost: { value: 0 } } } });
    expect(changedBy(right)).toEqual([]);
  });

  test("is the same for the same seed, splits otherwise for another, and keeps an id in one half", () => {
    expect(fitBy(KIND)).toEqual(fitBy(KIND));
    const ids = KIND.map(({ id }) => id);
    const halves = ["1", "2"].map((seed) => ids.filter((id) => isInFirstHalf(id, seed)));
    expect(halves[0]).not.toEqual(halves[1]);
    for (const half of halves) expect(Math.abs(half.length - 60)).toBeLessThan(20);
  });

  test("is refused where a half has no cases to choose or report on", () => {
    expect(() => fitBy(KIND.slice(0, 1))).toThrow("needs two cases in each half");
  });
});
