import { gradeOf } from "../../model/score/grade.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import type { ConfidenceLevel, Grade } from "../../model/score/record.ts";
import type { RiskSignal } from "./risk-signals.ts";

type RiskLevel = "LOW" | "MEDIUM" | "HIGH" | "CRITICAL" | "UNKNOWN";

type RiskReason =
  | "scored"
  | "insufficient_history"
  | "not_scored"
  /** No score, but enough sent to listed accounts to judge by that. */
  | "listed_counterparties"
  | "sanctioned";

/** What a risk is judged by. */
export type RiskEvidence = {
  readonly sanctioned: boolean;
  readonly score:
    | { readonly kind: "not_scored" }
    | { readonly kind: "insufficient" }
    | { readonly kind: "scored"; readonly ahsScore: number; readonly confidenceLevel: ConfidenceLevel };
  /** The model's share of what it sent that went to sanctioned accounts or mixers, 0 to 1; null where it is not known. */
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

const LISTED_WORDS = "listed counterparties";

/** Named in a verdict. */
const NAMED_SIGNALS = 3;

/**
 * The risk of dealing with a wallet: 100 minus its score, and at least what the policy's caps make of the share that went to
 * listed counterparties, which is known without a score as well. Sanctioned is 100 whatever else is known; what is not known
 * is no risk.
 */
export function assessRisk(evidence: RiskEvidence, policy: Pick<Policy, "caps" | "grades">): Risk {
  if (evidence.sanctioned) {
    const verdict = "Critical risk: the wallet is on a sanctions list.";
    return { score: 100, level: "CRITICAL", reason: "sanctioned", verdict };
  }
  switch (evidence.score.kind) {
    case "not_scored":
      return unscoredRisk({ reason: "not_scored", why: "the wallet was never scored" }, evidence, policy);
    case "insufficient":
      return unscoredRisk(
        { reason: "insufficient_history", why: "too little history to judge" },
        evidence,
        policy,
      );
    case "scored":
      return scoredRisk(evidence.score, evidence, policy);
  }
}

/** What is known of a wallet without a score: nothing, unless enough of what it sent went to listed accounts. */
function unscoredRisk(
  { reason, why }: { readonly reason: RiskReason; readonly why: string },
  { listedShare, signals }: RiskEvidence,
  { caps, grades }: Pick<Policy, "caps" | "grades">,
): Risk {
  const cap = capOf(listedShare, caps);
  const named = namesOf(signals);
  if (cap !== null) {
    const level = LEVELS[gradeOf(cap, grades)];
    const verdict = `${shown(level)} risk at least: ${named === "" ? LISTED_WORDS : named}; else ${why}.`;
    return { score: 100 - cap, level, reason: "listed_counterparties", verdict };
  }
  const verdict =
    named === ""
      ? `Unknown risk: ${why}, which is no sign of risk.`
      : `Unknown risk: ${why}; seen so far: ${named}.`;
  return { score: null, level: "UNKNOWN", reason, verdict };
}

function scoredRisk(
  { ahsScore, confidenceLevel }: { readonly ahsScore: number; readonly confidenceLevel: ConfidenceLevel },
  { listedShare, signals }: RiskEvidence,
  { caps, grades }: Pick<Policy, "caps" | "grades">,
): Risk {
  const points = Math.min(ahsScore, capOf(listedShare, caps) ?? ahsScore);
  const level = LEVELS[gradeOf(points, grades)];
  const named = namesOf(signals);
  const found = named === "" ? "nothing notable speaks against the wallet" : named;
  const caution = confidenceLevel === "LOW" ? ", on little evidence" : "";
  return {
    score: 100 - points,
    level,
    reason: "scored",
    verdict: `${shown(level)} risk${caution}: ${found}.`,
  };
}

/** The most that a score can be with that share; null where the share takes nothing. */
function capOf(listedShare: number | null, { exposure }: Policy["caps"]): number | null {
  if (listedShare === null) return null;
  return exposure.find(({ from }) => listedShare >= from)?.cap ?? null;
}

function shown(level: RiskLevel): string {
  return `${level.charAt(0)}${level.slice(1).toLowerCase()}`;
}

function namesOf(signals: readonly RiskSignal[]): string {
  const notable = signals.filter(({ severity }) => severity !== "info").slice(0, NAMED_SIGNALS);
  return notable.map(({ name }) => name.replaceAll("_", " ")).join(", ");
}
