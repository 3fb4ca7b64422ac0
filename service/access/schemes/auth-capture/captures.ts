import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Logger } from "pino";
import type { PublicClient } from "viem";
import { type Database, underDeadline } from "../../../db/database.ts";
import { type CaptureState, payment } from "../../../db/tables/payment.ts";
import { enqueueSettlement } from "../../../sender/payments-sender.ts";
import type { createPaymentMetrics } from "../../payments/metrics.ts";
import type { PaymentChain } from "../../payments/payment-chain.ts";
import { callerOf } from "../../payments/payment-identity.ts";
import type { StoredPayment } from "../../payments/payments.ts";
import { captureTermsOf, escrowCall, escrowStateCall } from "./auth-capture.ts";

export type CaptureDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly client: PublicClient;
  readonly chain: Pick<PaymentChain, "finalBlock">;
  readonly metrics: ReturnType<typeof createPaymentMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
};

/**
 * Decides for good what becomes of the payment of a verdict, in the database transaction of its decision or failure. Payments of other
 * schemes, and decided ones, stay as they are.
 */
export async function decideCapture(
  tx: NodePgDatabase,
  verdictId: string,
  { to, at }: { readonly to: "capturing" | "voiding"; readonly at: Date },
): Promise<void> {
  await tx.execute(sql`
    update ahs.payment set capture_state = ${to}, capture_at = ${at}, updated_at = ${at}
    where id = (select payment_id from ahs.verdict where id = ${verdictId}) and capture_state = 'authorized'`);
}

const BATCH = 100;
const AGAIN_MS = 5_000;
/** Unused money is returned after this time; a purchase is activated within minutes. */
const UNUSED_MS = 3_600_000;
/** The last hours of the escrow's time belong to the payer's return. */
const RESERVE_SECONDS = 21_600;

/**
 * Carries out what was decided about money in the escrow, and decides where no verdict ever will. An order is queued once for a payment;
 * its end is read from a final block. A payment that fails is logged and looked after later.
 */
export async function sweepCaptures(deps: CaptureDeps): Promise<void> {
  const { db, chainId, chain, logger, now } = deps;
  const due = await underDeadline(db)
    .select()
    .from(payment)
    .where(
      and(
        eq(payment.chainId, chainId),
        lte(payment.captureAt, now()),
        inArray(payment.state, ["settled", "answered"]),
      ),
    )
    .orderBy(asc(payment.captureAt))
    .limit(BATCH);
  if (due.length === 0) return;
  const final = await chain.finalBlock();
  for (const row of due) {
    try {
      await sweepOne(deps, row, final.number);
    } catch (error) {
      logger.error(
        { err: error, payment: row.id },
        "payment in escrow not looked after: looking again later",
      );
    }
    await underDeadline(db)
      .update(payment)
      .set({ captureAt: new Date(now().getTime() + AGAIN_MS) })
      .where(and(eq(payment.id, row.id), lte(payment.captureAt, now())));
  }
}

async function sweepOne(deps: CaptureDeps, row: StoredPayment, finalBlock: bigint): Promise<void> {
  const state = await decideUndecided(deps, row);
  if (state === "authorized") return;
  const signed = callerOf(row).payment;
  const read = (blockNumber?: bigint) =>
    deps.client.readContract({
      ...escrowStateCall(signed, deps.chainId),
      ...(blockNumber === undefined ? {} : { blockNumber }),
    });
  const [isCollected, capturable, captured] = await read();
  if (!isCollected) return;
  if (capturable > 0n) return order(deps, row, state);
  const [isFinal, stillHeld] = await read(finalBlock);
  if (isFinal && stillHeld === 0n) await end(deps, row, captured > 0n ? "captured" : "voided");
}

/** The state of a payment after the time that its purchase has. */
async function decideUndecided({ db, now }: CaptureDeps, row: StoredPayment): Promise<CaptureState> {
  const { deadline } = captureTermsOf(callerOf(row).payment);
  const seconds = Math.floor(now().getTime() / 1000);
  const state = row.captureState ?? "authorized";
  const isLate = seconds >= deadline - RESERVE_SECONDS;
  // After the escrow's deadline nothing can be captured any more.
  if (state === "capturing") return seconds < deadline ? state : "voiding";
  if (state !== "authorized") return state;
  const settledMs = row.settledAt?.getTime() ?? now().getTime();
  const isOld = now().getTime() - settledMs > UNUSED_MS;
  const { rows } = await db.$client.query<{ readonly captureState: CaptureState }>(
    `update ahs.payment p set capture_state = case
       when exists (select from ahs.verdict v where v.payment_id = p.id and v.runs > 0) then 'capturing' else 'voiding' end
     where p.id = $1 and p.capture_state = 'authorized' and (
       exists (select from ahs.verdict v where v.payment_id = p.id and (v.runs > 0 or v.status = 'failed'))
       or $2 or ($3 and p.deadline <= $4 and not exists (select from ahs.verdict v where v.payment_id = p.id)))
     returning capture_state as "captureState"`,
    [row.id, isLate, isOld, now()],
  );
  return rows[0]?.captureState ?? state;
}

/** The reference of the order is the same for capture and void, so that only the first is ever sent. */
async function order({ db, chainId }: CaptureDeps, row: StoredPayment, state: CaptureState): Promise<void> {
  const signed = callerOf(row).payment;
  const { authorizer } = captureTermsOf(signed);
  await enqueueSettlement(
    db,
    { chainId, sender: authorizer },
    {
      authorization: { ...row, scheme: "auth-capture", step: "end" },
      ...escrowCall(state === "capturing" ? "capture" : "void", signed),
    },
  );
}

/** An owed payment that is returned owes nothing any more. */
async function end(
  { db, metrics, logger, now }: CaptureDeps,
  row: StoredPayment,
  state: "captured" | "voided",
): Promise<void> {
  await underDeadline(db)
    .update(payment)
    .set({
      ...{ captureState: state, captureAt: null, updatedAt: now() },
      ...(state === "voided"
        ? { state: "answered" as const, confirmAt: null, error: "returned to its payer" }
        : {}),
    })
    .where(eq(payment.id, row.id));
  metrics.count(state);
  logger.info({ payment: row.id, payer: row.payer }, `payment ${state}`);
}
