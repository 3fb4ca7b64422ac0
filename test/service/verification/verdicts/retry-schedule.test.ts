import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planRetry, RETRY_FOR_MS } from "../../../../service/verification/verdicts/fail-run.ts";

const TRIED = new Date("2026-11-20T10:00:00.000Z");
const msLater = (ms: number) => new Date(TRIED.getTime() + ms);
const plan = (spentMs: number, random = 0.5) =>
  planRetry({ triedAt: TRIED, now: msLater(spentMs) }, () => random);

describe("a run that failed", () => {
  test.each([
    ["at once", 20, 5_020],
    ["after 5 s", 5_000, 10_000],
    ["after 40 s", 40_000, 80_000],
    ["after half an hour, when the waits have their longest", 1_800_000, 2_400_000],
    ["with less than a wait left, when its hour is over", 3_500_000, 3_600_000],
  ])("%s is tried again", (_, spentMs, atMs) => {
    expect(plan(spentMs)).toEqual(msLater(atMs));
  });

  test.each([RETRY_FOR_MS, RETRY_FOR_MS + 1])("is over %i ms after its first try", (spentMs) => {
    expect(plan(spentMs)).toBeNull();
  });

  test("waits a fifth more or less by chance", () => {
    expect(plan(40_000, 0)).toEqual(msLater(72_000));
    expect(plan(40_000, 0.999_999)).toEqual(msLater(88_000));
  });

  test("is tried later than now, never past its hour, and at most 25 times in it", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(2_000), (random, tryMs) => {
        let spentMs = 0;
        for (let tries = 1; ; tries += 1) {
          expect(tries).toBeLessThanOrEqual(25);
          spentMs += tryMs;
          const next = plan(spentMs, random);
          if (next === null) return;
          const atMs = next.getTime() - TRIED.getTime();
          expect(atMs).toBeGreaterThan(spentMs);
          expect(atMs).toBeLessThanOrEqual(RETRY_FOR_MS);
          spentMs = atMs;
        }
      }),
    );
  });
});
