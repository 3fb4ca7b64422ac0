import { describe, expect, test } from "vitest";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { OwnerLink, WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { ScoreRecord } from "../../../../service/model/score/record.ts";
import {
  alwaysFailing,
  dirtyRows,
  diverseTrader,
  escrowWorker,
  flaky,
  gasWarrior,
  halfFailing,
  keeper,
  oracleFeeder,
  paymentAgent,
  recovering,
  retryStormer,
  staleKeeper,
  weeklyPayroll,
} from "./archetypes.ts";
import {
  account,
  asOfLast,
  asOfTime,
  callsOf,
  DAY,
  HOUR,
  payment,
  rowsOf,
  START,
  type Step,
  USDC,
  WALLET,
  withFacts,
} from "./histories.ts";
import { repeat } from "./measured.ts";

const SEEDS = [1, 2, 3];

describe.each([
  ["a keeper with a call every four minutes", keeper],
  ["a diverse trader", diverseTrader],
  ["a payment agent of one token", paymentAgent],
  ["an escrow worker", escrowWorker],
  ["an oracle feeder", oracleFeeder],
  ["a weekly payroll", weeklyPayroll],
])("%s", (_, archetype) => {
  test.each(SEEDS)("is B or better with high confidence after 90 days (%d)", (seed) => {
    const { outcome, confidenceLevel, patterns } = score(archetype({ days: 90, seed }));
    expect(outcome.kind === "scored" && ["A", "B"].includes(outcome.grade)).toBe(true);
    expect(confidenceLevel).toBe("HIGH");
    expect(patterns.filter(({ effect }) => effect < 0)).toEqual([]);
  });

  test("has a confidence under 0.2 after two idle years, and is not scored", () => {
    const steps = archetype({ days: 90, seed: 1 });
    const record = score(steps, START + 820 * DAY);
    expect(record.confidenceMicros).toBeLessThan(200_000);
    expect(record.outcome).toEqual({ kind: "insufficient" });
  });

  test("that then fails for two weeks is F, or E after its good record", () => {
    const good = archetype({ days: 76, seed: 1 });
    const bad = archetype({ days: 14, seed: 2 }).map((step) => ({
      ...step,
      at: step.at + 77 * DAY,
      ok: false,
    }));
    const { outcome } = score([...good, ...bad]);
    expect(outcome.kind === "scored" && ["E", "F"].includes(outcome.grade)).toBe(true);
  });
});

test.each(SEEDS)("a wallet that has failed for two weeks is F (%d)", (seed) => {
  expect(score(alwaysFailing({ days: 14, seed })).outcome).toMatchObject({ kind: "scored", grade: "F" });
});

test("a specialist with one call a day to one counterparty is good", () => {
  const { outcome } = score(repeat(120, DAY, { at: START + 9 * HOUR }));
  expect(outcome).toMatchObject({ kind: "scored", grade: "A" });
});

test.each([
  [
    "established payees that no other wallet pays",
    { outsideUsers: 0, existedAt: START - 60 * DAY },
    ["MEDIUM", "HIGH"],
  ],
  ["new payees without other users, who prove little", { outsideUsers: 0, existedAt: null }, ["LOW"]],
])("a payment agent with %s has a good grade", (_, parts, levels) => {
  const payees = new Map(Array.from({ length: 40 }, (_unused, i) => [account(3000 + i), parts]));
  const record = scoreRows(withFacts(rowsOf(callsOf(paymentAgent({ days: 90, seed: 1 }))), payees));
  expect(record.outcome).toMatchObject({ kind: "scored", grade: expect.stringMatching(/^[AB]$/) });
  expect(levels).toContain(record.confidenceLevel);
});

describe("a payment agent whose other calls", () => {
  const days = 90;
  const outcomeWith = (to: number, ownerLink: OwnerLink) => {
    const sweeps = Array.from({ length: 12_000 }, (_, i) =>
      payment(START + Math.floor((i * days * DAY) / 12_000), account(to + (i % 5)), 90_000_000n),
    );
    const treasury = sweeps.map((step) => ({ ...step, recipient: account(to) }));
    const own = new Map(Array.from({ length: 5 }, (_, i) => [account(to + i), { ownerLink }]));
    const scoreWith = (steps: readonly Step[]) =>
      scoreRows(withFacts(rowsOf(callsOf([...paymentAgent({ days, seed: 1 }), ...steps])), own)).outcome;
    return { none: scoreWith([]), treasury: scoreWith(treasury), ring: scoreWith(sweeps) };
  };

  test("sweep its income to one treasury scores as without them, and among five accounts as a ring", () => {
    const { none, treasury, ring } = outcomeWith(50, "first_funder");
    if (treasury.kind === "insufficient" || none.kind === "insufficient")
      throw new Error("both have a history");
    expect(treasury.grade).toBe(none.grade);
    expect(Math.abs(treasury.ahsScore - none.ahsScore)).toBeLessThanOrEqual(5);
    expect(ring.kind === "scored" ? ring.grade : ring.kind).toMatch(/^([D-F]|insufficient)$/);
  });

  test("go to an account that funds it as well score as a ring", () => {
    const { treasury } = outcomeWith(50, "mutual_funding");
    expect(treasury.kind === "scored" ? treasury.grade : treasury.kind).toMatch(/^([D-F]|insufficient)$/);
  });
});

describe("too little history", () => {
  const counts = [0, 1, 4, 9];
  test.each(counts)("%d calls are insufficient, one of them 90 days old, all failed or not", (count) => {
    for (const ok of [true, false]) {
      const recent = repeat(Math.max(0, count - 1), DAY, { at: START + 90 * DAY, ok });
      const steps = count === 0 ? [] : [{ at: START, ok }, ...recent];
      expect(score(steps)).toMatchObject({
        outcome: { kind: "insufficient" },
        confidenceLevel: "INSUFFICIENT",
      });
    }
  });

  test("three hundred calls to oneself are insufficient", () => {
    const record = score(repeat(300, HOUR, { at: START, to: WALLET }));
    expect(record).toMatchObject({ outcome: { kind: "insufficient" }, confidenceMicros: 0 });
  });
});

describe("cheap activity", () => {
  const own = (count: number) =>
    new Map(
      Array.from({ length: count }, (_, i) => [account(50 + i), { ownerLink: "first_funder" } as const]),
    );
  const fresh = (count: number) =>
    new Map(
      Array.from({ length: count }, (_, i) => [
        account(2000 + i),
        { outsideUsers: 0, existedAt: null, fundedFromOutside: true, mergedWith: account(2000) },
      ]),
    );
  const spread = (times: number, days: number, of: (i: number) => Partial<Step>): readonly Step[] =>
    Array.from({ length: times }, (_, i) => ({ at: START + Math.floor((i * days * DAY) / times), ...of(i) }));

  test.each([
    [
      "300 calls among five wallets of one owner in a week",
      spread(300, 7, (i) => ({ to: account(50 + (i % 5)) })),
      own(5),
    ],
    ["300 of them in 60 days", spread(300, 60, (i) => ({ to: account(50 + (i % 5)) })), own(5)],
    [
      "300 payments among them",
      spread(300, 60, (i) => payment(0, account(50 + (i % 5)), 90_000_000n)).map((step, i) => ({
        ...step,
        at: START + i * 4 * HOUR,
      })),
      own(5),
    ],
    ["300 calls to oneself", spread(300, 60, () => ({ to: WALLET, value: 10n ** 18n })), own(0)],
    [
      "300 calls to 20 fresh contracts in rotation",
      spread(300, 60, (i) => ({ to: account(2000 + (i % 20)) })),
      fresh(20),
    ],
    [
      "900 approvals of established contracts",
      spread(900, 90, (i) => ({ to: account(2000 + (i % 9)), effect: "approval" })),
      own(0),
    ],
    [
      "900 calls without effect",
      spread(900, 90, (i) => ({ to: account(2000 + (i % 9)), effect: "none" })),
      own(0),
    ],
    [
      "900 trades undone at once",
      spread(900, 90, (i) => ({
        to: account(2000 + (i % 9)),
        moves: [{ token: USDC, amount: i % 2 === 0 ? -5_000_000n : 4_990_000n }],
      })).map((step, i) => ({ ...step, at: step.at - (i % 2) * 2 * HOUR })),
      own(0),
    ],
  ])("%s is D or worse, or insufficient", (_, steps, facts) => {
    const { outcome } = scoreRows(withFacts(rowsOf(callsOf(steps)), facts));
    if (outcome.kind === "scored") expect(outcome.ahsScore).toBeLessThan(60);
  });
});

describe("a population of equal tiers", () => {
  const plan = (seed: number) => ({ days: 90, seed });
  const rowsWith = (archetype: typeof keeper) => (seed: number) => rowsOf(callsOf(archetype(plan(seed))));
  const listed = (seed: number) =>
    rowsOf(callsOf(diverseTrader(plan(seed))), {
      sanctions: [{ source: "ofac-sdn", reference: "SDN 1", detected_at: "2026-01-01T00:00:00.000Z" }],
    });
  const tiers: readonly (readonly ((seed: number) => WalletRows)[])[] = [
    [keeper, diverseTrader, paymentAgent, escrowWorker, oracleFeeder, weeklyPayroll].map(rowsWith),
    [recovering, flaky].map(rowsWith),
    [rowsWith(gasWarrior), (seed) => dirtyRows(plan(seed))],
    [retryStormer, staleKeeper, halfFailing].map(rowsWith),
    [rowsWith(alwaysFailing), listed],
  ];
  const scores = tiers.map((archetypes) =>
    Array.from({ length: 6 }, (_, i) => archetypes[i % archetypes.length]).map((rows, seed) => {
      const outcome = rows === undefined ? null : scoreRows(rows(seed + 1)).outcome;
      return outcome?.kind === "scored" ? outcome.ahsScore : Number.NaN;
    }),
  );

  test("is ordered by tier in at least 95% of all pairs", () => {
    const pairs = scores.flatMap((better, tier) =>
      scores.slice(tier + 1).flatMap((worse) => better.flatMap((high) => worse.map((low) => high > low))),
    );
    expect(pairs.filter((ordered) => ordered).length / pairs.length).toBeGreaterThanOrEqual(0.95);
  });

  test("fills no band of 20 points with more than 40%", () => {
    const all = scores.flat();
    const shares = Array.from(
      { length: 81 },
      (_, from) => all.filter((one) => one >= from && one < from + 20).length / all.length,
    );
    expect(Math.max(...shares)).toBeLessThanOrEqual(0.4);
  });
});

test("the bytes of a record are the same on every engine and in every version of one", () => {
  const record = scoreRows(dirtyRows({ days: 90, seed: 1 }));
  expect(record.outcome).toEqual({ kind: "scored", ahsScore: 77, d1Score: 54, d2Score: 95, grade: "B" });
  expect([record.confidenceMicros, record.levelUntil]).toEqual([858697, 1776343269]);
  expect(record.patterns).toEqual([]);
  expect(
    record.features.map((line) => `${line.name} ${line.value} ${line.score} ${line.contribution}`),
  ).toEqual([
    "success_rate 0.968421 92.447523 2773",
    "gas_efficiency 0.02635 65.669069 2430",
    "portfolio_quality 0.321778 32.177845 161",
    "dust_and_spam 1 0 0",
    "risk_flags 100 0 0",
    "rounding 0.36 null 36",
    "timing_regularity -0.169399 98.659681 592",
    "counterparty_diversity 10.772414 98.659681 789",
    "adaptation 92.25 91.169368 2735",
    "failure_recovery 0.216448 94.588805 3405",
    "consistency 12.693154 97.931009 1959",
    "rounding 0.2 null 20",
    "d1 53.640705 53.640705 1609",
    "d2 94.801337 94.801337 6636",
    "weak_link -5.29 null -529",
    "rounding -0.16 null -16",
  ]);
});

function score(steps: readonly Step[], asOf?: number): ScoreRecord {
  return scoreRows(rowsOf(callsOf(steps)), asOf);
}

function scoreRows(rows: WalletRows, asOf?: number): ScoreRecord {
  return scoreWallet({
    rows,
    asOf: asOf === undefined ? asOfLast(rows.calls) : asOfTime(asOf),
    policy: AHS_2026_2,
  });
}
