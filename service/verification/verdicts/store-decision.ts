import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Hex } from "viem";
import type { RunCause } from "../../db/tables/verdict.ts";
import { queueDecision } from "../escrow/settlement-queue.ts";
import type { VerdictResult } from "./types.ts";
import { tellOfVerdict } from "./verdict-events.ts";
import { insertDecision } from "./verdict-runs.ts";

/** A decision on an output, of the panel or a reviewer. */
export type NewDecision = {
  readonly verdictId: string;
  /** One more than the decisions before it. */
  readonly run: number;
  readonly cause: RunCause;
  readonly result: VerdictResult;
  readonly evidence: { readonly body: string; readonly hash: Hex };
  readonly at: Date;
};

/**
 * Writes a decision, makes it its verdict's newest, queues it to be signed where it is on a bound job, and queues the event that tells
 * of it, in a transaction that holds the verdict's row already: the caller has seen there that the decision is still wanted. Throws
 * where it is not the next one.
 */
export async function storeDecision(tx: NodePgDatabase, decision: NewDecision): Promise<void> {
  const { verdictId, run, cause, result, evidence, at } = decision;
  await insertDecision(tx, {
    verdictId,
    run,
    cause,
    finalVerdict: result.final_verdict,
    result,
    evidence: evidence.body,
    evidenceHash: evidence.hash,
    createdAt: at,
  });
  await queueDecision(tx, { verdictId, run }, at);
  await tellOfVerdict(
    tx,
    { kind: "decided", run, cause, decision: result.final_verdict, evidenceHash: evidence.hash },
    { verdictId, at },
  );
}
