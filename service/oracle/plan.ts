import { gradeOf } from "../chain/oracle-codec.ts";
import type { PublishReason } from "../db/tables/publish.ts";
import type { PublishPolicy } from "./publish-policy.ts";

/** The part of a score that publishing compares: stored, under way or on chain. */
export type Published = {
  /** Null for a wallet without enough history. */
  readonly ahsScore: number | null;
  readonly sanctioned: boolean;
  /** Zero where unknown or sanctioned. */
  readonly safeMicroUsd: bigint;
  readonly asOf: number;
  readonly asOfTime: Date;
};

/** The oracle's record, or the one of a transaction under way. */
export type OnChain =
  | { readonly kind: "none" }
  /** Cleared by the owner; the contract still refuses anything as old as this. */
  | { readonly kind: "cleared"; readonly asOfFloor: number }
  | { readonly kind: "record"; readonly record: Published };

export type PlanInput = {
  readonly score: Published;
  readonly onChain: OnChain;
  /** Time of the last reading, payment or subscription for the wallet. */
  readonly interestAt: Date | null;
  readonly now: Date;
};

/** Why a score is not published: nothing on chain would change, or the contract would skip it. */
export type Idle = "unchanged" | "insufficient_unpublished" | "not_newer";

type Decision =
  | { readonly kind: "publish"; readonly reason: PublishReason }
  | { kind: "wait_for_budget"; reason: PublishReason }
  | { readonly kind: "skip"; readonly because: Idle };

/**
 * Whether a score goes on chain now, and why. `spentGas` is the gas of today's publications,
 * those under way at their limit.
 */
export function planPublish(input: PlanInput, spentGas: bigint, policy: PublishPolicy): Decision {
  const wish = reasonToPublish(input, policy);
  if (wish.kind !== "publish") return wish;
  return isWithinBudget(wish.reason, spentGas, policy)
    ? wish
    : { kind: "wait_for_budget", reason: wish.reason };
}

/** Whether a score ought to go on chain, whatever it costs. */
export function reasonToPublish(
  input: PlanInput,
  policy: PublishPolicy,
): Exclude<Decision, { kind: "wait_for_budget" }> {
  const { score, onChain } = input;
  if (onChain.kind !== "record") return reasonForNew(score, onChain);
  const { record } = onChain;
  const reason = reasonForChange(score, record, policy) ?? reasonForAge(input, record, policy);
  if (reason === null) return { kind: "skip", because: "unchanged" };
  if (score.asOf <= record.asOf) return { kind: "skip", because: "not_newer" };
  return { kind: "publish", reason };
}

/**
 * As the budget is used up, heartbeats stop first, then moves, first publications, safe amounts and grades. Flags are always sent.
 */
export function isWithinBudget(reason: PublishReason, spentGas: bigint, policy: PublishPolicy): boolean {
  if (reason === "flag") return true;
  return spentGas * 100n < policy.dailyGas * BigInt(policy.budgetPercent[reason]);
}

function reasonForNew(
  score: Published,
  onChain: Exclude<OnChain, { kind: "record" }>,
): ReturnType<typeof reasonToPublish> {
  if (score.ahsScore === null) return { kind: "skip", because: "insufficient_unpublished" };
  if (onChain.kind === "cleared" && score.asOf <= onChain.asOfFloor)
    return { kind: "skip", because: "not_newer" };
  return { kind: "publish", reason: score.sanctioned ? "flag" : "first" };
}

function reasonForChange(score: Published, record: Published, policy: PublishPolicy): PublishReason | null {
  if (score.sanctioned !== record.sanctioned) return "flag";
  const [newGrade, oldGrade] = [score, record].map(({ ahsScore }) =>
    ahsScore === null ? null : gradeOf(ahsScore),
  );
  if (newGrade !== oldGrade) return "grade";
  if (isBackingChange(score.safeMicroUsd, record.safeMicroUsd, policy.safeAmount)) return "backing";
  if (score.ahsScore === null || record.ahsScore === null) return null;
  return Math.abs(score.ahsScore - record.ahsScore) >= policy.movePoints ? "move" : null;
}

/** Whether a safe amount fell or rose so far that readers of the published one would be misled. */
function isBackingChange(now: bigint, published: bigint, policy: PublishPolicy["safeAmount"]): boolean {
  const isRise = now >= policy.leastRiseMicroUsd && now > published * policy.riseFactor;
  return isRise || now * policy.fallFactor < published;
}

function reasonForAge(input: PlanInput, record: Published, policy: PublishPolicy): PublishReason | null {
  const { interestAt, now } = input;
  if (interestAt === null || now.getTime() - interestAt.getTime() > policy.interestMs) return null;
  return now.getTime() - record.asOfTime.getTime() >= policy.heartbeatMs ? "heartbeat" : null;
}
