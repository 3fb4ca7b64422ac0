import { describe, expect, test } from "vitest";
import { readCurve } from "../../../../service/model/score/curve.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { account, DAY, HOUR, START, type Step } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

const healthy = repeat(100, 600, { at: START + DAY });
const failure = { at: START, ok: false };

/** Burden of one failure among a hundred healthy calls that is repaired after so long. */
function burdenAfter(seconds: number): number {
  const { value } = measureFeature("failure_recovery", [failure, { at: START + seconds }, ...calm()]);
  if (value === null) throw new Error("recovery is always measured");
  return value;
}

describe("failure recovery", () => {
  test("of a wallet that never fails is nearly whole", () => {
    expect(pointsOf("failure_recovery", healthy)).toBeGreaterThan(90);
  });

  test("costs more the longer a failure lasts", () => {
    const burdens = [60, 600, HOUR, 6 * HOUR, DAY].map(burdenAfter);
    expect(burdens).toEqual(burdens.toSorted((a, b) => a - b));
    expect(new Set(burdens).size).toBe(4);
  });

  test("lasts to the last own call where no success of the same call follows, and the whole after two weeks", () => {
    const unrecovered = (until: number) => burdenOf([failure, { at: START + until, to: account(7) }]);
    const { delayCurve, halfLifeDays } = AHS_2026_2.recovery;
    for (const days of [1 / 24, 1, 7, 14]) {
      const lasting = readCurve(delayCurve, days * DAY);
      expect(unrecovered(days * DAY)).toBeCloseTo(0.999 * lasting * 2 ** (-days / halfLifeDays), 3);
    }
    expect(readCurve(delayCurve, 14 * DAY)).toBe(1);
  });

  test("costs no less unrecovered than recovered, however late", () => {
    for (const seconds of [60, HOUR, DAY]) {
      const elsewhere = { at: START + seconds, to: account(7) };
      expect(burdenOf([failure, elsewhere, ...calm()])).toBeGreaterThan(burdenAfter(seconds));
    }
  });

  test("costs more the longer the run of failures", () => {
    const runs = [0, 1, 2, 3, 4, 5].map((length) =>
      burdenOf([...repeat(length, 10, failure), { at: START + 300 }, ...calm()]),
    );
    expect(runs).toEqual(runs.toSorted((a, b) => a - b));
    expect(new Set(runs).size).toBe(runs.length);
  });

  test("counts the worst failure of one call and day, and each day and call apart", () => {
    const sooner = [{ at: START, ok: false }, { at: START + 60 }];
    const later = [{ at: START + HOUR, ok: false }, { at: START + 5 * HOUR }];
    const one = burdenOf([...later, ...calm()]);
    expect(burdenOf([...sooner, ...later, ...calm()])).toBe(one);
    const apart = sooner.map((step) => ({ ...step, selector: "0x00000009" as const }));
    expect(burdenOf([...apart, ...later, ...calm()])).toBeGreaterThan(one);
  });

  test("measures how failures end and not how many there are: it counts so many of the worst alone", () => {
    const { worst } = AHS_2026_2.recovery;
    const unrecovered = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ ...failure, to: account(100 + i) }));
    const burdens = [worst - 1, worst, worst + 1, 5 * worst].map((count) =>
      burdenOf([...unrecovered(count), ...calm()]),
    );
    expect(burdens[0]).toBeLessThan(burdens[1] ?? Number.NaN);
    expect(new Set(burdens.slice(1)).size).toBe(1);
  });

  test("halves over days, as other failures come", () => {
    const days = AHS_2026_2.recovery.halfLifeDays;
    const lastingTo = (day: number) =>
      burdenOf([failure, { at: START + 60 }, { at: START + DAY + day * DAY, to: account(9) }]);
    expect(lastingTo(days) / lastingTo(0)).toBeCloseTo(0.5, 4);
  });

  test("repays nothing: a failure soon repaired still scores below none", () => {
    const repaired = [failure, { at: START + 60 }, ...calm()];
    const never = [{ at: START }, { at: START + 60 }, ...calm()];
    expect(pointsOf("failure_recovery", repaired)).toBeLessThan(pointsOf("failure_recovery", never));
  });
});

function burdenOf(steps: readonly Step[]): number {
  return measureFeature("failure_recovery", steps).value ?? Number.NaN;
}

/** A hundred successes of other calls, so that they repair nothing. */
function calm() {
  return repeat(100, 600, { at: START + DAY, to: account(9) });
}
