import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import { keepDebit } from "../../access/key-debits.ts";
import type { Database } from "../../db/database.ts";
import {
  activateIntake,
  answerPayment,
  dropIntake,
  endLease,
  postponeIntake,
  readOverdueIntakes,
  takeUnsettled,
  type Unsettled,
} from "./verdict-intake.ts";

/** activate: it is paid. drop: it never will be. wait: nobody knows yet. */
export type IntakeFate = "activate" | "drop" | "wait";

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

export type SettleIntakeDeps = { readonly db: Database; readonly logger: Logger; readonly now: () => Date };

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
