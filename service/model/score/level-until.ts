import { confidenceOf } from "./confidence.ts";
import type { MeasuredWallet } from "./measured-wallet.ts";
import type { Policy } from "./policy-shape.ts";
import type { ConfidenceLevel } from "./record.ts";

const SECONDS_PER_DAY = 86_400;

/** After so many half-lives of silence no confidence is left. */
const HALVINGS = 64;

const RANK: Readonly<Record<ConfidenceLevel, number>> = { HIGH: 3, MEDIUM: 2, LOW: 1, INSUFFICIENT: 0 };

/**
 * First second after a moment at which a wallet's confidence is of a lower level than at that moment, if it makes no more
 * call; null for a level that cannot fall. Times are Unix seconds.
 */
export function levelUntil(wallet: MeasuredWallet, now: number, policy: Policy): number | null {
  const level = RANK[confidenceOf(wallet, now, policy).level];
  if (level === 0) return null;
  // Confidence may rise at first, while an uncovered past loses weight, but once it falls it never rises again.
  let before = now;
  let after = now + HALVINGS * policy.confidence.idleHalfLifeDays * SECONDS_PER_DAY;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (RANK[confidenceOf(wallet, middle, policy).level] < level) after = middle;
    else before = middle;
  }
  return after;
}
