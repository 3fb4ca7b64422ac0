import { and, asc, eq, inArray, lte, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { underDeadline } from "../../../db/database.ts";
import { type CaptureState, payment } from "../../../db/tables/payment.ts";
import { eachOrder, runOrder } from "../../../sender/orders/run-orders.ts";
import { type AuthorizationId, enqueueSettlement, findSettlement } from "../../../sender/payments-sender.ts";
import { presentedOf, type StoredPayment } from "../../payments/payments.ts";
import type { SweepDeps } from "../scheme.ts";
import { captureTermsOf, escrowCall, escrowStateCall } from "./payment-escrow.ts";

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
export async function sweepCaptures(deps: SweepDeps): Promise<void> {
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
  const ids = due.map(({ id }) => id);
  // First, so that a payment that fails waits like the others.
  await underDeadline(db)
    .update(payment)
    .set({ captureAt: new Date(now().getTime() + AGAIN_MS) })
    .where(and(inArray(payment.id, ids), lte(payment.captureAt, now())));
  const final = await chain.finalBlock();
  const sweep = (row: StoredPayment) => sweepOne(deps, row, final.number);
  await eachOrder(due, sweep, (row, error) => {
    logger.error({ err: error, payment: row.id }, "payment in escrow not processed: trying again later");
  });
}

/** Captures and returns: done once the escrow shows in a final block that it holds no more, by whatever transaction. */
const CAPTURES = {
  done: "indexed event",
  isRepeatable: false,
  // The pause between two looks at a payment.
  retryMs: { first: 0, longest: 0 },
} as const;

async function sweepOne(deps: SweepDeps, row: StoredPayment, finalBlock: bigint) {
  const { db, client, chainId, now } = deps;
  const state = await decideUndecided(deps, row);
  if (state === "authorized") return null;
  const signed = presentedOf(row);
  const read = (at: { readonly blockNumber?: bigint } = {}) =>
    client.readContract({ ...escrowStateCall(signed, chainId), ...at });
  const look = async () => {
    const [isCollected, capturable, captured] = await read();
    const transaction = await findSettlement(db, chainId, authorizationOf(row));
    const seen = { transaction, failures: 0, end: captured > 0n ? "captured" : "voided" } as const;
    if (capturable > 0n) return seen;
    const [isFinal, stillHeld] = isCollected ? await read({ blockNumber: finalBlock }) : [false, 0n];
    return { ...seen, shown: isFinal && stillHeld === 0n ? "done" : "soon" } as const;
  };
  return runOrder({ ...CAPTURES, look }, row, {
    now: now(),
    settle: ({ step, seen }) => (step.kind === "done" ? end(deps, row, seen.end) : order(deps, row, state)),
  });
}

/** The state of a payment after the time that its purchase has. */
async function decideUndecided({ db, now }: SweepDeps, row: StoredPayment): Promise<CaptureState> {
  const { deadline } = captureTermsOf(presentedOf(row));
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

/** The same for capture and void, so that only the first is ever sent. */
function authorizationOf(row: StoredPayment): AuthorizationId {
  return { ...row, scheme: "auth-capture", step: "end" };
}

async function order({ db, chainId }: SweepDeps, row: StoredPayment, state: CaptureState): Promise<void> {
  const signed = presentedOf(row);
  const { authorizer } = captureTermsOf(signed);
  await enqueueSettlement(
    db,
    { chainId, sender: authorizer },
    {
      authorization: authorizationOf(row),
      ...escrowCall(state === "capturing" ? "capture" : "void", signed),
    },
  );
}

/** An owed payment that is returned owes nothing any more. */
async function end(
  { db, metrics, logger, now }: SweepDeps,
  row: StoredPayment,
  state: "captured" | "voided",
): Promise<void> {
  await underDeadline(db)
    .update(payment)
    .set({
      captureState: state,
      captureAt: null,
      updatedAt: now(),
      ...(state === "voided"
        ? { state: "answered" as const, confirmAt: null, error: "returned to its payer" }
        : {}),
    })
    .where(eq(payment.id, row.id));
  metrics.count(state);
  logger.info({ payment: row.id, payer: row.payer }, `payment ${state}`);
}
