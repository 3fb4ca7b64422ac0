import { describe, expect, test } from "vitest";
import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { oracleFeeder, weeklyPayroll } from "./archetypes.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  HOUR,
  randomFrom,
  rowsOf,
  START,
  type Step,
  WALLET,
  withFacts,
} from "./histories.ts";
import { featureOf, measureFeature, pointsOf, repeat } from "./measured.ts";

const plan = { days: 60, seed: 3 };

describe("timing regularity", () => {
  test("of fewer than eight active hours does not exist", () => {
    expect(measureFeature("timing_regularity", repeat(7, HOUR, { at: START }))).toMatchObject({
      state: "not_applicable",
      reason: "7 active hours; a rhythm needs 8",
    });
    expect(measureFeature("timing_regularity", repeat(8, HOUR, { at: START })).state).toBe("measured");
  });

  test.each([
    ["one call an hour", oracleFeeder(plan)],
    ["office hours on working days", officeHours(60)],
    ["a weekend bot", weekends(90)],
    ["a weekly payroll", [...weeklyPayroll({ days: 120, seed: 1 })]],
    ["random hours", randomHours(600, 60)],
  ])("is good for %s", (_, steps) => {
    expect(pointsOf("timing_regularity", steps)).toBeGreaterThan(85);
  });

  test("is bad for bursts with long silences of no rhythm", () => {
    const bursts = [0, 3, 41, 44, 47, 110].flatMap((day) => repeat(40, 900, { at: START + day * DAY }));
    expect(pointsOf("timing_regularity", bursts)).toBeLessThan(55);
  });

  test("is worth nothing where nothing succeeds", () => {
    const failing = oracleFeeder(plan).map((step) => ({ ...step, ok: false }));
    expect(pointsOf("timing_regularity", failing)).toBe(0);
  });
});

function officeHours(days: number): readonly Step[] {
  return Array.from({ length: days }, (_, day) =>
    day % 7 > 4 ? [] : repeat(9, HOUR, { at: START + day * DAY + 9 * HOUR }),
  ).flat();
}

function weekends(days: number): readonly Step[] {
  return Array.from({ length: days }, (_, day) =>
    day % 7 > 4 ? repeat(5, 3 * HOUR, { at: START + day * DAY + 8 * HOUR }) : [],
  ).flat();
}

function randomHours(calls: number, days: number): readonly Step[] {
  const random = randomFrom(11);
  return Array.from({ length: calls }, () => ({ at: START + Math.floor(random() * days * DAY) }));
}

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
    const apart = featureOf("counterparty_diversity", measureWallet(rowsOf(callsOf(steps)), AHS_2026_2));
    const together = featureOf("counterparty_diversity", measureWallet(rows, AHS_2026_2));
    expect(apart.value).toBeCloseTo(4, 2);
    // A quarter and three quarters.
    expect(together.value).toBeCloseTo(1.755, 2);
  });

  test("counts accounts without other users for little, and is unused where none has credit", () => {
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
          AHS_2026_2,
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

const calm = repeat(200, 600, { at: START + DAY, to: account(9) });
const failure: Step = { at: START, ok: false };

describe("adaptation", () => {
  test("of a wallet that never fails and pays the market's price is nearly whole", () => {
    const feature = measureFeature("adaptation", calm);
    expect(feature.value).toBeGreaterThan(97);
    expect(feature).toMatchObject({
      reason: null,
      inputs: { repeated_failures: 0, out_of_gas_failures: 0, gas_price_points: 100, counted_share: 1 },
    });
  });

  test("does not count three failures in a row of one call, but every one after them", () => {
    const blindAfter = (failures: number) => blind([...calm, ...repeat(failures, 10, failure)]);
    expect(blindAfter(3)).toBe(0);
    const shares = [4, 5, 10, 40].map(blindAfter);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(new Set(shares).size).toBe(4);
  });

  test("falls with every blind failure", () => {
    const values = [3, 4, 5, 10, 40].map(
      (failures) => measureFeature("adaptation", [...calm, ...repeat(failures, 10, failure)]).value ?? 0,
    );
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(new Set(values).size).toBe(5);
  });

  test("does not count failures of different calls, or with a success between", () => {
    const methods = repeat(12, 10, failure).map((step, i) => ({
      ...step,
      selector: `0x0000000${i % 4}` as const,
    }));
    const broken = repeat(16, 10, failure).map((step, i) => ({ ...step, ok: i % 4 === 3 }));
    expect([blind([...calm, ...methods]), blind([...calm, ...broken])]).toEqual([0, 0]);
  });

  test.each([
    [97_999n, false],
    [98_000n, true],
  ])("a failure that used %d of 100,000 gas ran out of it: %s", (gasUsed, starved) => {
    expect(outOfGas([...calm, { ...failure, gasLimit: 100_000n, gasUsed }]) > 0).toBe(starved);
  });

  test("counts no success that used all of its gas", () => {
    expect(outOfGas([...calm, { at: START, gasUsed: 100_000n }])).toBe(0);
  });

  test.each([
    [150, 100],
    [250, 75],
    [400, 45],
    [800, 10],
    [9_000, 10],
  ])(
    "gives prices of %d percent of the market's %d points, and their share of these if few pay them",
    (percent, points) => {
      const dear = { gasPrice: (GWEI * BigInt(percent)) / 100n };
      expect(prices(calm.map((step) => ({ ...step, ...dear })))).toBeCloseTo(points, 3);
      const some = calm.map((step, i) => (i % 4 === 0 ? { ...step, ...dear } : step));
      expect(Math.abs(prices(some) - (300 + points) / 4)).toBeLessThan(0.5);
    },
  );

  test("forgets what it paid long ago sooner than what it paid of late", () => {
    const long = repeat(200, 6 * HOUR, { at: START, to: account(9) });
    const dear = { gasPrice: 4n * GWEI };
    const early = prices(long.map((step, i) => (i < 100 ? { ...step, ...dear } : step)));
    const late = prices(long.map((step, i) => (i < 100 ? step : { ...step, ...dear })));
    expect(early).toBeGreaterThan(late + 20);
  });

  test("without the market's price is about failures alone", () => {
    const unpriced = calm.map((step) => ({ ...step, gasPrice: 90n * GWEI, marketPrice: null }));
    expect(measureFeature("adaptation", unpriced)).not.toHaveProperty("inputs.gas_price_points");
    expect(measureFeature("adaptation", unpriced).value).toBeGreaterThan(95);
  });

  test("is worth nothing where nothing succeeds", () => {
    expect(pointsOf("adaptation", repeat(100, HOUR, failure))).toBe(0);
  });
});

/** An input of adaptation. */
function figure(steps: readonly Step[], name: string): number {
  const feature = measureFeature("adaptation", steps);
  const found = feature.state === "measured" ? feature.inputs?.[name] : undefined;
  if (found === undefined) throw new Error(`no ${name} in ${JSON.stringify(feature)}`);
  return found;
}

function blind(steps: readonly Step[]): number {
  return figure(steps, "repeated_failures");
}

function outOfGas(steps: readonly Step[]): number {
  return figure(steps, "out_of_gas_failures");
}

function prices(steps: readonly Step[]): number {
  return figure(steps, "gas_price_points");
}

const daily = (days: number) => repeat(days * 4, DAY / 4, { at: START });

describe("consistency", () => {
  test("counts active weeks from Monday to Sunday", () => {
    expect(weeks(daily(7))).toBe(1);
    expect(weeks(daily(14))).toBeCloseTo(2, 2);
    expect(weeks(daily(15))).toBeGreaterThan(2.2);
    expect(weeks(daily(84))).toBeCloseTo(12, 0);
  });

  test("counts weeks by how the evidence is spread: a burst after idle weeks is hardly one more", () => {
    const calls = repeat(240, 90, { at: START + 42 * DAY });
    const burst = calls.map((step, i) => ({ ...step, selector: `0x000000${10 + (i % 10)}` as const }));
    const single = repeat(6, 7 * DAY, { at: START });
    expect(weeks(single)).toBeCloseTo(6, 0);
    expect(weeks([...single, ...burst])).toBeLessThan(3.5);
  });

  test("counts the same weeks whatever failed", () => {
    const failing = daily(84).map((step, i) => ({ ...step, ok: i % 3 > 0 }));
    expect(weeks(failing)).toBe(weeks(daily(84)));
  });

  test("grows with the length of a steady record", () => {
    const scores = [7, 21, 42, 84].map((days) => pointsOf("consistency", daily(days)));
    expect(scores).toEqual(scores.toSorted((a, b) => a - b));
    expect(scores.at(-1)).toBeGreaterThan(90);
  });

  test("falls with idle weeks between active ones", () => {
    const everyFourthWeek = Array.from({ length: 5 }, (_, i) =>
      repeat(28, DAY / 4, { at: START + i * 28 * DAY }),
    ).flat();
    expect(pointsOf("consistency", everyFourthWeek)).toBeLessThan(pointsOf("consistency", daily(84)) - 15);
  });
});

function weeks(steps: readonly Step[]): number {
  return measureFeature("consistency", steps).value ?? Number.NaN;
}
