import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { confidenceOf, levelUntil } from "../../../../service/model/score/confidence.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import type { MeasuredWallet } from "../../../../service/model/score/record.ts";
import { DAY, START } from "../features/histories.ts";
import { LAST, measuredWallet } from "./measured.ts";

const RANK = { HIGH: 3, MEDIUM: 2, LOW: 1, INSUFFICIENT: 0 };

describe("the level of a silent wallet", () => {
  test("lasts until the second in which the confidence falls below its bound", () => {
    // 85/100 · 90/100 = 0.765, which falls to 0.75 in 60 · log2(0.765/0.75) days.
    const until = levelUntil(wallet({ weightNanos: 85e9 }), LAST, AHS_2026_1);
    expect(until).not.toBeNull();
    expect(((until ?? 0) - LAST) / DAY).toBeCloseTo(60 * Math.log2(0.765 / 0.75), 2);
  });

  test("is exact to the second, whatever the wallet and the moment", () => {
    const evidence = fc.record({
      weightNanos: fc.integer({ min: 5e9, max: 500e9 }),
      activeWeeks: fc.integer({ min: 1, max: 26 }),
    });
    const moment = fc.integer({ min: LAST, max: LAST + 120 * DAY });
    const from = fc.option(fc.integer({ min: START, max: LAST }));
    fc.assert(
      fc.property(evidence, moment, from, (parts, now, coveredFrom) => {
        const one = wallet(parts, coveredFrom);
        const until = levelUntil(one, now, AHS_2026_1);
        const level = RANK[levelAt(one, now)];
        if (level === 0) {
          expect(until).toBeNull();
          return;
        }
        if (until === null) throw new Error("a level above INSUFFICIENT falls one day");
        expect(until).toBeGreaterThan(now);
        expect(RANK[levelAt(one, until)]).toBeLessThan(level);
        expect(RANK[levelAt(one, until - 1)]).toBeGreaterThanOrEqual(level);
        for (const later of [1, 10, 1_000]) {
          expect(RANK[levelAt(one, until + later * DAY)]).toBeLessThan(level);
        }
      }),
      { numRuns: 300 },
    );
  });
});

function levelAt(one: MeasuredWallet, now: number) {
  return confidenceOf(one, now, AHS_2026_1).level;
}

/** A measured wallet with other evidence; all of its calls covered where no time is given. */
function wallet(
  evidence: Partial<MeasuredWallet["evidence"]> = {},
  coveredFrom: number | null = null,
): MeasuredWallet {
  const whole = measuredWallet();
  const coverage =
    coveredFrom === null
      ? whole.coverage
      : { ...whole.coverage, complete: false, fromTimestamp: coveredFrom };
  return { ...whole, coverage, evidence: { ...whole.evidence, ...evidence } };
}
