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
  test("of a wallet that never fails and pays the market's price is whole", () => {
    expect(measureFeature("adaptation", calm)).toMatchObject({
      value: 100,
      reason: "blind 0, out of gas 0, overpay 1; 100 points, 93.051 shrunk by n_q 47.558, gate 1",
    });
  });

  test("does not count three failures in a row of one call, but every one after them", () => {
    const pointsAfter = (failures: number) =>
      measureFeature("adaptation", [...calm, ...repeat(failures, 10, failure)]).value;
    expect(pointsAfter(3)).toBe(100);
    const values = [4, 5, 10, 40].map(pointsAfter);
    expect(values).toEqual(values.toSorted((a, b) => (b ?? 0) - (a ?? 0)));
    expect(new Set(values).size).toBe(4);
  });

  test("does not count failures of different calls, or with a success between", () => {
    const methods = repeat(12, 10, failure).map((step, i) => ({
      ...step,
      selector: `0x0000000${i % 4}` as const,
    }));
    const broken = repeat(16, 10, failure).map((step, i) => ({ ...step, ok: i % 4 === 3 }));
    expect(measureFeature("adaptation", [...calm, ...methods]).value).toBe(100);
    expect(measureFeature("adaptation", [...calm, ...broken]).value).toBe(100);
  });

  test.each([
    [97_999n, 100],
    [98_000n, null],
  ])("a failure that used %d of 100,000 gas ran out of it: %s", (gasUsed, points) => {
    const { value } = measureFeature("adaptation", [...calm, { ...failure, gasLimit: 100_000n, gasUsed }]);
    if (points === null) expect(value).toBeLessThan(98);
    else expect(value).toBe(points);
  });

  test("counts no success that used all of its gas", () => {
    expect(measureFeature("adaptation", [...calm, { at: START, gasUsed: 100_000n }]).value).toBe(100);
  });

  test.each([
    [150, 100],
    [250, 75],
    [400, 45],
    [800, 10],
    [9_000, 10],
  ])("is %d %% of the market's price, in the median, %d points", (percent, points) => {
    const dear = { gasPrice: (GWEI * BigInt(percent)) / 100n };
    const steps = calm.map((step, i) => (i % 5 < 3 ? { ...step, ...dear } : step));
    expect(measureFeature("adaptation", steps).value).toBe(points);
    const seldom = calm.map((step, i) => (i % 5 < 2 ? { ...step, ...dear } : step));
    expect(measureFeature("adaptation", seldom).value).toBe(100);
  });

  test("without the market's price is about failures alone, and says so", () => {
    const unpriced = calm.map((step) => ({ ...step, gasPrice: 90n * GWEI, marketPrice: null }));
    expect(measureFeature("adaptation", unpriced)).toMatchObject({
      state: "measured",
      value: 100,
      reason: expect.stringContaining("overpay unknown: no block tells what the market paid"),
    });
  });

  test("is worth nothing where nothing succeeds", () => {
    expect(pointsOf("adaptation", repeat(100, HOUR, failure))).toBe(0);
  });
});

const daily = (days: number) => repeat(days * 4, DAY / 4, { at: START });

describe("consistency", () => {
  test("counts active weeks from Monday to Sunday", () => {
    expect(measureFeature("consistency", daily(14))).toMatchObject({ value: 2 });
    expect(measureFeature("consistency", daily(15))).toMatchObject({ value: 3 });
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

  test("is half the worst third of the weeks: bad weeks do not hide among good ones", () => {
    const badWeeks = (step: { at: number }) => Math.floor((step.at - START) / DAY / 7) % 6 === 2;
    const spotted = daily(84).map((step, i) => ({ ...step, ok: !badWeeks(step) || i % 2 === 0 }));
    const spread = daily(84).map((step, i) => ({ ...step, ok: i % 12 !== 0 }));
    expect(spotted.filter((step) => !step.ok).length).toBe(spread.filter((step) => !step.ok).length);
    expect(pointsOf("consistency", spotted)).toBeLessThan(pointsOf("consistency", spread) - 5);
  });
});
