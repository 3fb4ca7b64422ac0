import { and, eq, exists, gte, inArray, isNotNull, isNull, lte, ne, or, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Database } from "../../db/database.ts";
import { webhookEndpoint } from "../../db/tables/alerts.ts";
import { payment } from "../../db/tables/payment.ts";
import { outputText, verdict } from "../../db/tables/verdict.ts";
import type { JobName } from "../escrow/types.ts";
import { fateOf, keepPrice, lockPrice, type PriceFate } from "./purchase-price.ts";
import { placeOf } from "./sealed-texts.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** Retries of a verdict. After them a new submission takes the place of the failed verdict. */
export const MAX_RETRIES = 3;

/**
 * Queues an unsettled output, captures its debit and marks its payment answered, with the response for repeats of the request. A webhook
 * secret is shown only in the first response. Throws if the price was given back.
 */
export async function activate(tx: NodePgDatabase, found: Unsettled, at: Date): Promise<void> {
  const { verdictId, hasEndpoint } = found;
  await tx
    .update(verdict)
    .set({ status: "pending", acceptedAt: at, notBefore: at, leaseUntil: null, updatedAt: at })
    .where(isUnsettled(verdictId));
  await wakeWorkers(tx);
  const secret = hasEndpoint ? { webhook_secret: null } : {};
  const answer = { verdict_id: verdictId, status: "pending", ...secret };
  await keepPrice(tx, found, { answer, bought: `verdict ${verdictId}`, at });
}

async function resolve(tx: NodePgDatabase, found: Unsettled, at: Date): Promise<PriceFate> {
  const fate = fateOf(found);
  if (fate === "activate") await activate(tx, found, at);
  if (fate === "drop") await dropIntake(tx, found.verdictId);
  return fate;
}

/**
 * Decides in one database transaction about an unsettled output whose request is overdue. It waits if the price is still open or the output
 * is not overdue. Null if it is not unsettled any more.
 */
export function settleOverdue(db: Database, verdictId: string, now: Date): Promise<PriceFate | null> {
  return db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found === null) return null;
    if (found.leaseUntil !== null && found.leaseUntil > now) return "wait";
    return resolve(tx, found, now);
  });
}

/** Decides about an unsettled output whose request ended without a response. One with an open price is left to the sweep. */
export async function withdrawIntake(db: Database, verdictId: string, now: Date): Promise<void> {
  await db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found === null) return;
    // The next reader decides then.
    if ((await resolve(tx, found, now)) === "wait") await leaseUntil(tx, verdictId, now);
  });
}

const BATCH = 100;
/** Payments are compared with the chain every few seconds. */
const RECHECK_MS = 5_000;

/** Decides about every overdue unsettled output and returns the count of each fate. A failure is logged and retried later. */
export async function settleIntake({
  db,
  logger,
  now,
}: {
  db: Database;
  logger: Logger;
  now: () => Date;
}): Promise<Readonly<Record<PriceFate, number>>> {
  const tally = { activate: 0, drop: 0, wait: 0 };
  const overdue = await db
    .select({ verdictId: verdict.id })
    .from(verdict)
    .where(and(eq(verdict.status, "unsettled"), lte(verdict.leaseUntil, now())))
    .orderBy(verdict.leaseUntil)
    .limit(BATCH);
  for (const { verdictId } of overdue) {
    try {
      const fate = await settleOverdue(db, verdictId, now());
      if (fate === null) continue;
      tally[fate] += 1;
      if (fate === "activate")
        logger.warn({ verdict: verdictId }, "paid output queued after its request had ended");
      if (fate === "drop")
        logger.info({ verdict: verdictId }, "unpaid output dropped after its request had ended");
      if (fate !== "wait") continue;
    } catch (error) {
      logger.error({ err: error, verdict: verdictId }, "unsettled output not decided: looking again later");
    }
    await leaseUntil(db, verdictId, new Date(now().getTime() + RECHECK_MS));
  }
  return tally;
}

/** A submitted output with a reserved price; addresses in lower case. */
export type NewIntake = Pick<
  typeof verdict.$inferSelect,
  | "specId"
  | "slot"
  | "outputHash"
  | "submittedBy"
  | "submitterAddr"
  | "providerAddr"
  | "owner"
  | "units"
  | "debitId"
  | "paymentId"
  | "stakeMicroUsd"
  | "expiresAt"
  | "runTokens"
> & {
  verdictId: string;
  outputText: string;
  /** Null if its specification is not bound. */
  job: JobName | null;
  /** Endpoint of its events; null without one. */
  endpoint: { id: string; url: string; secret: string } | null;
  at: Date;
  /** Until then only its request decides about it. */
  leaseUntil: Date;
};

/**
 * Stores an output with its text and endpoint in one database transaction. It replaces a failed verdict that gives up the slot (see
 * isReplaceable). False, and nothing stored, if another verdict holds the slot.
 */
export function insertIntake(db: Database, intake: NewIntake): Promise<boolean> {
  const { verdictId, endpoint, job, at, ...row } = intake;
  return db.transaction(async (tx) => {
    const goesBack = tx
      .select()
      .from(payment)
      .where(and(eq(payment.id, verdict.paymentId), inArray(payment.captureState, ["voiding", "voided"])));
    await tx
      .update(verdict)
      .set({ replacedAt: at, updatedAt: at })
      .where(
        and(
          eq(verdict.slot, row.slot),
          isNull(verdict.replacedAt),
          eq(verdict.status, "failed"),
          or(
            gte(verdict.retries, MAX_RETRIES),
            and(isNotNull(verdict.jobId), ne(verdict.owner, row.owner)),
            exists(goesBack),
          ),
        ),
      );
    if (endpoint !== null) await tx.insert(webhookEndpoint).values({ ...endpoint, createdAt: at });
    const inserted = await tx
      .insert(verdict)
      .values({
        ...row,
        id: verdictId,
        status: "unsettled",
        notBefore: at,
        cause: "submitted",
        jobChainId: job?.chainId ?? null,
        jobEscrow: job?.escrow ?? null,
        jobId: job?.jobId ?? null,
        endpointId: endpoint?.id ?? null,
        createdAt: at,
        updatedAt: at,
      })
      .onConflictDoNothing({ target: verdict.slot, where: sql`replaced_at is null` })
      .returning({ id: verdict.id });
    if (inserted.length === 0) {
      if (endpoint !== null) await dropEndpoint(tx, endpoint.id);
      return false;
    }
    const text = db.texts.seal(row.outputText, placeOf("output_text.text", verdictId));
    await tx.insert(outputText).values({ verdictId, text, createdAt: at });
    return true;
  });
}

/** An unsettled output with the state of its price; null if that does not exist or was deleted. */
export type Unsettled = NonNullable<Awaited<ReturnType<typeof takeUnsettled>>>;

/** Locks an unsettled output and its price until the database transaction ends; null if it is not unsettled any more. */
export async function takeUnsettled(tx: NodePgDatabase, verdictId: string) {
  const [row] = await tx
    .select({
      debitId: verdict.debitId,
      paymentId: verdict.paymentId,
      leaseUntil: verdict.leaseUntil,
      hasEndpoint: sql<boolean>`${verdict.endpointId} is not null`,
    })
    .from(verdict)
    .where(isUnsettled(verdictId))
    .for("update");
  if (row === undefined) return null;
  return { verdictId, ...row, ...(await lockPrice(tx, row)) };
}

/**
 * Deletes an unsettled output with its text and endpoint. Its slot is then free, or the replaced failed verdict's again, so an unpaid
 * submission costs that verdict no retries.
 */
export async function dropIntake(tx: NodePgDatabase, verdictId: string): Promise<void> {
  const [row] = await tx
    .delete(verdict)
    .where(isUnsettled(verdictId))
    .returning({ slot: verdict.slot, endpointId: verdict.endpointId, createdAt: verdict.createdAt });
  if (row === undefined) return;
  // insertIntake writes the same time to both.
  await tx
    .update(verdict)
    .set({ replacedAt: null })
    .where(
      and(eq(verdict.slot, row.slot), eq(verdict.replacedAt, row.createdAt), eq(verdict.status, "failed")),
    );
  if (row.endpointId !== null) await dropEndpoint(tx, row.endpointId);
}

async function leaseUntil(db: NodePgDatabase, verdictId: string, until: Date): Promise<void> {
  await db.update(verdict).set({ leaseUntil: until }).where(isUnsettled(verdictId));
}

function isUnsettled(verdictId: string) {
  return and(eq(verdict.id, verdictId), eq(verdict.status, "unsettled"));
}

async function dropEndpoint(tx: NodePgDatabase, id: string): Promise<void> {
  await tx.delete(webhookEndpoint).where(eq(webhookEndpoint.id, id));
}
