import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { checksumAddress, type Hex, numberToHex } from "viem";
import { eventId } from "../../alerts/plan-events.ts";
import { insertEvents, type NewEvent } from "../../alerts/webhook-events.ts";
import type { RunCause } from "../../db/tables/verdict.ts";
import type { JobName } from "../escrow/types.ts";
import type { Decision } from "../panel/types.ts";

/** Events of a verdict. They go to the webhook_url of its output and need no subscription. */
export type VerdictEvent = "verdict.completed" | "verdict.held" | "verdict.failed" | "verdict.review_due";

/** Changes of a verdict that notify its endpoint. */
export type VerdictNews =
  /** A decision was stored: verdict.held where it is HOLD, else verdict.completed. */
  | { kind: "decided"; run: number; cause: RunCause; decision: Decision; evidenceHash: Hex }
  /** It failed; retries: how often its owner retried it before. */
  | { kind: "failed"; message: string; retries: number }
  /** A reviewer is asked to decide on its HOLD before its job runs out. */
  | ({ kind: "review_due"; reviewBy: Date; expiresAt: Date } & JobName);

/** `data` of verdict.completed and verdict.held; times are ISO 8601. */
export type DecidedData = {
  readonly verdict_id: string;
  readonly status: "completed";
  readonly final_verdict: Decision;
  readonly run: number;
  readonly cause: RunCause;
  readonly evidence_hash: string;
  readonly evaluated_at: string;
};

/** `data` of verdict.failed. */
export type FailedData = {
  readonly verdict_id: string;
  readonly status: "failed";
  readonly error_message: string;
};

/** `data` of verdict.review_due: the job's id in hexadecimal, times in ISO 8601. */
export type ReviewDueData = {
  readonly verdict_id: string;
  readonly status: "completed";
  readonly final_verdict: "HOLD";
  readonly chain_id: number;
  readonly escrow: string;
  readonly job_id: string;
  readonly review_by: string;
  readonly expires_at: string;
};

/** A verdict and the time of a change. */
type VerdictMoment = { verdictId: string; at: Date };

/**
 * Queues the event of a change in the database transaction that makes it; none if the output has no webhook_url. A repeated call queues it
 * once.
 */
export async function notifyOfVerdict(
  tx: NodePgDatabase,
  news: VerdictNews,
  moment: VerdictMoment,
): Promise<void> {
  const endpoint = await takeVerdictEndpoint(tx, moment.verdictId);
  if (endpoint === null) return;
  const event = verdictEvent(news, moment, endpoint.id);
  await insertEvents(tx, [endpoint.isDisabled ? { ...event, state: "dropped" } : event]);
}

/** Builds the event of a change for one endpoint. */
export function verdictEvent(news: VerdictNews, moment: VerdictMoment, endpointId: string): NewEvent {
  const { verdictId, at } = moment;
  const { type, occasion, data } = describe(news, moment);
  const dedupeKey = `${type}:${verdictId}:${occasion}`;
  return {
    id: eventId(endpointId, dedupeKey),
    endpointId,
    subscriptionId: null,
    type,
    dedupeKey,
    body: JSON.stringify({ type, timestamp: at.toISOString(), data }),
    state: "pending",
    notBefore: at,
    createdAt: at,
  };
}

function describe(
  news: VerdictNews,
  { verdictId: verdict_id, at }: VerdictMoment,
): { type: VerdictEvent; occasion: number | "once"; data: DecidedData | FailedData | ReviewDueData } {
  switch (news.kind) {
    case "decided": {
      const { run, cause, decision: final_verdict, evidenceHash: evidence_hash } = news;
      const data = { verdict_id, status: "completed", final_verdict, run, cause, evidence_hash } as const;
      return {
        type: final_verdict === "HOLD" ? "verdict.held" : "verdict.completed",
        occasion: run,
        data: { ...data, evaluated_at: at.toISOString() },
      };
    }
    case "failed": {
      const data = { verdict_id, status: "failed", error_message: news.message } as const;
      return { type: "verdict.failed", occasion: news.retries, data };
    }
    case "review_due": {
      const data: ReviewDueData = {
        verdict_id,
        status: "completed",
        final_verdict: "HOLD",
        chain_id: news.chainId,
        escrow: checksumAddress(news.escrow),
        job_id: numberToHex(news.jobId),
        review_by: news.reviewBy.toISOString(),
        expires_at: news.expiresAt.toISOString(),
      };
      return { type: "verdict.review_due", occasion: "once", data };
    }
  }
}

/**
 * Locks and reads the endpoint of a verdict; null without one. A disabled one was given up: nothing is delivered then. Other writers of the
 * endpoint and its events wait until the database transaction ends.
 */
async function takeVerdictEndpoint(tx: NodePgDatabase, verdictId: string) {
  const { rows } = await tx.execute<{ id: string; isDisabled: boolean }>(sql`
    select w.id, w.disabled_at is not null as "isDisabled"
    from ahs.verdict v join ahs.webhook_endpoint w on w.id = v.endpoint_id
    where v.id = ${verdictId} for no key update of w`);
  return rows[0] ?? null;
}
