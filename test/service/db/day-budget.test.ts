import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasRoom, nextDay, secondsLeftOfDay, startOfDay } from "../../../service/db/day-budget.ts";

describe("a budget that owners share", () => {
  it.each([
    ["a newcomer, of the last piece", { ceiling: 100, used: 99, own: 0 }, true],
    ["a newcomer, with nothing left", { ceiling: 100, used: 100, own: 0 }, false],
    ["an owner alone, below half", { ceiling: 100, used: 49, own: 49 }, true],
    ["an owner alone, with half", { ceiling: 100, used: 50, own: 50 }, false],
    ["an owner with as much as is left", { ceiling: 100, used: 80, own: 20 }, false],
    ["a class below its ceiling", { ceiling: 75, used: 74, own: 1 }, false],
  ])("has room for %s: %s", (_, use, expected) => {
    expect(hasRoom(use)).toBe(expected);
  });

  it("leaves each newcomer something, whatever owners before took", () => {
    const takes = fc.array(fc.nat(20), { maxLength: 2_000 });
    fc.assert(
      fc.property(takes, fc.integer({ min: 30, max: 1_000 }), (owners, ceiling) => {
        const had = new Map<number, number>();
        let used = 0;
        for (const owner of owners) {
          const own = had.get(owner) ?? 0;
          if (!hasRoom({ ceiling, used, own })) continue;
          had.set(owner, own + 1);
          used += 1;
          expect(own).toBeLessThanOrEqual(ceiling - used);
        }
        const fresh = hasRoom({ ceiling, used, own: 0 });
        expect(fresh).toBe(used < ceiling);
        if (had.size === 1) expect(used).toBeLessThanOrEqual(Math.ceil(ceiling / 2));
      }),
    );
  });
});

it.each([
  ["2026-11-20T00:00:00.000Z", "2026-11-20T00:00:00.000Z", "2026-11-21T00:00:00.000Z", 86_400],
  ["2026-12-31T23:59:59.999Z", "2026-12-31T00:00:00.000Z", "2027-01-01T00:00:00.000Z", 1],
])("the day of %s is known", (moment, start, next, seconds) => {
  const at = new Date(moment);
  expect([startOfDay(at), nextDay(at), secondsLeftOfDay(at)]).toEqual([
    new Date(start),
    new Date(next),
    seconds,
  ]);
});
