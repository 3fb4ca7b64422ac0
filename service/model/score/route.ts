import { type Address, zeroAddress } from "viem";
import { MICRO } from "./fixed-point.ts";
import type { ConfidenceLevel, Grade, RoutingAction } from "./record.ts";

/** An integrator's answer to grades; grades in neither set are rejected. */
export type RoutingPolicy = {
  readonly instantGrades: readonly Grade[];
  readonly escrowGrades: readonly Grade[];
  readonly escrowDisabled: boolean;
  /** Wallets that settle whatever their score, unless sanctioned; lower-case. */
  readonly allowlist: readonly Address[];
  readonly confidenceOverrides: {
    readonly [grade in Grade]?: { readonly [level in ConfidenceLevel]?: RoutingAction };
  };
  readonly insufficientAction: RoutingAction;
  /** Greatest amount that settles at once, in millionths of a US dollar; a safe integer. Null for no limit of its own. */
  readonly maxInstantMicroUsd: number | null;
  /** Factor of the available amount up to which payments settle at once, in millionths. 0: none does whose amount is given. */
  readonly safeAmountMultipleMicros: number;
  /** Lowest confidence that settles at once; null for any. */
  readonly minConfidenceForInstant: Exclude<ConfidenceLevel, "INSUFFICIENT"> | null;
  /** Effect of a list of threats on routing: none if absent; escrow holds payments that would settle at once. */
  readonly threatAction?: "ignore" | "escrow" | "reject";
};

/** Facts about a wallet by which a payment to it is routed. */
export type RoutingFacts = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly sanctioned: boolean;
  /** Whether it is on a list of threats. */
  readonly threatened: boolean;
  readonly score:
    | { readonly kind: "not_scored" }
    | { readonly kind: "insufficient" }
    | { readonly kind: "scored"; readonly grade: Grade; readonly confidenceLevel: ConfidenceLevel };
  /** Null if the caller gave no amount. */
  readonly payment: {
    readonly amountMicroUsd: bigint;
    /** Part of the safe amount that is not outstanding; null if no backing was computed for the chain. */
    readonly availableMicroUsd: bigint | null;
  } | null;
};

/** A score as routing sees it. Null: never scored; without a grade: too little history. */
export function routedScore(
  score: { grade: Grade | null; confidenceLevel: ConfidenceLevel } | null,
): RoutingFacts["score"] {
  if (score === null) return { kind: "not_scored" };
  const { grade, confidenceLevel } = score;
  return grade === null ? { kind: "insufficient" } : { kind: "scored", grade, confidenceLevel };
}

/** An action, and the rule that decided it. */
export type RoutingDecision = {
  readonly action: RoutingAction;
  readonly reason:
    | "sanctioned"
    | "allowlist"
    | "threat_listed"
    | "confidence_override"
    | "grade"
    | "escrow_disabled"
    | "insufficient_history"
    | "not_scored"
    | "confidence_below_minimum"
    | "above_max_instant"
    | "backing_unknown"
    | "above_safe_amount";
};

/** The specification's table: A and B settle, C waits in escrow, the rest is rejected. */
export const DEFAULT_ROUTING: RoutingPolicy = {
  instantGrades: ["A", "B"],
  escrowGrades: ["C"],
  escrowDisabled: false,
  allowlist: [],
  confidenceOverrides: {},
  insufficientAction: "escrow",
  maxInstantMicroUsd: null,
  safeAmountMultipleMicros: MICRO,
  minConfidenceForInstant: null,
};

/**
 * Decides one payment. Sanctions come before the allowlist, and the allowlist before all else. Then the score decides, and limits
 * of confidence and amount turn settling at once into escrow. Last, an escrow from any rule becomes a rejection where escrow is
 * disabled.
 */
export function routeWallet(policy: RoutingPolicy, facts: RoutingFacts): RoutingDecision {
  if (facts.sanctioned) return { action: "reject", reason: "sanctioned" };
  if (policy.allowlist.includes(facts.wallet)) return { action: "instant_settle", reason: "allowlist" };
  const byScore = routeByScore(policy, facts.score);
  const byThreat = facts.threatened ? heldByThreat(policy, byScore) : byScore;
  const limit = byThreat.action === "instant_settle" ? limitOf(policy, facts) : null;
  const decision = limit === null ? byThreat : ({ action: "escrow", reason: limit } as const);
  if (decision.action === "escrow" && policy.escrowDisabled) {
    return { action: "reject", reason: "escrow_disabled" };
  }
  return decision;
}

/** The decision of the default table for a score. Its allowlist is empty: no address decides. */
export function defaultDecision(facts: {
  readonly sanctioned: boolean;
  readonly score: Parameters<typeof routedScore>[0];
}): RoutingDecision {
  const score = routedScore(facts.score);
  const { sanctioned } = facts;
  const wallet = zeroAddress;
  return routeWallet(DEFAULT_ROUTING, { wallet, sanctioned, threatened: false, score, payment: null });
}

/** The action of that decision. */
export function defaultAction(facts: Parameters<typeof defaultDecision>[0]): RoutingAction {
  return defaultDecision(facts).action;
}

/** An escrow for threats softens no rejection. */
function heldByThreat({ threatAction }: RoutingPolicy, decision: RoutingDecision): RoutingDecision {
  switch (threatAction ?? "ignore") {
    case "ignore":
      return decision;
    case "escrow":
      return decision.action === "instant_settle" ? { action: "escrow", reason: "threat_listed" } : decision;
    case "reject":
      return { action: "reject", reason: "threat_listed" };
  }
}

function routeByScore(policy: RoutingPolicy, score: RoutingFacts["score"]): RoutingDecision {
  switch (score.kind) {
    case "not_scored":
      return { action: policy.insufficientAction, reason: "not_scored" };
    case "insufficient":
      return { action: policy.insufficientAction, reason: "insufficient_history" };
    case "scored":
      return routeByGrade(policy, score);
  }
}

function routeByGrade(
  policy: RoutingPolicy,
  { grade, confidenceLevel }: { readonly grade: Grade; readonly confidenceLevel: ConfidenceLevel },
): RoutingDecision {
  const override = policy.confidenceOverrides[grade]?.[confidenceLevel];
  if (override !== undefined) return { action: override, reason: "confidence_override" };
  if (policy.instantGrades.includes(grade)) return { action: "instant_settle", reason: "grade" };
  if (policy.escrowGrades.includes(grade)) return { action: "escrow", reason: "grade" };
  return { action: "reject", reason: "grade" };
}

/** From the lowest to the highest. */
const LEVELS: readonly ConfidenceLevel[] = ["INSUFFICIENT", "LOW", "MEDIUM", "HIGH"];

/** Why a payment that the score settles at once waits in escrow; null if it need not. */
function limitOf(policy: RoutingPolicy, { score, payment }: RoutingFacts): RoutingDecision["reason"] | null {
  const { minConfidenceForInstant, maxInstantMicroUsd, safeAmountMultipleMicros } = policy;
  const level = score.kind === "scored" ? score.confidenceLevel : "INSUFFICIENT";
  if (minConfidenceForInstant !== null && LEVELS.indexOf(level) < LEVELS.indexOf(minConfidenceForInstant))
    return "confidence_below_minimum";
  if (payment === null) return null;
  const { amountMicroUsd, availableMicroUsd } = payment;
  if (maxInstantMicroUsd !== null && amountMicroUsd > BigInt(maxInstantMicroUsd)) return "above_max_instant";
  if (availableMicroUsd === null) return "backing_unknown";
  const isSafe = amountMicroUsd * BigInt(MICRO) <= availableMicroUsd * BigInt(safeAmountMultipleMicros);
  return isSafe ? null : "above_safe_amount";
}
