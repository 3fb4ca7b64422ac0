import { describe, expect, test } from "vitest";
import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { account, callsOf, HOUR, rowsOf, START, WALLET, withFacts } from "./histories.ts";
import { featureOf, measureFeature, pointsOf, repeat } from "./measured.ts";

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

  test("counts the counterparties of one owner as one", () => {
    const steps = repeat(40, HOUR, { at: START }).map((step, i) => ({
      ...step,
      to: account(2000 + (i % 4)),
    }));
    const merged = new Map([2001, 2002, 2003].map((n) => [account(n), { mergedWith: account(2001) }]));
    const rows = withFacts(rowsOf(callsOf(steps)), merged);
    const apart = featureOf("counterparty_diversity", measureWallet(rowsOf(callsOf(steps)), AHS_2026_1));
    const together = featureOf("counterparty_diversity", measureWallet(rows, AHS_2026_1));
    expect(apart.value).toBeCloseTo(4, 2);
    // A quarter and three quarters.
    expect(together.value).toBeCloseTo(1.755, 2);
  });

  test("counts those whom nobody else uses for little, and is nobody where none has credit", () => {
    const steps = repeat(40, HOUR, { at: START }).map((step, i) => ({
      ...step,
      to: account(2000 + (i % 4)),
    }));
    const unused = { outsideUsers: 0, existedAt: null, fundedFromOutside: null };
    const of = (numbers: readonly number[]) =>
      featureOf(
        "counterparty_diversity",
        measureWallet(
          withFacts(rowsOf(callsOf(steps)), new Map(numbers.map((n) => [account(n), unused]))),
          AHS_2026_1,
        ),
      );
    expect(of([2001, 2002, 2003]).value).toBe(1);
    expect(of([2000, 2001, 2002, 2003])).toMatchObject({ value: 0, scoreMicros: 60e6 });
  });

  test("is little moved by one call each to many others", () => {
    const steady = repeat(300, HOUR, { at: START });
    const strays = repeat(10, HOUR, { at: START }).map((step, i) => ({ ...step, to: account(3000 + i) }));
    expect(measureFeature("counterparty_diversity", [...steady, ...strays]).value).toBeLessThan(1.4);
  });
});
