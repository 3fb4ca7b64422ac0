import { describe, expect, test } from "vitest";
import { account, HOUR, START, WALLET } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

describe("counterparty diversity", () => {
  test.each([
    [1, 60],
    [2, 73.3],
    [8, 99.9],
    [20, 99.9],
  ])("of %d equal counterparties is near %d points", (count, points) => {
    const steps = repeat(count * 600, 60, { at: START }).map((step, i) => ({
      ...step,
      to: account(2000 + (i % count)),
    }));
    const feature = measureFeature("counterparty_diversity", steps);
    expect(feature.value).toBeCloseTo(count, 1);
    // Drawn towards 60 by ten calls.
    expect(Math.abs(pointsOf("counterparty_diversity", steps) - points)).toBeLessThan(8);
  });

  test("counts methods of one contract as one counterparty, and the wallet itself as none", () => {
    const steps = repeat(30, HOUR, { at: START }).flatMap((step) => [
      { ...step, selector: "0x00000001" as const },
      { ...step, selector: "0x00000002" as const },
      { ...step, to: WALLET },
    ]);
    expect(measureFeature("counterparty_diversity", steps)).toMatchObject({
      value: 1,
      samples: 60,
      scoreMicros: 60e6,
    });
  });

  test("is little moved by one call each to many others", () => {
    const steady = repeat(300, HOUR, { at: START });
    const strays = repeat(10, HOUR, { at: START }).map((step, i) => ({ ...step, to: account(3000 + i) }));
    expect(measureFeature("counterparty_diversity", [...steady, ...strays]).value).toBeLessThan(1.4);
  });
});
