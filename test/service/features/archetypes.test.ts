import { describe, expect, test } from "vitest";
import { scoreWallet } from "../../../service/features/score-wallet.ts";
import { AHS_2026_0 } from "../../../service/score/policy.ts";
import type { ScoreRecord } from "../../../service/score/record.ts";
import {
  alwaysFailing,
  diverseTrader,
  escrowWorker,
  keeper,
  oracleFeeder,
  paymentAgent,
  weeklyPayroll,
} from "./archetypes.ts";
import { asOfLast, asOfTime, callsOf, DAY, HOUR, rowsOf, START, type Step, WALLET } from "./histories.ts";
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
  test.each(SEEDS)("is B or better after 90 days (%d)", (seed) => {
    const { outcome, confidenceLevel, patterns } = score(archetype({ days: 90, seed }));
    expect(outcome.kind === "scored" && ["A", "B"].includes(outcome.grade)).toBe(true);
    // Under a third of the model's weight is not indexed yet, which costs the highest level.
    expect(confidenceLevel).toBe("MEDIUM");
    expect(patterns).toEqual([]);
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
  expect(outcome).toMatchObject({ kind: "scored", ahsScore: 89, grade: "B" });
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

test("the bytes of a record are the same on every engine and in every version of one", () => {
  const record = score(diverseTrader({ days: 90, seed: 1 }));
  expect(record.outcome).toEqual({ kind: "scored", ahsScore: 93, d1Score: 88, d2Score: 96, grade: "A" });
  expect(
    record.features.map((line) => [line.name, line.value, line.score, line.contribution]),
  ).toMatchInlineSnapshot(`
    [
      [
        "success_rate",
        0.96183,
        89.436117,
        5366,
      ],
      [
        "gas_efficiency",
        0.028098,
        86.772016,
        3471,
      ],
      [
        "portfolio_quality",
        null,
        null,
        null,
      ],
      [
        "dust_and_spam",
        null,
        null,
        null,
      ],
      [
        "risk_flags",
        null,
        null,
        null,
      ],
      [
        "rounding",
        -0.37,
        null,
        -37,
      ],
      [
        "timing_regularity",
        -0.181448,
        98.678022,
        2467,
      ],
      [
        "counterparty_diversity",
        9.337843,
        98.678022,
        2467,
      ],
      [
        "adaptation",
        null,
        null,
        null,
      ],
      [
        "failure_recovery",
        0.004893,
        94.128222,
        2942,
      ],
      [
        "consistency",
        13,
        89.820133,
        1684,
      ],
      [
        "rounding",
        0.4,
        null,
        40,
      ],
      [
        "d1",
        88.370477,
        88.370477,
        2651,
      ],
      [
        "d2",
        95.595355,
        95.595355,
        6692,
      ],
      [
        "rounding",
        -0.43,
        null,
        -43,
      ],
    ]
  `);
});

function score(steps: readonly Step[], asOf?: number): ScoreRecord {
  const calls = callsOf(steps);
  return scoreWallet({
    rows: rowsOf(calls),
    asOf: asOf === undefined ? asOfLast(calls) : asOfTime(asOf),
    policy: AHS_2026_0,
  });
}
