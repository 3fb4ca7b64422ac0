import { gradeOf } from "../score/grade.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { ConfidenceLevel, Grade } from "../score/record.ts";
import type { RiskSignal } from "./risk-signals.ts";

type RiskLevel = "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";

type RiskReason = "scored" | "insufficient_history" | "not_scored" | "sanctioned";

/** What a risk is judged by. */
export type RiskEvidence = {
  readonly sanctioned: boolean;
  readonly score:
    | { readonly kind: "not_scored" }
    | { readonly kind: "insufficient" }
    | { readonly kind: "scored"; readonly ahsScore: number; readonly confidenceLevel: ConfidenceLevel };
  /** Share of what it sent that went to sanctioned accounts or mixers, 0 to 1; null where it is not known. */
  readonly listedShare: number | null;
  /** The worst first. */
  readonly signals: readonly RiskSignal[];
};

export type Risk = {
  /** 0 to 100, 100 the worst; null where too little is known. */
  readonly score: number | null;
  readonly level: RiskLevel;
  readonly reason: RiskReason;
  /** One sentence. */
  readonly verdict: string;
};

/** One scale for grade, route and risk: LOW settles at once, MEDIUM waits in escrow, the others are rejected. */
const LEVELS: Readonly<Record<Grade, RiskLevel>> = {
  A: "LOW",
  B: "LOW",
  C: "MEDIUM",
  D: "HIGH",
  E: "HIGH",
  F: "CRITICAL",
};

/** Named in a verdict. */
const NAMED_SIGNALS = 3;

/**
 * The risk of dealing with a wallet: 100 minus its score, and at least what the policy's caps make of the share that went to
 * listed counterparties since it was scored. Sanctioned is 100 whatever else is known; what is not known is no risk.
 */
export function assessRisk(evidence: RiskEvidence, policy: Pick<Policy, "caps" | "grades">): Risk {
  if (evidence.sanctioned) {
    const verdict = "Critical risk: the wallet is on a sanctions list.";
    return { score: 100, level: "CRITICAL", reason: "sanctioned", verdict };
  }
  switch (evidence.score.kind) {
    case "not_scored":
      return unknownRisk(
        "not_scored",
        "Unknown risk: the wallet was never scored, which is no sign of risk",
        evidence,
      );
    case "insufficient":
      return unknownRisk(
        "insufficient_history",
        "Unknown risk: too little history to judge, which is no sign of risk",
        evidence,
      );
    case "scored":
      return scoredRisk(evidence.score, evidence, policy);
  }
}

function unknownRisk(reason: RiskReason, verdict: string, { signals }: Pick<RiskEvidence, "signals">): Risk {
  const named = namesOf(signals);
  const sentence = named === "" ? `${verdict}.` : `${verdict}; seen so far: ${named}.`;
  return { score: null, level: "UNKNOWN", reason, verdict: sentence };
}

function scoredRisk(
  { ahsScore, confidenceLevel }: { readonly ahsScore: number; readonly confidenceLevel: ConfidenceLevel },
  { listedShare, signals }: RiskEvidence,
  { caps, grades }: Pick<Policy, "caps" | "grades">,
): Risk {
  const cap = listedShare === null ? undefined : caps.exposure.find(({ from }) => listedShare >= from);
  const points = cap === undefined ? ahsScore : Math.min(ahsScore, cap.cap);
  const level = LEVELS[gradeOf(points, grades)];
  const named = namesOf(signals);
  const found = named === "" ? "nothing notable speaks against the wallet" : named;
  const caution = confidenceLevel === "LOW" ? ", on little evidence" : "";
  const verdict = `${level.charAt(0)}${level.slice(1).toLowerCase()} risk${caution}: ${found}.`;
  return { score: 100 - points, level, reason: "scored", verdict };
}

function namesOf(signals: readonly RiskSignal[]): string {
  const notable = signals.filter(({ severity }) => severity !== "info").slice(0, NAMED_SIGNALS);
  return notable.map(({ name }) => name.replaceAll("_", " ")).join(", ");
}
