import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scoreWallet } from "../../../service/features/score-wallet.ts";
import { dayOf } from "../../../service/features/time.ts";
import type { OwnCall, SanctionsFlag } from "../../../service/features/types.ts";
import { AHS_2026_0 } from "../../../service/score/policy.ts";
import type { ScoreRecord } from "../../../service/score/record.ts";
import { anyHistory } from "./arbitrary-histories.ts";
import { diverseTrader } from "./archetypes.ts";
import { asOfLast, asOfTime, callsOf, DAY, rowsOf } from "./histories.ts";

const LISTED: SanctionsFlag = {
  source: "chainalysis-oracle",
  reference: `0x${"cd".repeat(32)}`,
  detected_at: "2026-03-01T00:00:00.000Z",
};

describe("any history", () => {
  test("gives scores from 0 to 100, the grade of the score, and a confidence from 0 to 1", () => {
    check(anyHistory, (calls) => {
      const { outcome, confidenceMicros, confidenceLevel } = score(calls);
      expect(confidenceMicros).toBeGreaterThanOrEqual(0);
      expect(confidenceMicros).toBeLessThanOrEqual(1_000_000);
      expect(outcome.kind === "insufficient").toBe(confidenceLevel === "INSUFFICIENT");
      if (outcome.kind === "insufficient") {
        expect(confidenceMicros).toBeLessThan(200_000);
        return;
      }
      for (const points of [outcome.ahsScore, outcome.d1Score, outcome.d2Score]) {
        expect(points).toSatisfy((n: number) => Number.isInteger(n) && n >= 0 && n <= 100);
      }
    });
  });

  test("gives the same bytes in whatever order its rows come", () => {
    const shuffled = anyHistory.chain((calls) =>
      fc.tuple(fc.constant(calls), fc.shuffledSubarray([...calls], { minLength: calls.length })),
    );
    check(shuffled, ([calls, mixed]) => {
      const asOf = asOfLast(calls);
      expect(json(scoreWallet({ rows: rowsOf(mixed), asOf, policy: AHS_2026_0 }))).toBe(
        json(scoreWallet({ rows: rowsOf(calls), asOf, policy: AHS_2026_0 })),
      );
    });
  });

  test("is explained: contributions add up to a hundred times each score", () => {
    check(fc.tuple(anyHistory, fc.boolean()), ([calls, listed]) => {
      const record = score(calls, { sanctions: listed ? [LISTED] : [] });
      if (record.outcome.kind === "insufficient") {
        expect(record.features.every((line) => line.contribution === null)).toBe(true);
        return;
      }
      expect(sumOf(record, "D1")).toBe(100 * record.outcome.d1Score);
      expect(sumOf(record, "D2")).toBe(100 * record.outcome.d2Score);
      expect(sumOf(record, "AHS")).toBe(100 * record.outcome.ahsScore);
    });
  });

  test("never scores higher with one call failed that succeeded", () => {
    const flipped = fc.tuple(anyHistory, fc.nat());
    check(flipped, ([calls, pick]) => {
      const chosen = calls[pick % calls.length];
      const failed = calls.map((call) => (call === chosen ? { ...call, ok: false } : call));
      expectNoHigher(unchecked(failed), unchecked(calls));
    });
  });

  test("never scores higher as a good history turns bad call by call, from its end to its beginning", () => {
    let calls = callsOf(diverseTrader({ days: 40, seed: 7 }));
    let before = unchecked(calls);
    for (let position = calls.length - 1; position >= 0; position--) {
      calls = calls.map((call, index) => (index === position ? { ...call, ok: false } : call));
      const after = unchecked(calls);
      expectNoHigher(after, before);
      before = after;
    }
  });

  test("never scores higher with a failure left unrecovered", () => {
    check(fc.tuple(anyHistory, fc.nat()), ([calls, pick]) => {
      fc.pre(busiestDay(calls) <= 24);
      const recoveries = calls.filter((call, position) => recovers(calls, call, position));
      fc.pre(recoveries.length > 0);
      const chosen = recoveries[pick % recoveries.length];
      // The same call to another method of the same contract: everything but the recovery stays.
      const unrecovered = calls.map((call) =>
        call === chosen ? { ...call, selector: "0xffffffff" as const } : call,
      );
      expectNoHigher(unchecked(unrecovered), unchecked(calls));
    });
  });

  test("never scores higher on a sanctions list: D1 and the total are 0, F, with full confidence", () => {
    check(anyHistory, (calls) => {
      const record = score(calls, { sanctions: [LISTED] });
      expect(record).toMatchObject({
        outcome: { kind: "scored", ahsScore: 0, d1Score: 0, grade: "F" },
        confidenceMicros: 1_000_000,
        confidenceLevel: "HIGH",
      });
      const clean = score(calls);
      if (clean.outcome.kind === "scored" && record.outcome.kind === "scored") {
        expect(record.outcome.d2Score).toBe(clean.outcome.d2Score);
      }
    });
  });

  test("keeps its scores in silence, while confidence falls", () => {
    check(fc.tuple(anyHistory, fc.integer({ min: 1, max: 900 })), ([calls, days]) => {
      const now = score(calls);
      const later = scoreWallet({
        rows: rowsOf(calls),
        asOf: asOfTime(asOfLast(calls).timestamp + days * DAY),
        policy: AHS_2026_0,
      });
      expect(later.confidenceMicros).toBeLessThanOrEqual(now.confidenceMicros);
      expect(later.patterns).toEqual(now.patterns);
      if (later.outcome.kind === "insufficient") return;
      expect(later.outcome).toEqual(now.outcome);
      expect(later.features).toEqual(now.features);
    });
  });
});

/** A record whatever the evidence, so that the properties of scores hold for short histories too. */
function unchecked(calls: readonly OwnCall[]): ScoreRecord {
  const { confidence } = AHS_2026_0;
  const policy = { ...AHS_2026_0, confidence: { ...confidence, low: 0, minOwnCalls: 0, minWeight: 0 } };
  return scoreWallet({ rows: rowsOf(calls), asOf: asOfLast(calls), policy });
}

function score(calls: readonly OwnCall[], parts: { sanctions?: readonly SanctionsFlag[] } = {}): ScoreRecord {
  return scoreWallet({ rows: rowsOf(calls, parts), asOf: asOfLast(calls), policy: AHS_2026_0 });
}

function expectNoHigher(worse: ScoreRecord, better: ScoreRecord): void {
  expect(worse.outcome.kind).toBe(better.outcome.kind);
  if (worse.outcome.kind === "insufficient" || better.outcome.kind === "insufficient") return;
  expect(worse.outcome.ahsScore).toBeLessThanOrEqual(better.outcome.ahsScore);
  expect(unrounded(worse, "d1")).toBeLessThanOrEqual(unrounded(better, "d1"));
  expect(unrounded(worse, "d2")).toBeLessThanOrEqual(unrounded(better, "d2"));
}

function unrounded(record: ScoreRecord, name: string): number {
  const line = record.features.find((feature) => feature.dimension === "AHS" && feature.name === name);
  return line?.score ?? Number.NaN;
}

function sumOf(record: ScoreRecord, dimension: string): number {
  return record.features
    .filter((line) => line.dimension === dimension)
    .reduce((sum, line) => sum + (line.contribution ?? 0), 0);
}

function recovers(calls: readonly OwnCall[], call: OwnCall, position: number): boolean {
  const before = calls
    .slice(0, position)
    .findLast((other) => other.to === call.to && other.selector === call.selector);
  return call.ok && before !== undefined && !before.ok;
}

function busiestDay(calls: readonly OwnCall[]): number {
  const counts = new Map<number, number>();
  for (const { timestamp } of calls) counts.set(dayOf(timestamp), (counts.get(dayOf(timestamp)) ?? 0) + 1);
  return Math.max(...counts.values());
}

function json(record: ScoreRecord): string {
  return JSON.stringify(record);
}

function check<T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, holds), { numRuns: 300 });
}
