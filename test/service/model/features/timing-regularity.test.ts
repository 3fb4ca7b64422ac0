import { describe, expect, test } from "vitest";
import { oracleFeeder, weeklyPayroll } from "./archetypes.ts";
import { DAY, HOUR, randomFrom, START, type Step } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

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
