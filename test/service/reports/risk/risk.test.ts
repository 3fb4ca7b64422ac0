import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import type { FeatureLine } from "../../../../service/model/score/record.ts";
import {
  assessRisk,
  counterpartyShares,
  type RiskEvidence,
  riskSignals,
} from "../../../../service/reports/risk/risk.ts";
import type { Exposure } from "../../../../service/reports/risk/risk-facts.ts";
import {
  alwaysFailing,
  diverseTrader,
  halfFailing,
  keeper,
  paymentAgent,
  retryStormer,
} from "../../model/features/archetypes.ts";
import { account, asOfLast, callsOf, rowsOf, type Step } from "../../model/features/histories.ts";

function evidence(changes: Partial<RiskEvidence>): RiskEvidence {
  return { sanctioned: false, score: { kind: "not_scored" }, listedShare: null, signals: [], ...changes };
}

function scored(ahsScore: number, changes: Partial<RiskEvidence> = {}): RiskEvidence {
  return evidence({ score: { kind: "scored", ahsScore, confidenceLevel: "HIGH" }, ...changes });
}

const STORM = { name: "retry_storm", severity: "warning", detail: "2 times" } as const;

describe("risk", () => {
  it.each([
    [100, 0, "LOW"],
    [90, 10, "LOW"],
    [75, 25, "LOW"],
    [74, 26, "MEDIUM"],
    [60, 40, "MEDIUM"],
    [59, 41, "HIGH"],
    [20, 80, "HIGH"],
    [19, 81, "CRITICAL"],
    [0, 100, "CRITICAL"],
  ] as const)("of a score of %i is %i, %s", (ahsScore, score, level) => {
    expect(assessRisk(scored(ahsScore), AHS_2026_2)).toMatchObject({ score, level, reason: "scored" });
  });

  it.each([
    ["a healthy wallet", scored(95)],
    ["a failing one", scored(3)],
    ["one without enough history", evidence({ score: { kind: "insufficient" } })],
    ["one never scored", evidence({})],
  ])("of %s that is sanctioned is 100 and CRITICAL", (_name, facts) => {
    expect(assessRisk({ ...facts, sanctioned: true }, AHS_2026_2)).toEqual({
      score: 100,
      level: "CRITICAL",
      reason: "sanctioned",
      verdict: "Critical risk: the wallet is on a sanctions list.",
    });
  });

  it.each([
    ["not_scored", evidence({})],
    ["insufficient_history", evidence({ score: { kind: "insufficient" } })],
  ])("without a score is not known: %s", (reason, facts) => {
    expect(assessRisk(facts, AHS_2026_2)).toMatchObject({ score: null, level: "UNKNOWN", reason });
  });

  it.each([
    [0, 5, "LOW"],
    [0.0199, 5, "LOW"],
    [0.02, 26, "MEDIUM"],
    [0.1, 46, "HIGH"],
    [1, 46, "HIGH"],
  ] as const)(
    "of dealing with listed accounts for a share of %f is at least the model's: %i",
    (share, score, level) => {
      expect(assessRisk(scored(95, { listedShare: share }), AHS_2026_2)).toMatchObject({ score, level });
    },
  );

  it("names what speaks against the wallet, and says where that is little evidence", () => {
    const calm = { name: "recovery_in_progress", severity: "info", detail: "better of late" } as const;
    const facts = scored(50, { signals: [STORM, calm] });
    expect(assessRisk(facts, AHS_2026_2).verdict).toBe("High risk: 2 times.");
    const thin = { kind: "scored", ahsScore: 80, confidenceLevel: "LOW" } as const;
    expect(assessRisk({ ...facts, score: thin, signals: [calm] }, AHS_2026_2).verdict).toBe(
      "Low risk (little evidence): no signal of risk was found.",
    );
    expect(assessRisk(evidence({ signals: [STORM] }), AHS_2026_2).verdict).toBe(
      "Unknown risk: the wallet was never scored; seen so far: 2 times.",
    );
    expect(assessRisk(evidence({ signals: [calm] }), AHS_2026_2).verdict).toBe(
      "Unknown risk: the wallet was never scored, which is no sign of risk.",
    );
  });

  it.each([
    [1, { score: 46, level: "HIGH", reason: "listed_counterparties" }],
    [0.02, { score: 26, level: "MEDIUM", reason: "listed_counterparties" }],
    [0.0199, { score: null, level: "UNKNOWN", reason: "insufficient_history" }],
    [null, { score: null, level: "UNKNOWN", reason: "insufficient_history" }],
  ] as const)(
    "of a wallet without enough history follows the share of %s to listed accounts",
    (listedShare, expected) => {
      const facts = evidence({ score: { kind: "insufficient" }, listedShare });
      expect(assessRisk(facts, AHS_2026_2)).toMatchObject(expected);
    },
  );

  it("of a newcomer who only paid a mixer is not called unknown, and no sign of none", () => {
    const signal = { name: "listed_counterparties", severity: "critical", detail: "100%" } as const;
    const facts = evidence({ score: { kind: "insufficient" }, listedShare: 1, signals: [signal] });
    expect(assessRisk(facts, AHS_2026_2).verdict).toBe(
      "At least high risk: 100%; otherwise too little history to judge.",
    );
  });

  it("never falls with a worse score or a larger share", () => {
    const points = fc.integer({ min: 0, max: 100 });
    const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(points, points, share, share, (a, b, one, other) => {
        const better = scored(Math.max(a, b), { listedShare: least(one, other) });
        const worse = scored(Math.min(a, b), { listedShare: most(one, other) });
        const [low, high] = [assessRisk(better, AHS_2026_2).score, assessRisk(worse, AHS_2026_2).score];
        expect(low).not.toBeNull();
        expect(Number(high)).toBeGreaterThanOrEqual(Number(low));
      }),
    );
  });
});

function least(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.min(a, b);
}

function most(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null ? a : Math.max(a, b);
}

const NOBODY = { counterparties: 0, sentMicroUsd: 0, unpricedCalls: 0 };

function line(changes: Partial<FeatureLine>): FeatureLine {
  return {
    dimension: "D1",
    name: "success_rate",
    value: 0.42,
    unit: "share of calls",
    samples: 210,
    state: "measured",
    score: 12,
    weight: 0.3,
    contribution: 360,
    reason: null,
    ...changes,
  };
}

function signalsOf(features: readonly FeatureLine[]) {
  return riskSignals({ threats: [], sanctions: [], explanation: { patterns: [], features }, shares: null });
}

function exposure(changes: Partial<Exposure>): Exposure {
  return {
    asOfBlock: 970,
    since: 1_790_000_000,
    counterparties: 10,
    calls: 100,
    sentMicroUsd: 1_000e6,
    truncated: false,
    listed: [],
    failing: NOBODY,
    ...changes,
  };
}

describe("signals", () => {
  it("name what failed, with the figures that the model found", () => {
    expect(signalsOf([line({})])).toEqual([
      {
        name: "success_rate",
        severity: "critical",
        detail: "An estimated 42% of its calls succeed",
      },
    ]);
  });

  it.each([
    ["a good feature", line({ score: 60 }), []],
    ["a weak feature", line({ score: 59.9 }), ["warning"]],
    ["a failing feature", line({ score: 19.9 }), ["critical"]],
    ["a failing feature that alone is no danger", line({ name: "dust_and_spam", score: 0 }), ["warning"]],
    ["what is not known", line({ state: "unknown", value: null, score: null, reason: "not indexed" }), []],
    ["what could not occur", line({ state: "not_applicable", value: null, score: null }), []],
    ["the weak link", line({ dimension: "AHS", weight: 0, score: null, contribution: -900 }), []],
    ["a dimension's share", line({ dimension: "AHS", weight: 0.3, score: 10, contribution: 300 }), []],
    ["rounding", line({ dimension: "AHS", weight: 0, score: null, contribution: -12 }), []],
  ] as const)("of %s", (_name, feature, severities) => {
    expect(signalsOf([feature]).map(({ severity }) => severity)).toEqual(severities);
  });

  it("do not blame on rhythm what failures or a short history take from it", () => {
    const rhythm = line({ name: "timing_regularity", dimension: "D2", score: 10 });
    const total = line({ dimension: "AHS", name: "d1", weight: 0.3, score: 50 });
    const namesOf = (...features: readonly FeatureLine[]) => signalsOf(features).map(({ name }) => name);
    expect(namesOf(line({ score: 90 }), rhythm, total)).toEqual(["timing_regularity"]);
    expect(namesOf(line({ score: 10 }), rhythm, total)).toEqual(["success_rate"]);
    expect(namesOf(line({ score: 90 }), rhythm)).toEqual([]);
  });

  it("name the findings of risk flags, and the figure of an unknown feature", () => {
    const flags = line({ name: "risk_flags", value: 50, score: 50, inputs: { risky_approvals: 2 } });
    expect(signalsOf([flags, line({ name: "new_one", score: 30 })]).map(({ detail }) => detail)).toEqual([
      "2 unlimited approvals to new or unknown spenders",
      "0.42 points",
    ]);
  });

  it("put the worst first, whatever they come from", () => {
    const signals = riskSignals({
      threats: [],
      sanctions: [{ source: "ofac-sdn", reference: "900", detected_at: "2026-11-20T06:00:00.000Z" }],
      explanation: {
        patterns: [
          { name: "zombie", severity: "info", effect: 0, evidence: "silent" },
          { name: "cascading_failure", severity: "critical", effect: -8, evidence: "40%" },
        ],
        features: [line({ name: "gas_efficiency", score: 40 })],
      },
      shares: counterpartyShares(
        exposure({
          listed: [account(7)],
          failing: { counterparties: 2, sentMicroUsd: 50e6, unpricedCalls: 0 },
        }),
        0.05,
      ),
    });
    expect(signals.map(({ name, severity }) => [name, severity])).toEqual([
      ["sanctioned", "critical"],
      ["cascading_failure", "critical"],
      ["gas_efficiency", "warning"],
      ["listed_counterparties", "warning"],
      ["zombie", "info"],
      ["failing_counterparties", "info"],
    ]);
    expect(signals[0]?.detail).toBe("On a sanctions list: ofac-sdn (900)");
    expect(signals[3]?.detail).toBe("5% of its outgoing value went to 1 sanctioned or mixer account");
  });
});

describe("listed counterparties", () => {
  const signalOf = (listedShare: number | null) =>
    riskSignals({
      threats: [],
      sanctions: [],
      explanation: null,
      shares: counterpartyShares(exposure({ listed: [account(7)] }), listedShare),
    });

  it.each([
    [0.1, "critical", "10% of its outgoing value went to 1 sanctioned or mixer account"],
    [0.099, "warning", "9.9% of its outgoing value went to 1 sanctioned or mixer account"],
    [0.00001, "warning", "less than 0.1% of its outgoing value went to 1 sanctioned or mixer account"],
    [null, "warning", "Dealt with 1 sanctioned or mixer account; the amount is unknown"],
    [0, "info", "Dealt with 1 sanctioned or mixer account, without sending value there"],
  ])("to which a share of %s went are %s", (share, severity, detail) => {
    expect(signalOf(share)).toEqual([{ name: "listed_counterparties", severity, detail }]);
  });
});

it("listed accounts that other contracts led to are reported as such", () => {
  const shares = counterpartyShares(exposure({}), 1);
  expect(riskSignals({ threats: [], sanctions: [], explanation: null, shares })).toMatchObject([
    { detail: "100% of its outgoing value went to sanctioned or mixer accounts through other contracts" },
  ]);
});

describe("shares", () => {
  it.each([
    ["by value", { counterparties: 1, sentMicroUsd: 250e6, unpricedCalls: 0 }, 0.25],
    [
      "by calls where nothing with a price was sent",
      { counterparties: 1, sentMicroUsd: 0, unpricedCalls: 40 },
      0.4,
    ],
    ["by the larger of both", { counterparties: 2, sentMicroUsd: 500e6, unpricedCalls: 40 }, 0.5],
  ])("to failing counterparties are given %s", (_name, failing, share) => {
    expect(counterpartyShares(exposure({ failing }), 0)).toEqual({
      listed: { counterparties: 0, share: 0 },
      failing: { counterparties: failing.counterparties, share },
      together: share,
    });
  });

  it("together are never more than everything, and not known where one is not", () => {
    const failing = { counterparties: 1, sentMicroUsd: 800e6, unpricedCalls: 0 };
    const together = (share: number | null) => counterpartyShares(exposure({ failing }), share).together;
    expect([together(0.1), together(0.3), together(null)]).toEqual([0.9, 1, null]);
  });

  it("are 0 for a wallet that sent nothing to a listed or failing account", () => {
    expect(counterpartyShares(exposure({ sentMicroUsd: 0, calls: 0 }), 0).together).toBe(0);
  });
});

function riskOf(steps: readonly Step[], parts: Partial<WalletRows> = {}) {
  const calls = callsOf(steps);
  const record = scoreWallet({ rows: rowsOf(calls, parts), asOf: asOfLast(calls), policy: AHS_2026_2 });
  const { outcome, confidenceLevel, sanctionsFlags: sanctions } = record;
  const signals = riskSignals({ threats: [], sanctions, explanation: record, shares: null });
  const score =
    outcome.kind === "scored"
      ? ({ ...outcome, confidenceLevel } as const)
      : ({ kind: "insufficient" } as const);
  const risk = assessRisk(
    { sanctioned: sanctions.length > 0, score, listedShare: null, signals },
    AHS_2026_2,
  );
  return { ...risk, signals, names: signals.map(({ name }) => name) };
}

describe("the risk of dealing with", () => {
  it.each([
    ["a keeper", keeper],
    ["a diverse trader", diverseTrader],
    ["a payment agent", paymentAgent],
  ])("%s is low", (_name, archetype) => {
    const risk = riskOf(archetype({ days: 90, seed: 1 }));
    expect(risk.level).toBe("LOW");
    expect(risk.signals.filter(({ severity }) => severity === "critical")).toEqual([]);
  });

  it("a wallet that always fails is critical, and its failures are named", () => {
    const risk = riskOf(alwaysFailing({ days: 14, seed: 1 }));
    expect(risk.level).toBe("CRITICAL");
    expect(risk.names).toEqual(expect.arrayContaining(["low_success", "success_rate", "failure_recovery"]));
    expect(risk.signals[0]?.severity).toBe("critical");
    expect(risk.verdict).toMatch(/^Critical risk.*: 0 of \d+ calls to others succeeded.*more signal/);
  });

  it.each([
    ["a wallet that fails half the time", halfFailing],
    ["a wallet that tries the same again and again", retryStormer],
  ])("%s is high at least", (_name, archetype) => {
    expect(["HIGH", "CRITICAL"]).toContain(riskOf(archetype({ days: 90, seed: 1 })).level);
  });

  it("a newcomer is not known, whatever its first calls came to", () => {
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

  it("a keeper on a sanctions list is critical", () => {
    const sanctions = [
      { source: "ofac-sdn", reference: "900", detected_at: "2026-11-20T06:00:00.000Z" },
    ] as const;
    expect(riskOf(keeper({ days: 90, seed: 1 }), { sanctions })).toMatchObject({
      score: 100,
      level: "CRITICAL",
    });
  });
});
