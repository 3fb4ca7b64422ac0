import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { confidenceOf, levelUntil } from "../../../../service/model/score/confidence.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { Feature, Grade, MeasuredWallet } from "../../../../service/model/score/record.ts";
import { DAY, START } from "../features/histories.ts";
import { LAST, measuredWallet } from "./measured.ts";

describe("confidence", () => {
  test("is the product of evidence, duration, freshness, coverage and what is measured", () => {
    // 39/(39+13) · 90/(90+10) · 1 · 1 · 1
    expect(confidenceAt(measuredWallet(), LAST)).toEqual({
      ...{ micros: 675_000, level: "MEDIUM", missing: null },
    });
  });

  test.each([
    ["halves in 60 idle days", {}, LAST + 60 * DAY, 337_500, "LOW"],
    ["is HIGH from 0.75", { creditedNanos: 65e9 }, LAST, 750_000, "HIGH"],
    ["counts seven days for each active week", { activeWeeks: 10 }, LAST, 656_250, "MEDIUM"],
    ["is insufficient below 0.20", {}, LAST + 120 * DAY, 168_750, "INSUFFICIENT"],
    ["is insufficient with nine calls, whatever they weigh", { ownCalls: 9 }, LAST, 199_000, "INSUFFICIENT"],
    ["is insufficient with a weight below five", { creditedNanos: 4.9e9 }, LAST, 199_000, "INSUFFICIENT"],
    ["is insufficient for less than two weeks", { activeWeeks: 1.9 }, LAST, 199_000, "INSUFFICIENT"],
    [
      "falls with the square of a credited share below 0.3",
      { creditedShare: 0.15 },
      LAST,
      168_750,
      "INSUFFICIENT",
    ],
    ["does not fall with a ring of up to 0.4", { ringShare: 0.4 }, LAST, 675_000, "MEDIUM"],
    ["falls with the square of what no ring takes", { ringShare: 0.65 }, LAST, 168_750, "INSUFFICIENT"],
    ["is nothing for a ring of 0.9", { ringShare: 0.9 }, LAST, 0, "INSUFFICIENT"],
    [
      "does not count failures of a grade that failures do not support",
      { failableNanos: 900e9 },
      LAST,
      675_000,
      "MEDIUM",
    ],
    [
      "is nothing without a call",
      { ownCalls: 0, creditedNanos: 0, firstCallAt: null, lastCallAt: null },
      LAST,
      0,
      "INSUFFICIENT",
    ],
  ] as const)("%s", (_, evidence, now, micros, level) => {
    expect(confidenceAt(wallet(evidence), now)).toMatchObject({ micros, level });
  });

  test.each([
    ["no call", { ownCalls: 0, firstCallAt: null, lastCallAt: null }, 0, "it made no call in the window"],
    ["calls", { ownCalls: 9 }, 0, "it made 9 of the 10 calls that a grade needs"],
    [
      "credit",
      { creditedNanos: 4.99e9 },
      0,
      "its calls count as 4.9 with independent parties, and a grade needs 5",
    ],
    ["days", { firstCallAt: LAST - 13.99 * DAY }, 0, "its calls span 13.9 days, and a grade needs 14"],
    [
      "weeks",
      { activeWeeks: 1.9 },
      0,
      "its calls fall into few weeks, which count as 13.3 days, and a grade needs 14",
    ],
    [
      "recent calls",
      {},
      120,
      "confidence is 16%, and a grade needs 20%: its last call was 120 days before the block of the score",
    ],
    [
      "independent parties",
      { creditedShare: 0.15 },
      0,
      "confidence is 16%, and a grade needs 20%: only 15% of its activity counts as with independent parties",
    ],
    [
      "a way out of the ring",
      { ringShare: 0.65 },
      0,
      "confidence is 16%, and a grade needs 20%: 65% of its activity goes round within its owner's accounts",
    ],
  ] as const)("names what is missing: %s", (_, evidence, idleDays, missing) => {
    const said = confidenceAt(wallet(evidence), LAST + idleDays * DAY);
    expect(said).toMatchObject({ level: "INSUFFICIENT", missing });
  });

  test("names what is missing for a grade, and nothing where there is one", () => {
    const evidence = fc.record({
      ownCalls: fc.integer({ min: 0, max: 40 }),
      creditedNanos: fc.integer({ min: 0, max: 90e9 }),
      activeWeeks: fc.integer({ min: 1, max: 26 }),
      creditedShare: fc.double({ min: 0, max: 1, noNaN: true }),
      ringShare: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(
        evidence,
        fc.integer({ min: 0, max: 300 }),
        fc.constantFrom("B", "F"),
        (given, idle, grade) => {
          const { level, missing } = confidenceAt(wallet(given), LAST + idle * DAY, grade);
          expect(missing === null).toBe(level !== "INSUFFICIENT");
          const { minOwnCalls } = AHS_2026_2.confidence;
          expect(missing?.includes("of the 10 calls") ?? false).toBe(given.ownCalls < minOwnCalls);
        },
      ),
    );
  });

  test("in grade E or F counts failures, from any target, in any ring and within days", () => {
    const evidence = {
      ...measuredWallet().evidence,
      creditedNanos: 0,
      creditedShare: 0,
      ringShare: 1,
      activeWeeks: 1,
      firstCallAt: LAST - 3 * DAY,
    };
    // 39/(39+13) · 3/(3+3)
    const failing = measuredWallet({ evidence });
    for (const grade of ["E", "F"] as const)
      expect(confidenceAt(failing, LAST, grade)).toMatchObject({ micros: 375_000, level: "LOW" });
    expect(confidenceAt(failing, LAST, "D").level).toBe("INSUFFICIENT");
  });

  test("falls with the weight that is not indexed, but not with what the wallet cannot have", () => {
    const without = (name: string, state: "unknown" | "not_applicable") =>
      measuredWallet({
        features: measuredWallet().features.map(
          (feature): Feature =>
            feature.name === name
              ? { name, state, value: null, scoreMicros: null, samples: 0, reason: "" }
              : feature,
        ),
      });
    const percent =
      AHS_2026_2.features.find(({ name }) => name === "adaptation")?.weightPercent ?? Number.NaN;
    // Of a D2 that is 0.70 of all.
    const left = Math.round(675_000 * (1 - (0.7 * percent) / 100));
    expect(confidenceAt(without("adaptation", "unknown"), LAST).micros).toBe(left);
    expect(confidenceAt(without("adaptation", "not_applicable"), LAST).micros).toBe(675_000);
  });

  test.each([
    ["the covered part of the time since the chain began", START, START + 50 * DAY, 337_500],
    ["the covered part of the window where the chain is older", null, START + 10 * DAY, 337_500],
    ["nothing lost where the window starts later", null, LAST - 200 * DAY, 675_000],
  ])("falls to %s", (_, chainStartTimestamp, fromTimestamp, micros) => {
    const coverage = { ...measuredWallet().coverage, complete: false, fromTimestamp };
    expect(confidenceAt(measuredWallet({ coverage, chainStartTimestamp }), LAST).micros).toBe(micros);
  });
});

const RANK = { HIGH: 3, MEDIUM: 2, LOW: 1, INSUFFICIENT: 0 };

describe("the level of a silent wallet", () => {
  test("lasts until the second in which the confidence falls below its bound", () => {
    // 117/(117+13) · 90/100 = 0.81, which falls to 0.75 in 60 · log2(0.81/0.75) days.
    const until = levelUntil(wallet({ creditedNanos: 117e9 }), { grade: "B", now: LAST }, AHS_2026_2);
    expect(until).not.toBeNull();
    expect(((until ?? 0) - LAST) / DAY).toBeCloseTo(60 * Math.log2(0.81 / 0.75), 2);
  });

  test("is exact to the second, whatever the wallet and the moment", () => {
    const evidence = fc.record({
      creditedNanos: fc.integer({ min: 5e9, max: 500e9 }),
      activeWeeks: fc.integer({ min: 1, max: 26 }),
    });
    const moment = fc.integer({ min: LAST, max: LAST + 120 * DAY });
    const from = fc.option(fc.integer({ min: START, max: LAST }));
    fc.assert(
      fc.property(evidence, moment, from, (parts, now, coveredFrom) => {
        const one = wallet(parts, coveredFrom);
        const until = levelUntil(one, { grade: "B", now }, AHS_2026_2);
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
  return confidenceAt(one, now).level;
}

function confidenceAt(one: MeasuredWallet, now: number, grade: Grade = "B") {
  return confidenceOf(one, { grade, now }, AHS_2026_2);
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
