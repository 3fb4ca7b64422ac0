import type { Hex } from "viem";
import type { Database } from "../../db/database.ts";
import type { Decision } from "../panel/types.ts";
import type { Review } from "./build-review.ts";
import { reviewFailed, reviewHeld } from "./build-review.ts";
import { storable } from "./storable.ts";
import { storeDecision } from "./store-decision.ts";
import { readVerdictCase } from "./verdict-cases.ts";
import { takeFailedOfJob } from "./verdict-retries.ts";
import { takeNewestDecision } from "./verdict-runs.ts";

export type ReviewDeps = { readonly db: Database; readonly chainId: number; readonly now: () => Date };

/**
 * not_held: the newest decision is not HOLD. undecided: there is none, and the verdict is not a failed one of a job, or there is no
 * such verdict.
 */
export type ReviewOutcome =
  | { readonly kind: "recorded"; readonly run: number; readonly evidenceHash: Hex }
  | { readonly kind: "not_held"; readonly finalVerdict: Decision }
  | { readonly kind: "undecided" };

/**
 * Stores a reviewer's decision as one of its own, with evidence that names reviewer and reason: on a held verdict, whose score and
 * findings stay the panel's, or on a failed one of a job, which has neither. A re-run that is due or under way then comes to nothing.
 */
export async function recordReview(deps: ReviewDeps, review: Review): Promise<ReviewOutcome> {
  const { verdictId } = review;
  return deps.db.transaction(async (tx) => {
    const newest = await takeNewestDecision(tx, verdictId);
    if (newest === null && !(await takeFailedOfJob(tx, verdictId))) return { kind: "undecided" };
    if (newest !== null && newest.finalVerdict !== "HOLD")
      return { kind: "not_held", finalVerdict: newest.finalVerdict };
    const verdictCase = await readVerdictCase(tx, { verdictId, chainId: deps.chainId });
    const reviewed = { review: storable(review), verdictCase, at: deps.now() };
    const decision = newest === null ? reviewFailed(reviewed) : reviewHeld(newest, reviewed);
    await storeDecision(tx, decision);
    return { kind: "recorded", run: decision.run, evidenceHash: decision.evidence.hash };
  });
}
