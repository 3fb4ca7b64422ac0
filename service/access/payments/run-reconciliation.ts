import type { Logger } from "pino";
import type { Gauge } from "prom-client";
import type { Database } from "../../db/database.ts";
import { pauseFor } from "../../sender/send-pause.ts";
import { type ConfirmationTally, confirmPayments } from "./confirm-payments.ts";
import type { PaymentMetrics } from "./metrics.ts";
import type { FinalBlock, PaymentChain } from "./payment-chain.ts";
import type { StoredPayment } from "./payments.ts";
import {
  countPayments,
  dropDue,
  HELD_KINDS,
  postponeDue,
  readDuePayments,
  releaseDue,
  settleDue,
} from "./payments-due.ts";
import { type PaymentSighting, type Reconciliation, reconcilePayment } from "./reconcile-payment.ts";
import { authorizationOf, BATCH, findOrder, forEachFew, LOOK_BACK_MS, laterOf } from "./stored-payment.ts";

export type ReconciliationDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly chain: PaymentChain;
  /** Whether settlements go through our own sender. */
  readonly ownSender: boolean;
  readonly metrics: PaymentMetrics;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** By what was decided; `failed` ones could not be looked at and are looked at later. */
export type ReconciliationTally = Readonly<Record<Reconciliation["kind"] | "failed", number>> &
  ConfirmationTally;

const PAUSE_MS = 1_000;
const FAILURE_PAUSE_MS = 3_000;
const COUNT_EVERY = 15;

/** Reconciles until the signal fires, and counts into the gauge what waits; a failure is logged and followed by a longer pause. */
export async function runReconciliation(
  deps: ReconciliationDeps,
  held: Gauge<"kind">,
  signal: AbortSignal,
): Promise<void> {
  for (let round = 0; !signal.aborted; round += 1) {
    let pauseMs = PAUSE_MS;
    try {
      await reconcilePayments(deps);
      if (round % COUNT_EVERY === 0) {
        const counted = await countPayments(deps.db, deps.chainId, deps.now());
        for (const kind of HELD_KINDS) held.set({ kind }, counted[kind]);
      }
    } catch (error) {
      deps.logger.error({ err: error }, "reconciling payments failed; trying again");
      pauseMs = FAILURE_PAUSE_MS;
    }
    await pauseFor(pauseMs, signal);
  }
}

/**
 * Compares every payment past its deadline with the chain, once, and those whose money moved, once that can be final; answers what it
 * did. A payment that cannot be looked at is logged and postponed, longer each time, so that the others do not wait for it.
 */
export async function reconcilePayments(deps: ReconciliationDeps): Promise<ReconciliationTally> {
  const tally = { settle: 0, release: 0, drop: 0, wait: 0, failed: 0 };
  const due = await readDuePayments(deps.db, { chainId: deps.chainId, now: deps.now(), limit: BATCH });
  if (due.length === 0) return { ...tally, ...(await confirmPayments(deps)) };
  const final = await deps.chain.finalBlock();
  await forEachFew(due, async (row) => {
    tally[await reconcileRow(deps, row, final)] += 1;
  });
  return { ...tally, ...(await confirmPayments(deps)) };
}

async function reconcileRow(
  deps: ReconciliationDeps,
  row: StoredPayment,
  final: FinalBlock,
): Promise<Reconciliation["kind"] | "failed"> {
  try {
    const decided = reconcilePayment(row, await look(deps, row, final));
    await apply(deps, row, decided);
    return decided.kind;
  } catch (error) {
    deps.logger.error({ err: error, payment: row.id }, "payment not reconciled: looking again later");
    const now = deps.now();
    await postponeDue(deps.db, row, { until: laterOf(row.createdAt, now), now });
    return "failed";
  }
}

async function look(
  deps: ReconciliationDeps,
  row: StoredPayment,
  final: FinalBlock,
): Promise<PaymentSighting> {
  const { chain, ownSender, now } = deps;
  const authorization = authorizationOf(row);
  const used = await chain.isUsed(authorization);
  const since = new Date(row.createdAt.getTime() - LOOK_BACK_MS);
  return {
    // The transaction of others that uses it may be in no block yet.
    used: used || (await chain.isUsed(authorization, "pending")),
    usedInFinal: used && (await chain.isUsed(authorization, final.number)),
    finalTime: Number(final.timestamp),
    transfer: used ? await chain.findTransfer(authorization, since) : null,
    order: await findOrder(deps, authorization),
    ownSender,
    now: now(),
  };
}

async function apply(deps: ReconciliationDeps, row: StoredPayment, decided: Reconciliation): Promise<void> {
  const { db, metrics, logger } = deps;
  const now = deps.now();
  const details = { payment: row.id, payer: row.payer, endpoint: row.endpoint };
  switch (decided.kind) {
    case "settle":
      if (!(await settleDue(db, row, { transaction: decided.transaction, now }))) return;
      metrics.count("owed");
      logger.warn(
        { ...details, transaction: decided.transaction },
        "payment settled without an answer: owed",
      );
      return;
    case "release":
      if (!(await releaseDue(db, row, { error: decided.error, until: recheckAt(row, now), now }))) return;
      metrics.count("released");
      logger.info({ ...details, error: decided.error }, "payment released");
      return;
    case "drop":
      if (await dropDue(db, row)) metrics.count("dropped");
      return;
    case "wait":
      await postponeDue(db, row, { until: laterOf(row.createdAt, now), now });
      return;
  }
}

const RECHECK_MS = 3_600_000;

/** When a released authorization is looked at again: once it has expired, and hourly before that. */
function recheckAt({ validBefore }: StoredPayment, now: Date): Date {
  return new Date(Math.max(Math.min(validBefore * 1000, now.getTime() + RECHECK_MS), now.getTime()));
}
