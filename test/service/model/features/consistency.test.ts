import { describe, expect, test } from "vitest";
import { DAY, START } from "./histories.ts";
import { measureFeature, pointsOf, repeat } from "./measured.ts";

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
