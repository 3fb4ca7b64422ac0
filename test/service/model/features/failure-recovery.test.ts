import { describe, expect, test } from "vitest";
import { account, DAY, HOUR, START } from "./histories.ts";
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

  test("costs the whole where no success of the same call follows", () => {
    const elsewhere = { at: START + 60, to: account(7) };
    const { value } = measureFeature("failure_recovery", [failure, elsewhere, ...calm()]);
    // 1 and 0.15 of a call, each with the prior of 0.2.
    expect((value ?? Number.NaN) / burdenAfter(60)).toBeCloseTo(1.2 / 0.35, 1);
  });

  test("costs more per failure the longer the run before it", () => {
    const run = (length: number) =>
      measureFeature("failure_recovery", [...repeat(length, 10, failure), { at: START + 300 }, ...calm()])
        .value ?? Number.NaN;
    const added = [1, 2, 3].map((length) => run(length) - run(length - 1));
    expect(added[1]).toBeGreaterThan(added[0] ?? Number.NaN);
    expect(added[2]).toBeGreaterThan(added[1] ?? Number.NaN);
  });

  test("repays nothing: a failure soon repaired still scores below none", () => {
    const repaired = [failure, { at: START + 60 }, ...calm()];
    const never = [{ at: START }, { at: START + 60 }, ...calm()];
    expect(pointsOf("failure_recovery", repaired)).toBeLessThan(pointsOf("failure_recovery", never));
  });
});

/** A hundred successes of other calls, so that they repair nothing. */
function calm() {
  return repeat(100, 600, { at: START + DAY, to: account(9) });
}
