import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, checksumAddress, type Hex, numberToHex } from "viem";
import { eventId } from "../../alerts/plan-events.ts";
import { insertEvents, type NewEvent } from "../../alerts/webhook-events.ts";
import type { RunCause } from "../../db/tables/verdict.ts";
import type { Decision } from "../panel/types.ts";

/** Events of a verdict. They go to the webhook_url of its output and need no subscription. */
export type VerdictEvent = "verdict.completed" | "verdict.held" | "verdict.failed" | "verdict.review_due";

/** Changes of a verdict that notify its endpoint. */
export type VerdictNews =
  /** A decision was stored: verdict.held where it is HOLD, else verdict.completed. */
  | {
      readonly kind: "decided";
      readonly run: number;
      readonly cause: RunCause;
      readonly decision: Decision;
      readonly evidenceHash: Hex;
    }
  /** It failed; retries: how often its owner retried it before. */
  | { readonly kind: "failed"; readonly message: string; readonly retries: number }
  /** A reviewer is asked to decide on its HOLD before its job runs out. */
  | {
      readonly kind: "review_due";
      readonly chainId: number;
      readonly escrow: Address;
      readonly jobId: bigint;
      readonly reviewBy: Date;
      readonly expiresAt: Date;
    };

/** `data` of verdict.completed and verdict.held. */
export type DecidedData = {
  readonly verdict_id: string;
  readonly status: "completed";
  readonly final_verdict: Decision;
  /** The decision's number, from 1 on. */
  readonly run: number;
  readonly cause: RunCause;
  readonly evidence_hash: string;
  /** ISO 8601. */
  readonly evaluated_at: string;
};

/** `data` of verdict.failed. */
export type FailedData = {
  readonly verdict_id: string;
  readonly status: "failed";
  readonly error_message: string;
};

/** `data` of verdict.review_due. */
export type ReviewDueData = {
  readonly verdict_id: string;
  readonly status: "completed";
  readonly final_verdict: "HOLD";
  readonly chain_id: number;
  /** EIP-55. */
  readonly escrow: string;
  /** Hexadecimal, as the verdict's answer has it. */
  readonly job_id: string;
  /** ISO 8601, as expires_at is. */
  readonly review_by: string;
  readonly expires_at: string;
};

/** A verdict and the time of a change. */
type VerdictMoment = { readonly verdictId: string; readonly at: Date };

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
export function verdictEvent(
  news: VerdictNews,
  { verdictId, at }: VerdictMoment,
  endpointId: string,
): NewEvent {
  const { type, occasion } = nameOf(news);
  const dedupeKey = `${type}:${verdictId}:${occasion}`;
  return {
    id: eventId(endpointId, dedupeKey),
    endpointId,
    subscriptionId: null,
    type,
    dedupeKey,
    body: JSON.stringify({ type, timestamp: at.toISOString(), data: dataOf(news, { verdictId, at }) }),
    state: "pending",
    notBefore: at,
    createdAt: at,
  };
}

function nameOf(news: VerdictNews): { readonly type: VerdictEvent; readonly occasion: string } {
  switch (news.kind) {
    case "decided":
      return {
        type: news.decision === "HOLD" ? "verdict.held" : "verdict.completed",
        occasion: String(news.run),
      };
    case "failed":
      return { type: "verdict.failed", occasion: String(news.retries) };
    case "review_due":
      return { type: "verdict.review_due", occasion: "once" };
  }
}

function dataOf(
  news: VerdictNews,
  { verdictId, at }: VerdictMoment,
): DecidedData | FailedData | ReviewDueData {
  switch (news.kind) {
    case "decided":
      return {
        verdict_id: verdictId,
        status: "completed",
        final_verdict: news.decision,
        run: news.run,
        cause: news.cause,
        evidence_hash: news.evidenceHash,
        evaluated_at: at.toISOString(),
      };
    case "failed":
      return { verdict_id: verdictId, status: "failed", error_message: news.message };
    case "review_due":
      return {
        verdict_id: verdictId,
        status: "completed",
        final_verdict: "HOLD",
        chain_id: news.chainId,
        escrow: checksumAddress(news.escrow),
        job_id: numberToHex(news.jobId),
        review_by: news.reviewBy.toISOString(),
        expires_at: news.expiresAt.toISOString(),
      };
  }
}

/** Endpoint of a verdict's events. */
type VerdictEndpoint = {
  readonly id: string;
  /** True after it was given up: nothing is delivered then. */
  readonly isDisabled: boolean;
};

/**
 * Locks and reads the endpoint of a verdict; null without one. Other writers of the endpoint and its events wait until the database
 * transaction ends.
 */
async function takeVerdictEndpoint(tx: NodePgDatabase, verdictId: string): Promise<VerdictEndpoint | null> {
  const { rows } = await tx.execute<{ id: string; disabled: boolean }>(sql`
    select w.id, w.disabled_at is not null as disabled
    from ahs.verdict v join ahs.webhook_endpoint w on w.id = v.endpoint_id
    where v.id = ${verdictId} for no key update of w`);
  const [row] = rows;
  return row === undefined ? null : { id: row.id, isDisabled: row.disabled };
}
