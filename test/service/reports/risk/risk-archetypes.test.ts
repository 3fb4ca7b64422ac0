import { describe, expect, test } from "vitest";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { assessRisk, riskSignals } from "../../../../service/reports/risk/risk.ts";
import {
  alwaysFailing,
  diverseTrader,
  halfFailing,
  keeper,
  paymentAgent,
  retryStormer,
} from "../../model/features/archetypes.ts";
import { asOfLast, callsOf, rowsOf, type Step } from "../../model/features/histories.ts";

function riskOf(steps: readonly Step[], parts: Partial<WalletRows> = {}) {
  const calls = callsOf(steps);
  const record = scoreWallet({ rows: rowsOf(calls, parts), asOf: asOfLast(calls), policy: AHS_2026_1 });
  const { outcome, confidenceLevel, sanctionsFlags: sanctions } = record;
  const signals = riskSignals({ sanctions, explanation: record, shares: null });
  const score =
    outcome.kind === "scored"
      ? ({ ...outcome, confidenceLevel } as const)
      : ({ kind: "insufficient" } as const);
  const risk = assessRisk(
    { sanctioned: sanctions.length > 0, score, listedShare: null, signals },
    AHS_2026_1,
  );
  return { ...risk, signals, names: signals.map(({ name }) => name) };
}

describe("the risk of dealing with", () => {
  test.each([
    ["a keeper", keeper],
    ["a diverse trader", diverseTrader],
    ["a payment agent", paymentAgent],
  ])("%s is low", (_name, archetype) => {
    const risk = riskOf(archetype({ days: 90, seed: 1 }));
    expect(risk.level).toBe("LOW");
    expect(risk.signals.filter(({ severity }) => severity === "high")).toEqual([]);
  });

  test("a wallet that always fails is critical, and its failures are named", () => {
    const risk = riskOf(alwaysFailing({ days: 14, seed: 1 }));
    expect(risk.level).toBe("CRITICAL");
    expect(risk.names).toEqual(
      expect.arrayContaining(["cascading_failure", "success_rate", "failure_recovery"]),
    );
    expect(risk.signals[0]?.severity).toBe("high");
    expect(risk.verdict).toMatch(/^Critical risk.*: cascading failure, success rate/);
  });

  test.each([
    ["a wallet that fails half the time", halfFailing],
    ["a wallet that tries the same again and again", retryStormer],
  ])("%s is high at least", (_name, archetype) => {
    expect(["HIGH", "CRITICAL"]).toContain(riskOf(archetype({ days: 90, seed: 1 })).level);
  });

  test("a newcomer is not known, whatever its first calls came to", () => {
    const [first, second] = keeper({ days: 1, seed: 1 });
    if (first === undefined || second === undefined) throw new Error("a keeper calls every day");
    for (const ok of [true, false]) {
      expect(
        riskOf([
          { ...first, ok },
          { ...second, ok },
        ]),
      ).toMatchObject({ score: null, level: "UNKNOWN" });
    }
  });

  test("a keeper on a sanctions list is critical", () => {
    const sanctions = [
      { source: "ofac-sdn", reference: "900", detected_at: "2026-11-20T06:00:00.000Z" },
    ] as const;
    expect(riskOf(keeper({ days: 90, seed: 1 }), { sanctions })).toMatchObject({
      score: 100,
      level: "CRITICAL",
    });
  });
});
