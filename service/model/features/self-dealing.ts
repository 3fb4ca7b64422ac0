import type { Policy } from "../score/policy-shape.ts";
import type { WeighedHistory } from "./weigh-calls.ts";

/** Whether most of the weight of a wallet's calls, and enough of them, stays within its owner's accounts. */
export function isSelfDealing(history: WeighedHistory, { patterns }: Policy): boolean {
  const { clusterShareAbove, minCalls } = patterns.selfDealingRing;
  return history.calls.length - history.outside.length >= minCalls && ownShare(history) > clusterShareAbove;
}

/** Share of the weight of all own calls that stays within the owner cluster, 0 to 1; 0 without calls. */
export function ownShare({ ownWeight, totalWeight }: WeighedHistory): number {
  return totalWeight === 0 ? 0 : ownWeight / totalWeight;
}
