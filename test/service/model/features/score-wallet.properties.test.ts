import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addressesOf,
  describeCounterparties,
} from "../../../../service/model/features/describe-counterparties.ts";
import { createMarket } from "../../../../service/model/features/market.ts";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import { dayOf } from "../../../../service/model/features/time.ts";
import type { OwnCall, SanctionsFlag, WalletRows } from "../../../../service/model/features/types.ts";
import { weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { ScoreRecord } from "../../../../service/model/score/record.ts";
import { anyRows } from "./arbitrary-histories.ts";
import { diverseTrader } from "./archetypes.ts";
import { contact, factsOf, graphOf, question } from "./contacts.ts";
import { account, asOfLast, asOfTime, callsOf, DAY, rowsOf, START, WALLET } from "./histories.ts";
import { type OneMoreCall, oneMoreCall } from "./long-histories.ts";

const LISTED: SanctionsFlag = {
  source: "chainalysis-oracle",
  reference: `0x${"cd".repeat(32)}`,
  detected_at: "2026-03-01T00:00:00.000Z",
};

describe("any history", () => {
  test("gives scores from 0 to 100, the grade of the score, and a confidence from 0 to 1", () => {
    check(anyRows, (rows) => {
      const { outcome, confidenceMicros, confidenceLevel, levelUntil } = score(rows);
      expect(confidenceMicros).toBeGreaterThanOrEqual(0);
      expect(confidenceMicros).toBeLessThanOrEqual(1_000_000);
      expect(outcome.kind === "insufficient").toBe(confidenceLevel === "INSUFFICIENT");
      expect(levelUntil === null).toBe(outcome.kind === "insufficient");
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
    const flags = [LISTED, { ...LISTED, source: "ofac-sdn" } as const, { ...LISTED, reference: "SDN 1" }];
    const shuffled = anyRows.chain((rows) =>
      fc.record({
        listed: fc.boolean(),
        rows: fc.constant(rows),
        calls: shuffle(rows.calls),
        counterparties: shuffle(rows.counterparties),
        approvals: rows.approvals === null ? fc.constant(null) : shuffle(rows.approvals),
        tokens: shuffle(rows.tokens.tokens),
        sanctions: shuffle(flags),
        sources: shuffle(["index", "otterscan", "explorer"]),
      }),
    );
    check(shuffled, ({ rows, listed, tokens, sanctions, sources, ...lists }) => {
      const asOf = asOfLast(rows.calls);
      const given = {
        ...rows,
        sanctions: listed ? flags : [],
        coverage: { ...rows.coverage, sources: sources.toSorted() },
      };
      const mixed = {
        ...rows,
        ...lists,
        calls: lists.calls.map(shuffleLogs),
        tokens: { ...rows.tokens, tokens },
        sanctions: listed ? sanctions : [],
        coverage: { ...rows.coverage, sources },
      };
      expect(json(scoreWallet({ rows: mixed, asOf, policy: AHS_2026_2 }))).toBe(
        json(scoreWallet({ rows: given, asOf, policy: AHS_2026_2 })),
      );
    });
  });

  test("is explained: contributions add up to a hundred times each score", () => {
    check(fc.tuple(anyRows, fc.boolean()), ([rows, listed]) => {
      const record = score({ ...rows, sanctions: listed ? [LISTED] : [] });
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
    check(fc.tuple(anyRows, fc.nat()), ([rows, pick]) => {
      const chosen = rows.calls[pick % rows.calls.length];
      const calls = rows.calls.map((call) => (call === chosen ? { ...call, ok: false } : call));
      expectNoHigher(unchecked({ ...rows, calls }), unchecked(rows));
      expectNoSurer(score({ ...rows, calls }), score(rows));
    });
  });

  test("is no surer of the same grade, or a better one, with one call failed that succeeded and left its logs", () => {
    check(fc.tuple(oneMoreCall, fc.nat()), ([{ before: rows }, pick]) => {
      // A trade that fails undoes no other one, and what is behind a contract without credit is known by its logs alone.
      const chosen = rows.calls[pick % rows.calls.length];
      fc.pre(chosen !== undefined && (chosen.receipt === null || chosen.receipt.moves.length < 2));
      const calls = rows.calls.map((call) => (call === chosen ? revert(call) : call));
      expectNoHigher(unchecked({ ...rows, calls }), unchecked(rows));
      expectNoSurer(score({ ...rows, calls }), score(rows));
    });
  });

  test("is surer by less than a hundredth where such a call was all that its logs showed", () => {
    check(fc.tuple(anyRows, fc.nat()), ([rows, pick]) => {
      const chosen = rows.calls[pick % rows.calls.length];
      const calls = rows.calls.map((call) => (call === chosen ? revert(call) : call));
      expectNoSurer(score({ ...rows, calls }), score(rows), 10_000);
    });
  });

  test("is no surer of the same grade, or a better one, with calls failed that succeeded", () => {
    check(
      fc.tuple(oneMoreCall, fc.infiniteStream(fc.nat({ max: 9 })), fc.integer({ min: 1, max: 10 })),
      (given) => {
        const [{ before: rows }, draws, failing] = given;
        const calls = rows.calls.map((call) => (nextOf(draws) < failing ? { ...call, ok: false } : call));
        expectNoSurer(score({ ...rows, calls }), score(rows));
        expectNoHigher(unchecked({ ...rows, calls }), unchecked(rows));
      },
    );
  });

  test("of a hundred calls moves by five points at most with one more call in 99 of 100, where its credited attempts weigh 40 calls", () => {
    const enough = oneMoreCall.filter(({ before }) => creditOf(before) >= 40e9);
    const moves = fc.sample(enough, 400).map(moved);
    expect(moves.filter((points) => points > 5).length).toBeLessThanOrEqual(4);
  });

  test("of a hundred calls, however little most of them count, moves by a grade at most with one more", () => {
    check(oneMoreCall, (histories) => {
      expect(moved(histories)).toBeLessThanOrEqual(15);
    });
  });

  test("never scores higher as a good history turns bad call by call, from its end to its beginning", () => {
    let rows = rowsOf(callsOf(diverseTrader({ days: 40, seed: 7 })));
    let before = unchecked(rows);
    for (let position = rows.calls.length - 1; position >= 0; position--) {
      const calls = rows.calls.map((call, index) => (index === position ? { ...call, ok: false } : call));
      rows = { ...rows, calls };
      const after = unchecked(rows);
      expectNoHigher(after, before);
      before = after;
    }
  });

  test("never scores higher with a failure left unrecovered", () => {
    check(fc.tuple(anyRows, fc.nat()), ([rows, pick]) => {
      fc.pre(busiestDay(rows.calls) <= 24);
      const recoveries = rows.calls.filter((call, position) => recovers(rows.calls, call, position));
      fc.pre(recoveries.length > 0);
      const chosen = recoveries[pick % recoveries.length];
      // The same call to another method of the same contract: everything but the recovery stays.
      const calls = rows.calls.map((call) =>
        call === chosen ? { ...call, selector: "0xffffffff" as const } : call,
      );
      expectNoHigher(unchecked({ ...rows, calls }), unchecked(rows));
    });
  });

  test("never scores higher on a sanctions list: D1 and the total are 0, F, with full confidence", () => {
    check(anyRows, (rows) => {
      const record = score({ ...rows, sanctions: [LISTED] });
      expect(record).toMatchObject({
        outcome: { kind: "scored", ahsScore: 0, d1Score: 0, grade: "F" },
        confidenceMicros: 1_000_000,
        confidenceLevel: "HIGH",
        levelUntil: null,
      });
      const clean = score(rows);
      if (clean.outcome.kind === "scored" && record.outcome.kind === "scored") {
        expect(record.outcome.d2Score).toBe(clean.outcome.d2Score);
      }
    });
  });

  test("never scores higher where a counterparty is on a list", () => {
    check(fc.tuple(anyRows, fc.nat()), ([rows, pick]) => {
      fc.pre(rows.counterparties.length > 0);
      const chosen = rows.counterparties[pick % rows.counterparties.length];
      const listed = rows.counterparties.map((one) =>
        one === chosen ? { ...one, flag: "mixer" as const } : one,
      );
      expectNoHigher(unchecked({ ...rows, counterparties: listed }), unchecked(rows));
    });
  });

  test("keeps its scores in silence, while confidence falls", () => {
    check(fc.tuple(anyRows, fc.integer({ min: 1, max: 900 })), ([rows, days]) => {
      const now = score(rows);
      const at = asOfLast(rows.calls).timestamp + days * DAY;
      const later = scoreWallet({ rows, asOf: asOfTime(at), policy: AHS_2026_2 });
      expect(later.confidenceMicros).toBeLessThanOrEqual(now.confidenceMicros);
      expect(later.patterns).toEqual(now.patterns);
      if (now.levelUntil !== null) {
        expect(later.confidenceLevel === now.confidenceLevel).toBe(at < now.levelUntil);
      }
      if (later.outcome.kind === "insufficient") return;
      expect(later.outcome).toEqual(now.outcome);
      expect(later.features).toEqual(now.features);
    });
  });
});

test("strangers change nothing: spam tokens, dust, a large gift and calls to the wallet leave the record as it was", () => {
  const calls = callsOf(diverseTrader({ days: 60, seed: 3 }));
  const addresses = addressesOf(calls, []);
  const users = Array.from({ length: 8 }, (_, i) => account(7000 + i));
  const ordinary = [...addresses].flatMap((address) => [
    contact(WALLET, address, { firstTime: START }),
    ...users.map((user) => contact(user, address, { lastTime: START + 59 * DAY })),
  ]);
  const elsewhere = users.map((user) => contact(user, account(8000), { calls: 900 }));
  const strangers = Array.from({ length: 1_060 }, (_, i) =>
    contact(account(9000 + i), WALLET, { calls: i % 2, sentMicroUsd: i === 7 ? 10n ** 12n : 1n }),
  );
  const facts = factsOf(
    [...addresses].map((address) => ({ address, hasCode: true, creator: account(6000) })),
  );
  const record = (contacts: Parameters<typeof graphOf>[0]) => {
    const graph = graphOf(contacts);
    const counterparties = describeCounterparties(question([...addresses], { graph, facts }));
    return json(score(rowsOf(calls, { counterparties })));
  };
  const before = record([...ordinary, ...elsewhere]);
  expect(before).toContain('"kind":"scored"');
  expect(record([...ordinary, ...elsewhere, ...strangers])).toBe(before);
});

/** Points that one more call within a day moves the score by; 0 unless there is a score both before and after. */
function moved({ before, after }: OneMoreCall): number {
  const [one, other] = [score(before).outcome, score(after).outcome];
  if (one.kind === "insufficient" || other.kind === "insufficient") return 0;
  return Math.abs(one.ahsScore - other.ahsScore);
}

/** Weight of what a wallet tried by what credit its counterparties have, in billionths of a call. */
function creditOf(rows: WalletRows): number {
  return weighCalls(rows, createMarket(rows.tokens), AHS_2026_2).attempted;
}

function nextOf(stream: Iterator<number>): number {
  const { value } = stream.next();
  return value;
}

/** A record whatever the evidence, so that the properties of scores hold for short histories too. */
function unchecked(rows: WalletRows): ScoreRecord {
  const { confidence } = AHS_2026_2;
  const least = { low: 0, minOwnCalls: 0, minWeight: 0, minDays: 0 };
  const policy = { ...AHS_2026_2, confidence: { ...confidence, ...least } };
  return scoreWallet({ rows, asOf: asOfLast(rows.calls), policy });
}

function score(rows: WalletRows): ScoreRecord {
  return scoreWallet({ rows, asOf: asOfLast(rows.calls), policy: AHS_2026_2 });
}

function expectNoHigher(worse: ScoreRecord, better: ScoreRecord): void {
  expect(worse.outcome.kind).toBe(better.outcome.kind);
  expectNoSurer(worse, better);
  if (worse.outcome.kind === "insufficient" || better.outcome.kind === "insufficient") return;
  expect(worse.outcome.ahsScore).toBeLessThanOrEqual(better.outcome.ahsScore);
  expect(unrounded(worse, "d1")).toBeLessThanOrEqual(unrounded(better, "d1"));
  expect(unrounded(worse, "d2")).toBeLessThanOrEqual(unrounded(better, "d2"));
}

/** The confidence in the same grade, or a better one, is no higher; a grade that was not said is taken for a D. */
function expectNoSurer(worse: ScoreRecord, better: ScoreRecord, tolerance = 0): void {
  if (worse.outcome.kind === "insufficient") return;
  if (worse.outcome.grade > (better.outcome.kind === "scored" ? better.outcome.grade : "D")) return;
  expect(worse.confidenceMicros).toBeLessThanOrEqual(better.confidenceMicros + tolerance);
}

/** The call as the chain shows it if it fails: without effects and logs. */
function revert(call: OwnCall): OwnCall {
  const { receipt } = call;
  if (receipt === null) return { ...call, ok: false };
  return { ...call, ok: false, receipt: { ...receipt, effect: "none", emitters: [], moves: [] } };
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
  // A call without a method is a payment, which another method is not.
  return call.ok && call.selector !== null && before !== undefined && !before.ok;
}

function busiestDay(calls: readonly OwnCall[]): number {
  const counts = new Map<number, number>();
  for (const { timestamp } of calls) counts.set(dayOf(timestamp), (counts.get(dayOf(timestamp)) ?? 0) + 1);
  return Math.max(...counts.values());
}

function shuffle<T>(list: readonly T[]): fc.Arbitrary<readonly T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length });
}

/** The contracts of a call's logs the other way round. */
function shuffleLogs(call: OwnCall): OwnCall {
  if (call.receipt === null) return call;
  return { ...call, receipt: { ...call.receipt, emitters: call.receipt.emitters.toReversed() } };
}

function json(record: ScoreRecord): string {
  return JSON.stringify(record);
}

function check<T>(arbitrary: fc.Arbitrary<T>, holds: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, holds), { numRuns: 200 });
}
