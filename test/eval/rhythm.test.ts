import { describe, expect, test } from "vitest";
import { seededRandom } from "../../devnet/population/random.ts";
import { poisson, zipfPicker } from "../../eval/draw.ts";
import { demandTimes, steadyTimes } from "../../eval/rhythm.ts";

const DAY = 86_400;
const span = { from: 1_748_822_400, until: 1_748_822_400 + 70 * DAY };

describe("rhythms", () => {
  test("a machine acts as often as its interval says, within the span", () => {
    const times = steadyTimes(seededRandom("machine"), { ...span, interval: 3_600, jitter: 0.5 });
    expect(Math.abs(times.length - 70 * 24)).toBeLessThanOrEqual(2);
    expect(times.every((time) => time >= span.from && time < span.until)).toBe(true);
  });

  test("demand comes as often as asked, whatever the hours and weekdays it comes in", () => {
    for (const seed of ["a", "b", "c", "d"]) {
      const perDay = demandTimes(seededRandom(seed), { ...span, perDay: 20 }).length / 70;
      // A weekend of its own moves the mean by at most two days in seven.
      expect(perDay).toBeGreaterThan(20 * (5 / 7) * 0.9);
      expect(perDay).toBeLessThan(20 * 1.15 * 1.1);
    }
  });
});

describe("draws", () => {
  test("Poisson counts have their mean, below and above the switch to the normal curve", () => {
    const random = seededRandom("poisson");
    for (const mean of [0.5, 5, 80]) {
      const draws = Array.from({ length: 4_000 }, () => poisson(random, mean));
      expect(draws.reduce((sum, n) => sum + n, 0) / draws.length / mean).toBeCloseTo(1, 1);
    }
  });

  test("Zipf's second is picked half as often as the first", () => {
    const random = seededRandom("zipf");
    const pick = zipfPicker(["first", "second", "third"]);
    const draws = Array.from({ length: 20_000 }, () => pick(random));
    const count = (name: string) => draws.filter((drawn) => drawn === name).length;
    expect(count("second") / count("first")).toBeCloseTo(0.5, 1);
    expect(count("third") / count("first")).toBeCloseTo(1 / 3, 1);
  });
});
