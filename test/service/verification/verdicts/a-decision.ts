import { EVIDENCE_ORDER } from "../../../../service/verification/panel/prompts.ts";
import type { Decision, PanelOutcome, RoleRecord } from "../../../../service/verification/panel/types.ts";
import { MODELS } from "../panel/a-panel.ts";

/** An outcome of the panel that decides so. */
export function decided(verdict: Decision): Extract<PanelOutcome, { kind: "decided" }> {
  return {
    kind: "decided",
    decision: {
      kind: "decided",
      verdict,
      finalScore: 80,
      confidence: 0.9,
      mdi: 0.1,
      effectiveVotes: 1.29,
      generatorMajority: verdict,
      votes: {},
      criticOverrideApplied: false,
      rejectionAsymmetryApplied: false,
      zeroHistoryAdjustmentApplied: false,
      rulesFired: verdict === "HOLD" ? ["no_majority"] : [],
    },
    criteria: [{ id: "c1", text: "Names three rivers" }],
    metCriteria: ["Names three rivers"],
    unmetCriteria: [],
    keyObjections: [],
    reasoning: "It names three.",
    strongestDissent: null,
    findings: [
      {
        role: "criteria_auditor",
        model: "m",
        verdict,
        score: 80,
        confidence: 0.9,
        criteria: [{ id: "c1", met: true, evidence: "Rhine, Elbe, Oder" }],
        objections: [],
        abstained: null,
      },
    ],
    checks: [{ name: "padded", finding: "a line is repeated", criterion: null }],
    fabricationRisk: "low",
    methodology: {
      panelVersion: "p1",
      promptHash: `0x${"11".repeat(32)}`,
      models: MODELS,
      thresholds: { domain: "default", confidence: 0.7 },
      voting: {
        effective_votes: 1.29,
        money: null,
        second_model: null,
        evidence_order: EVIDENCE_ORDER,
        not_asked: [],
      },
    },
  };
}

/** Record of a role's answer, at 100 and 20 tokens. */
export function answered(role: RoleRecord["role"], answer: unknown): RoleRecord {
  return { ...called(role), answer: { kind: "answer", answer } };
}

/** That a role abstained, at 100 and 20 tokens. */
export function abstained(role: RoleRecord["role"], reason = "It was off the schema."): RoleRecord {
  return { ...called(role), answer: { kind: "abstained", reason } };
}

function called(role: RoleRecord["role"]) {
  return {
    role,
    model: "m",
    mode: "json_schema",
    requests: 1,
    promptTokens: 100,
    completionTokens: 20,
    cachedTokens: null,
    costUsd: 0.001,
    latencyMs: 10,
  } as const;
}
