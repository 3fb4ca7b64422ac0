import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { assessRisk, type RiskEvidence } from "../../../../service/reports/risk/risk.ts";

function evidence(changes: Partial<RiskEvidence>): RiskEvidence {
  return { sanctioned: false, score: { kind: "not_scored" }, listedShare: null, signals: [], ...changes };
}

function scored(ahsScore: number, changes: Partial<RiskEvidence> = {}): RiskEvidence {
  return evidence({ score: { kind: "scored", ahsScore, confidenceLevel: "HIGH" }, ...changes });
}

const STORM = { name: "retry_storm", severity: "medium", detail: "2 times" } as const;

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
    expect(assessRisk(scored(ahsScore), AHS_2026_1)).toMatchObject({ score, level, reason: "scored" });
  });

  it.each([
    ["a healthy wallet", scored(95)],
    ["a failing one", scored(3)],
    ["one without enough history", evidence({ score: { kind: "insufficient" } })],
    ["one never scored", evidence({})],
  ])("of %s that is sanctioned is 100 and CRITICAL", (_name, facts) => {
    expect(assessRisk({ ...facts, sanctioned: true }, AHS_2026_1)).toEqual({
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
    expect(assessRisk(facts, AHS_2026_1)).toMatchObject({ score: null, level: "UNKNOWN", reason });
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
      expect(assessRisk(scored(95, { listedShare: share }), AHS_2026_1)).toMatchObject({ score, level });
    },
  );

  it("names what speaks against the wallet, and says where that is little evidence", () => {
    const calm = { name: "recovery_in_progress", severity: "info", detail: "better of late" } as const;
    const facts = scored(50, { signals: [STORM, calm] });
    expect(assessRisk(facts, AHS_2026_1).verdict).toBe("High risk: retry storm.");
    const thin = { kind: "scored", ahsScore: 80, confidenceLevel: "LOW" } as const;
    expect(assessRisk({ ...facts, score: thin, signals: [calm] }, AHS_2026_1).verdict).toBe(
      "Low risk, on little evidence: nothing notable speaks against the wallet.",
    );
    expect(assessRisk(evidence({ signals: [STORM] }), AHS_2026_1).verdict).toBe(
      "Unknown risk: the wallet was never scored; seen so far: retry storm.",
    );
    expect(assessRisk(evidence({ signals: [calm] }), AHS_2026_1).verdict).toBe(
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
      expect(assessRisk(facts, AHS_2026_1)).toMatchObject(expected);
    },
  );

  it("of a newcomer who only paid a mixer is not called unknown, and no sign of none", () => {
    const signal = { name: "listed_counterparties", severity: "high", detail: "100 %" } as const;
    const facts = evidence({ score: { kind: "insufficient" }, listedShare: 1, signals: [signal] });
    expect(assessRisk(facts, AHS_2026_1).verdict).toBe(
      "High risk at least: listed counterparties; else too little history to judge.",
    );
  });

  it("never falls with a worse score or a larger share", () => {
    const points = fc.integer({ min: 0, max: 100 });
    const share = fc.option(fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(points, points, share, share, (a, b, one, other) => {
        const better = scored(Math.max(a, b), { listedShare: least(one, other) });
        const worse = scored(Math.min(a, b), { listedShare: most(one, other) });
        const [low, high] = [assessRisk(better, AHS_2026_1).score, assessRisk(worse, AHS_2026_1).score];
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
