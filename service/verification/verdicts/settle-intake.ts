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

/** After so many retries an output that its submitter posts again takes the place of its failed verdict. */
export const MAX_RETRIES = 3;

/** activate: it is paid. drop: it never will be. wait: nobody knows yet. */
type IntakeFate = "activate" | "drop" | "wait";

/** What becomes of an output that waits for its price, by what became of that; without a price its request alone makes it count. */
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
 * Queues an unsettled output, keeps its debit, and makes its payment answered, with what repeats of the request are to get: the secret
 * of a webhook is shown once, by the first answer alone. Throws where the price was given back.
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
 * Decides, in one transaction, about an unsettled output whose request has had its time; one whose price is still open waits, as
 * does one that is not overdue. Null where it is not unsettled any more.
 */
export function settleOverdue(db: Database, verdictId: string, now: Date): Promise<IntakeFate | null> {
  return db.transaction(async (tx) => {
    const found = await takeUnsettled(tx, verdictId);
    if (found === null) return null;
    if (found.leaseUntil !== null && found.leaseUntil > now) return "wait";
    return resolve(tx, found, now);
  });
}

/** Decides about an unsettled output whose request has ended without an answer; one whose price is still open is left to the sweep. */
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

/** Decides about every unsettled output whose request is over; answers how many of each fate. One that fails is logged and looked at later. */
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

/** A submitted output whose price is held. */
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
  /** Null where its specification is not bound. */
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  /** Where its events go; null where nowhere. */
  readonly endpoint: { readonly id: string; readonly url: string; readonly secret: string } | null;
  readonly at: Date;
  /** Until when nobody but its request decides about it. */
  readonly leaseUntil: Date;
};

/**
 * Notes an output, with its text and endpoint, in one transaction; where its slot is held by a failed verdict that gives it up (see
 * isReplaceable), it takes that one's place. False, and nothing noted, where another verdict holds the slot.
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

/** An output that waits for its price, with what became of that. */
export type Unsettled = {
  readonly verdictId: string;
  readonly debitId: string | null;
  readonly paymentId: string | null;
  /** Null where there is none, or none any more. */
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

/** An unsettled output, which with its price stays as it is until the transaction ends; null where it is not unsettled any more. */
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

/** Unsettled outputs whose requests have had their time, the oldest first. */
async function readOverdueIntakes(db: Database, now: Date, limit: number): Promise<readonly string[]> {
  const { rows } = await db.$client.query<{ readonly id: string }>(
    `select id from ahs.verdict where status = 'unsettled' and lease_until <= $1 order by lease_until limit $2`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
}

/** Queues an output whose price is paid, and wakes the workers; false where it is not unsettled any more. */
async function activateIntake(tx: NodePgDatabase, verdictId: string, at: Date): Promise<boolean> {
  const { rowCount } = await tx.execute(sql`
    update ahs.verdict set status = 'pending', accepted_at = ${at}, not_before = ${at}, lease_until = null, updated_at = ${at}
    where id = ${verdictId} and status = 'unsettled'`);
  if (rowCount !== 1) return false;
  await wakeWorkers(tx);
  return true;
}

/**
 * Removes an unsettled output with its text and endpoint, so that its slot is free, or the failed verdict's again whose place it took:
 * who does not pay takes nobody's retries away.
 */
export async function dropIntake(tx: NodePgDatabase, verdictId: string): Promise<void> {
  const { rows } = await tx.execute<{ slot: string; endpoint_id: string | null; created: string }>(sql`
    delete from ahs.verdict where id = ${verdictId} and status = 'unsettled'
    returning slot, endpoint_id, created_at::text as created`);
  const [row] = rows;
  if (row === undefined) return;
  // insertIntake gives both the same moment.
  await tx.execute(sql`
    update ahs.verdict set replaced_at = null
    where slot = ${row.slot} and replaced_at = ${row.created}::timestamptz and status = 'failed'`);
  if (row.endpoint_id !== null) await dropEndpoint(tx, row.endpoint_id);
}

/** Has whoever comes next decide about an unsettled output whose request has ended. */
async function endLease(tx: NodePgDatabase, verdictId: string, at: Date): Promise<void> {
  await tx.execute(sql`
    update ahs.verdict set lease_until = ${at}, updated_at = ${at} where id = ${verdictId} and status = 'unsettled'`);
}

/** Looks at an unsettled output again at that moment. */
async function postponeIntake(db: Database, verdictId: string, until: Date): Promise<void> {
  await db.$client.query("update ahs.verdict set lease_until = $2 where id = $1 and status = 'unsettled'", [
    verdictId,
    until,
  ]);
}

/**
 * Stores what a settled payment bought, for repeats of its request; one that is answered keeps its answer. False where its money has
 * not moved.
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
