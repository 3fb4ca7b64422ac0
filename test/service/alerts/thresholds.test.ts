import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WatchedValues } from "../../../service/alerts/alert-subscriptions.ts";
import { breachesOf, thresholdsFrom, thresholdsWithValues } from "../../../service/alerts/thresholds.ts";

function values(ahsScore: number | null): WatchedValues {
  return { ahsScore, d1Score: 81, d2Score: 77, confidenceMicros: 810_000 };
}

describe("a threshold is reported", () => {
  it.each([
    ["from above to below", 71, 69, true],
    ["from the threshold itself to below", 70, 69, true],
    ["from above to the threshold itself", 71, 70, false],
    ["further down", 69, 20, false],
    ["a recovery", 20, 70, false],
    ["from unknown to below", null, 69, true],
    ["from unknown to above", null, 71, false],
    ["from above to unknown", 71, null, false],
    ["from below to unknown", 20, null, false],
  ] as const)("%s: %s to %s", (_what, before, after, isReported) => {
    const breaches = breachesOf({ before: values(before), after: values(after) }, { ahsScore: 70 });
    expect(breaches).toEqual(
      isReported ? [{ value: "ahs_score", below: 70, previous: before, current: after }] : [],
    );
  });

  it("where a wallet that was never scored is below with its first score", () => {
    const after = { ...values(null), d1Score: null, d2Score: null, confidenceMicros: 120_000 };
    const all = { ahsScore: 70, d1Score: 70, d2Score: 70, confidenceMicros: 500_000 };
    expect(breachesOf({ before: null, after }, all)).toEqual([
      { value: "confidence", below: 0.5, previous: null, current: 0.12 },
    ]);
  });

  it("once on every way down: as often as a value crosses it, and never without a threshold", () => {
    const score = fc.option(fc.integer({ min: 0, max: 100 }), { nil: null });
    fc.assert(
      fc.property(fc.array(score, { minLength: 2 }), fc.integer({ min: 0, max: 100 }), (scores, ahsScore) => {
        let crossings = 0;
        scores.slice(1).forEach((after, index) => {
          const change = { before: values(scores[index] ?? null), after: values(after) };
          crossings += breachesOf(change, { ahsScore }).length;
          expect(breachesOf(change, {})).toEqual([]);
        });
        // The series becomes one letter per score: b for below the threshold, a for any other.
        const stays = scores.map((one) => (one !== null && one < ahsScore ? "b" : "a")).join("");
        expect(crossings).toBe(stays.match(/ab/g)?.length ?? 0);
      }),
    );
  });
});

describe("thresholds", () => {
  it("are stored in whole points and millionths, and shown as they were given", () => {
    const given = { ahs_score: 70, d1_score: undefined, d2_score: 0, confidence: 0.29 };
    const stored = thresholdsFrom(given);
    expect(stored).toEqual({ ahsScore: 70, d2Score: 0, confidenceMicros: 290_000 });
    expect(thresholdsWithValues(stored ?? {}, values(64))).toEqual([
      { value: "ahs_score", below: 70, current: 64 },
      { value: "d2_score", below: 0, current: 77 },
      { value: "confidence", below: 0.29, current: 0.81 },
    ]);
    expect(thresholdsWithValues({ ahsScore: 70 }, null)).toEqual([
      { value: "ahs_score", below: 70, current: null },
    ]);
  });

  it("are null where none is given", () => {
    expect(thresholdsFrom({})).toBeNull();
    expect(thresholdsWithValues({}, values(1))).toEqual([]);
  });
});
