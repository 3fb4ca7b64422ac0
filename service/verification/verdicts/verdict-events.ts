import { eq, isNotNull, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { alias } from "drizzle-orm/pg-core";
import { checksumAddress, type Hex, numberToHex } from "viem";
import { eventId } from "../../alerts/plan-events.ts";
import { insertEvents, type NewEvent } from "../../alerts/webhook-events.ts";
import { webhookEndpoint } from "../../db/tables/alerts.ts";
import type { Appellant } from "../../db/tables/appeal.ts";
import { type RunCause, verdict } from "../../db/tables/verdict.ts";
import type { JobName } from "../escrow/types.ts";
import type { Decision } from "../panel/types.ts";

/** Events of a verdict. They go to the webhook_url of its output and need no subscription. */
export type VerdictEvent =
  | "verdict.completed"
  | "verdict.held"
  | "verdict.failed"
  | "verdict.review_due"
  | "verdict.appealed"
  | "verdict.appeal_held"
  | "verdict.appeal_failed";

/** Changes of a verdict that notify its endpoint. */
export type VerdictNews =
  /** A decision was stored: verdict.held where it is HOLD, else verdict.completed. */
  | { kind: "decided"; run: number; cause: RunCause; decision: Decision; evidenceHash: Hex }
  /** It failed; retries: how often its owner retried it before. */
  | { kind: "failed"; message: string; retries: number }
  /** Its decision is under appeal. The second panel's decision is an event of its own. */
  | { kind: "appealed"; run: number; decision: Decision; appellant: Appellant; decideBy: Date }
  /** The second panel decided HOLD in this run, so the appealed decision is valid. */
  | { kind: "appeal_held"; run: number; appealedRun: number }
  /** The appeal gave no decision, so the earlier one is valid. */
  | { kind: "appeal_failed"; run: number; message: string }
  /** A reviewer is asked to decide on its HOLD before its job runs out. */
  | ({ kind: "review_due"; reviewBy: Date; expiresAt: Date } & JobName);

/** `data` of an event, with hexadecimal values as text; times are ISO 8601. */
type EventData = AsText<ReturnType<typeof describe>["data"]>;
type AsText<Data> = { readonly [Key in keyof Data]: Data[Key] extends Hex ? string : Data[Key] };
export type DecidedData = Extract<EventData, { evidence_hash: string }>;
export type AppealHeldData = Extract<EventData, { run: number; appealed_run: number }>;
export type FailedData = Extract<EventData, { status: "failed" }>;
export type AppealedData = Extract<EventData, { appellant: Appellant }>;
export type AppealFailedData = Extract<EventData, { appealed_run: number; error_message: string }>;
export type ReviewDueData = Extract<EventData, { review_by: string }>;

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

function describe(news: VerdictNews, { verdictId: verdict_id, at }: VerdictMoment) {
  switch (news.kind) {
    case "decided": {
      const { run, cause, decision: final_verdict, evidenceHash: evidence_hash } = news;
      const decided = { verdict_id, status: "completed", final_verdict, run, cause, evidence_hash } as const;
      const type: VerdictEvent = final_verdict === "HOLD" ? "verdict.held" : "verdict.completed";
      return { type, occasion: run, data: { ...decided, evaluated_at: at.toISOString() } };
    }
    case "failed": {
      const data = { verdict_id, status: "failed", error_message: news.message } as const;
      return { type: "verdict.failed" as const, occasion: news.retries, data };
    }
    case "appealed": {
      const { run: appealed_run, decision: final_verdict, appellant, decideBy } = news;
      const decided = { verdict_id, status: "completed", final_verdict, appealed_run } as const;
      const data = { ...decided, appellant, decide_by: decideBy.toISOString() };
      return { type: "verdict.appealed" as const, occasion: "once", data };
    }
    case "appeal_held": {
      const { run, appealedRun: appealed_run } = news;
      const data = { verdict_id, status: "completed", run, appealed_run } as const;
      return { type: "verdict.appeal_held" as const, occasion: "once", data };
    }
    case "appeal_failed": {
      const { run: appealed_run, message: error_message } = news;
      const data = { verdict_id, status: "completed", appealed_run, error_message } as const;
      return { type: "verdict.appeal_failed" as const, occasion: "once", data };
    }
    case "review_due": {
      const held = { verdict_id, status: "completed", final_verdict: "HOLD" } as const;
      const data = {
        ...held,
        chain_id: news.chainId,
        escrow: checksumAddress(news.escrow),
        job_id: numberToHex(news.jobId),
        review_by: news.reviewBy.toISOString(),
        expires_at: news.expiresAt.toISOString(),
      };
      return { type: "verdict.review_due" as const, occasion: "once", data };
    }
  }
}

/**
 * Locks and reads the endpoint of a verdict; null without one. A disabled one was given up: nothing is delivered then. Other writers of the
 * endpoint and its events wait until the database transaction ends.
 */
async function takeVerdictEndpoint(tx: NodePgDatabase, verdictId: string) {
  const w = alias(webhookEndpoint, "w");
  const [row] = await tx
    .select({ id: w.id, isDisabled: sql<boolean>`${isNotNull(w.disabledAt)}` })
    .from(verdict)
    .innerJoin(w, eq(w.id, verdict.endpointId))
    .where(eq(verdict.id, verdictId))
    .for("no key update", { of: w });
  return row ?? null;
}
