import type { Logger } from "pino";
import { Gauge, type Registry } from "prom-client";
import type { Address, Hex } from "viem";
import { pauseFor } from "../chain/send-pause.ts";
import type { Database } from "../store/database.ts";
import type { StoredPayment } from "../store/payments.ts";
import {
  countPayments,
  dropDue,
  dropOldAnswers,
  PAYMENT_KINDS,
  postponeDue,
  readDuePayments,
  releaseDue,
  settleDue,
} from "../store/payments-due.ts";
import { findSettlement, type SettlementTransaction } from "../store/payments-sender.ts";
import type { PaymentMetrics } from "./metrics.ts";
import type { PaymentChain } from "./payment-chain.ts";
import { type PaymentSighting, type Reconciliation, reconcilePayment } from "./reconcile-payment.ts";

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

export type ReconciliationTally = Readonly<Record<Reconciliation["kind"], number>>;

const BATCH = 100;
const LOOK_AGAIN_MS = 5_000;
/** An authorization may have been carried out before it was shown to us; clients date them a few minutes back. */
const LOOK_BACK_MS = 15 * 60_000;

const PAUSE_MS = 1_000;
const FAILURE_PAUSE_MS = 3_000;
const COUNT_EVERY = 15;

/** Reconciles until the signal fires, and keeps count; a failure is logged and followed by a longer pause. */
export async function runReconciliation(
  deps: ReconciliationDeps,
  registry: Registry,
  signal: AbortSignal,
): Promise<void> {
  const gauge = paymentGauge(registry);
  for (let round = 0; !signal.aborted; round += 1) {
    let pauseMs = PAUSE_MS;
    try {
      await reconcilePayments(deps);
      if (round % COUNT_EVERY === 0) {
        const counted = await countPayments(deps.db, deps.chainId, deps.now());
        for (const kind of PAYMENT_KINDS) gauge.set({ kind }, counted[kind]);
      }
    } catch (error) {
      deps.logger.error({ err: error }, "reconciling payments failed; trying again");
      pauseMs = FAILURE_PAUSE_MS;
    }
    await pauseFor(pauseMs, signal);
  }
}

/** A registry keeps the gauge of the leadership before. */
function paymentGauge(registry: Registry): Gauge<"kind"> {
  const name = "ahs_payments_held";
  registry.removeSingleMetric(name);
  return new Gauge({
    name,
    help: "Payments by what they wait for; owed ones wait for their payer",
    labelNames: ["kind"],
    registers: [registry],
  });
}

/** Compares every payment past its deadline with the chain, once, and drops answers that are a day old; answers what it did. */
export async function reconcilePayments(deps: ReconciliationDeps): Promise<ReconciliationTally> {
  const tally = { settle: 0, release: 0, drop: 0, wait: 0 };
  await dropOldAnswers(deps.db, deps.now());
  const due = await readDuePayments(deps.db, { chainId: deps.chainId, now: deps.now(), limit: BATCH });
  if (due.length === 0) return tally;
  const final = await deps.chain.finalBlock();
  for (const row of due) {
    const decided = reconcilePayment(row, await look(deps, row, final));
    await apply(deps, row, decided);
    tally[decided.kind] += 1;
  }
  return tally;
}

async function look(
  { db, chainId, chain, ownSender, now }: ReconciliationDeps,
  row: StoredPayment,
  final: Awaited<ReturnType<PaymentChain["finalBlock"]>>,
): Promise<PaymentSighting> {
  const authorization = authorizationOf(row);
  const used = await chain.isUsed(authorization);
  const since = new Date(row.createdAt.getTime() - LOOK_BACK_MS);
  return {
    used,
    usedInFinal: used && (await chain.isUsed(authorization, final.number)),
    finalTime: Number(final.timestamp),
    transfer: used ? await chain.findTransfer(authorization, since) : null,
    order: orderOf(await findSettlement(db, chainId, authorization)),
    ownSender,
    now: now(),
  };
}

/** Columns of text forget that they hold addresses and a nonce. */
function authorizationOf(row: StoredPayment) {
  return {
    asset: row.asset as Address,
    payer: row.payer as Address,
    payTo: row.payTo as Address,
    nonce: row.nonce as Hex,
    amount: row.amount,
  };
}

function orderOf(order: SettlementTransaction | null): PaymentSighting["order"] {
  if (order === null) return "none";
  switch (order.state) {
    case "failed":
      return "dead";
    case "reverted":
      return order.final ? "dead" : "open";
    case "queued":
    case "prepared":
    case "broadcast":
    case "mined":
      return "open";
  }
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
      await postponeDue(db, row, { until: new Date(now.getTime() + LOOK_AGAIN_MS), now });
      return;
  }
}

const RECHECK_MS = 3_600_000;

/** When a released authorization is looked at again: once it has expired, and hourly before that. */
function recheckAt({ validBefore }: StoredPayment, now: Date): Date {
  return new Date(Math.max(Math.min(validBefore * 1000, now.getTime() + RECHECK_MS), now.getTime()));
}
