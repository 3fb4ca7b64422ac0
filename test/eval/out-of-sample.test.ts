import { describe, expect, test } from "vitest";
import { seededRandom } from "../../devnet/population/random.ts";
import { areasOf, type Forecast } from "../../eval/out-of-sample.ts";

const random = seededRandom("forecasts");
/** Wallets of which a quarter fails later, seen through a score that knows it. */
const KNOWING: readonly Forecast[] = Array.from({ length: 1_000 }, () => {
  const fails = random.chance(0.25);
  return {
    score: (fails ? 20 : 60) + 30 * random.next(),
    successRate: random.next(),
    ageDays: random.between(0, 500),
    ewmaSuccess: random.next(),
    meanOfFeatures: random.between(0, 100),
    gasEfficiency: random.between(0, 100),
    padded: false,
    fails,
    loses: random.chance(0.5),
  };
});

describe("areas of a forecast", () => {
  test("are 1 for a score that knows the outcome and near a half for views that do not", () => {
    const areas = areasOf(KNOWING, ({ fails }) => fails);
    expect(areas.score).toBe(1);
    expect(areas.success_rate).toBeCloseTo(0.5, 1);
    expect(areas.account_age).toBeCloseTo(0.5, 1);
  });

  test("are near a half for the same score once the outcomes are shuffled", () => {
    const outcomes = random.sample(
      KNOWING.map(({ fails }) => fails),
      KNOWING.length,
    );
    const shuffled = KNOWING.map((forecast, position) => ({
      ...forecast,
      fails: outcomes[position] === true,
    }));
    const { score } = areasOf(shuffled, ({ fails }) => fails);
    expect(Math.abs(score - 0.5)).toBeLessThan(0.06);
  });

  test("are refused where no wallet goes wrong", () => {
    expect(() => areasOf(KNOWING, () => false)).toThrow("nothing to compare");
  });
});
