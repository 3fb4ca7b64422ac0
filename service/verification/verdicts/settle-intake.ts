import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { Address, Hex } from "viem";
import { keepDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import { webhookEndpoint } from "../../db/tables/alerts.ts";
import type { DebitState } from "../../db/tables/api-key.ts";
import type { PaymentState } from "../../db/tables/payment.ts";
import { outputText, verdict } from "../../db/tables/verdict.ts";
import { wakeWorkers } from "./verdict-queue.ts";

/** Retries of a verdict. After them a new submission takes the place of the failed verdict. */
export const MAX_RETRIES = 3;

/** activate: it is paid. drop: it will never be paid. wait: not known yet. */
type IntakeFate = "activate" | "drop" | "wait";

/** Decides about an output by the state of its price. An output without a price is activated only by its request. */
export function decideIntake({ debitId, paymentId, debit, payment }: Unsettled): IntakeFate {
  if (paymentId !== null) return fateOfPayment(payment);
  return debitId === null ? "drop" : fateOfDebit(debit);
}

function fateOfPayment(state: Unsettled["payment"]): IntakeFate {
  switch (state) {
    case "settled":
    case "answered":
      return "activate";
    case "reserved":
      return "wait";
    case "released":
    case "lost":
    case null:
      return "drop";
  }
}

function fateOfDebit(state: Unsettled["debit"]): IntakeFate {
  switch (state) {
    case "kept":
      return "activate";
    case "held":
      return "wait";
    case "returned":
    case null:
      return "drop";
  }
}

/**
 * Queues an unsettled output, captures its debit and marks its payment answered, with the response for repeats of the request. A webhook
 * secret is shown only in the first response. Throws if the price was given back.
 */
export async function activate(tx: NodePgDatabase, found: Unsettled, at: Date): Promise<void> {
  const { verdictId, debitId, paymentId, hasEndpoint } = found;
  await activateIntake(tx, verdictId, at);
  if (debitId !== null && !(await keepDebit(tx, debitId)))
    throw new Error(`debit ${debitId} was returned before it bought verdict ${verdictId}`);
  if (paymentId === null) return;
  const secret = hasEndpoint ? { webhook_secret: null } : {};
  const answer = { verdict_id: verdictId, status: "pending", ...secret };
  if (!(await answerPayment(tx, paymentId, { answer, at })))
    throw new Error(`payment ${paymentId} has not moved, so that it buys no verdict ${verdictId}`);
}

async function resolve(tx: NodePgDatabase, found: Unsettled, at: Date): Promise<IntakeFate> {
  const { verdictId } = found;
  const fate = decideIntake(found);
  switch (fate) {
    case "activate":
      await activate(tx, found, at);
      return fate;
    case "drop":
      await dropIntake(tx, verdictId);
      return fate;
    case "wait":
      return fate;
  }
}

/**
 * Decides in one database transaction about an unsettled output whose request is overdue. It waits if the price is still open or the output
 * is not overdue. Null if it is not unsettled any more.
 */
export function settleOverdue(db: Database, verdictId: string, now: Date): Promise<IntakeFate | null> {
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
    if ((await resolve(tx, found, now)) === "wait") await endLease(tx, verdictId, now);
  });
}

type SettleIntakeDeps = { readonly db: Database; readonly logger: Logger; readonly now: () => Date };

const BATCH = 100;
/** Payments are compared with the chain every few seconds. */
const RECHECK_MS = 5_000;

/** Decides about every overdue unsettled output and returns the count of each fate. A failure is logged and retried later. */
export async function settleIntake(deps: SettleIntakeDeps): Promise<Readonly<Record<IntakeFate, number>>> {
  const { db, logger, now } = deps;
  const tally = { activate: 0, drop: 0, wait: 0 };
  for (const verdictId of await readOverdueIntakes(db, now(), BATCH)) {
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
    await postponeIntake(db, verdictId, new Date(now().getTime() + RECHECK_MS));
  }
  return tally;
}

/** A submitted output with a reserved price. */
type NewIntake = {
  readonly verdictId: string;
  readonly specId: string;
  readonly slot: string;
  readonly outputHash: Hex;
  readonly outputText: string;
  readonly submittedBy: "client" | "agent" | "protocol";
  /** Lower-case. */
  readonly submitterAddr: Address;
  readonly providerAddr: Address;
  /** key:ID or wallet:ADDRESS. */
  readonly owner: string;
  /** Price in thousandths of a US dollar. */
  readonly units: number;
  readonly debitId: string | null;
  readonly paymentId: string | null;
  /** Null if its specification is not bound. */
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  /** Endpoint of its events; null without one. */
  readonly endpoint: { readonly id: string; readonly url: string; readonly secret: string } | null;
  readonly at: Date;
  /** Until then only its request decides about it. */
  readonly leaseUntil: Date;
};

/**
 * Stores an output with its text and endpoint in one database transaction. It replaces a failed verdict that gives up the slot (see
 * isReplaceable). False, and nothing stored, if another verdict holds the slot.
 */
export function insertIntake(db: Database, intake: NewIntake): Promise<boolean> {
  const { verdictId, endpoint, job, at, ...row } = intake;
  return db.transaction(async (tx) => {
    await tx.execute(sql`
      update ahs.verdict set replaced_at = ${at}, updated_at = ${at}
      where slot = ${row.slot} and replaced_at is null and status = 'failed'
        and (retries >= ${MAX_RETRIES} or (job_id is not null and owner <> ${row.owner}))`);
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
    await tx.insert(outputText).values({ verdictId, text: row.outputText, createdAt: at });
    return true;
  });
}

/** An unsettled output with the state of its price. */
export type Unsettled = {
  readonly verdictId: string;
  readonly debitId: string | null;
  readonly paymentId: string | null;
  /** Null if it does not exist or was deleted. */
  readonly debit: DebitState | null;
  readonly payment: PaymentState | null;
  readonly leaseUntil: Date | null;
  readonly hasEndpoint: boolean;
};

type UnsettledRow = {
  readonly debit_id: string | null;
  readonly payment_id: string | null;
  readonly lease_until: Date | null;
  readonly has_endpoint: boolean;
};

/** Locks an unsettled output and its price until the database transaction ends; null if it is not unsettled any more. */
export async function takeUnsettled(tx: NodePgDatabase, verdictId: string): Promise<Unsettled | null> {
  const { rows } = await tx.execute<UnsettledRow>(sql`
    select debit_id, payment_id, lease_until, endpoint_id is not null as has_endpoint
    from ahs.verdict where id = ${verdictId} and status = 'unsettled' for update`);
  const [row] = rows;
  if (row === undefined) return null;
  const debits = await tx.execute<{ state: DebitState }>(
    sql`select state from ahs.key_debit where id = ${row.debit_id} for update`,
  );
  const payments = await tx.execute<{ state: PaymentState }>(
    sql`select state from ahs.payment where id = ${row.payment_id} for update`,
  );
  return {
    verdictId,
    debitId: row.debit_id,
    paymentId: row.payment_id,
    debit: debits.rows[0]?.state ?? null,
    payment: payments.rows[0]?.state ?? null,
    leaseUntil: row.lease_until === null ? null : new Date(row.lease_until),
    hasEndpoint: row.has_endpoint,
  };
}

/** Ids of overdue unsettled outputs, oldest first. */
async function readOverdueIntakes(db: Database, now: Date, limit: number): Promise<readonly string[]> {
  const { rows } = await db.$client.query<{ readonly id: string }>(
    `select id from ahs.verdict where status = 'unsettled' and lease_until <= $1 order by lease_until limit $2`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
}

/** Queues a paid output and wakes the workers; false if it is not unsettled any more. */
async function activateIntake(tx: NodePgDatabase, verdictId: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    update ahs.verdict set status = 'pending', accepted_at = ${at}, not_before = ${at}, lease_until = null, updated_at = ${at}
    where id = ${verdictId} and status = 'unsettled'`);
  if (rowCount !== 1) return false;
  await wakeWorkers(tx);
  return true;
}

/**
 * Deletes an unsettled output with its text and endpoint. Its slot is then free, or the replaced failed verdict's again, so an unpaid
 * submission costs that verdict no retries.
 */
export async function dropIntake(tx: NodePgDatabase, verdictId: string): Promise<void> {
  const { rows } = await tx.execute<{ slot: string; endpoint_id: string | null; created: string }>(sql`
    delete from ahs.verdict where id = ${verdictId} and status = 'unsettled'
    returning slot, endpoint_id, created_at::text as created`);
  const [row] = rows;
  if (row === undefined) return;
  // insertIntake writes the same time to both.
  await tx.execute(sql`
    update ahs.verdict set replaced_at = null
    where slot = ${row.slot} and replaced_at = ${row.created}::timestamptz and status = 'failed'`);
  if (row.endpoint_id !== null) await dropEndpoint(tx, row.endpoint_id);
}

/** Ends the lease of an unsettled output, so that the next reader decides about it. */
async function endLease(tx: NodePgDatabase, verdictId: string, at: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set lease_until = ${at}, updated_at = ${at} where id = ${verdictId} and status = 'unsettled'`);
}

/** Postpones the next decision about an unsettled output. */
async function postponeIntake(db: Database, verdictId: string, until: Date): Promise<void> {
  await db.$client.query("update ahs.verdict set lease_until = $2 where id = $1 and status = 'unsettled'", [
    verdictId,
    until,
  ]);
}

/**
 * Stores the response of a settled payment for repeats of its request. An answered one keeps its response. False if its money has not
 * moved.
 */
async function answerPayment(
  tx: NodePgDatabase,
  paymentId: string,
  { answer, at }: { readonly answer: unknown; readonly at: Date },
): Promise<boolean> {
  const body = Buffer.from(JSON.stringify(answer));
  const { rowCount } = await tx.execute(sql`
    update ahs.payment set state = 'answered', updated_at = ${at}, answered_at = coalesce(answered_at, ${at}),
      answer_type = case when state = 'settled' then 'application/json' else answer_type end,
      answer_body = case when state = 'settled' then ${body} else answer_body end
    where id = ${paymentId} and state in ('settled', 'answered')`);
  return rowCount === 1;
}

async function dropEndpoint(tx: NodePgDatabase, id: string): Promise<void> {
  await tx.execute(sql`delete from ahs.webhook_endpoint where id = ${id}`);
}
