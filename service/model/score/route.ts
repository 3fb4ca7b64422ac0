import { type Address, zeroAddress } from "viem";
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
};

/** Facts about a wallet by which a payment to it is routed. */
export type RoutingFacts = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly sanctioned: boolean;
  readonly score:
    | { readonly kind: "not_scored" }
    | { readonly kind: "insufficient" }
    | { readonly kind: "scored"; readonly grade: Grade; readonly confidenceLevel: ConfidenceLevel };
};

/** A score as routing sees it. Null: never scored; without a grade: too little history. */
export function routedScore(
  score: { grade: Grade | null; confidenceLevel: ConfidenceLevel } | null,
): RoutingFacts["score"] {
  if (score === null) return { kind: "not_scored" };
  const { grade, confidenceLevel } = score;
  return grade === null ? { kind: "insufficient" } : { kind: "scored", grade, confidenceLevel };
}

type RoutingDecision = {
  readonly action: RoutingAction;
  readonly reason:
    | "sanctioned"
    | "allowlist"
    | "confidence_override"
    | "grade"
    | "escrow_disabled"
    | "insufficient_history"
    | "not_scored";
};

/** The specification's table: A and B settle, C waits in escrow, the rest is rejected. */
export const DEFAULT_ROUTING: RoutingPolicy = {
  instantGrades: ["A", "B"],
  escrowGrades: ["C"],
  escrowDisabled: false,
  allowlist: [],
  confidenceOverrides: {},
  insufficientAction: "escrow",
};

/** Decides one payment: sanctions before the allowlist, and an escrow from any rule becomes a rejection where escrow is disabled. */
export function routeWallet(policy: RoutingPolicy, facts: RoutingFacts): RoutingDecision {
  if (facts.sanctioned) return { action: "reject", reason: "sanctioned" };
  if (policy.allowlist.includes(facts.wallet)) return { action: "instant_settle", reason: "allowlist" };
  const decision = routeByScore(policy, facts.score);
  if (decision.action === "escrow" && policy.escrowDisabled) {
    return { action: "reject", reason: "escrow_disabled" };
  }
  return decision;
}

/** The action of the default table for a score. Its allowlist is empty: no address decides. */
export function defaultAction(facts: {
  readonly sanctioned: boolean;
  readonly score: Parameters<typeof routedScore>[0];
}): RoutingAction {
  const score = routedScore(facts.score);
  return routeWallet(DEFAULT_ROUTING, { wallet: zeroAddress, sanctioned: facts.sanctioned, score }).action;
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
