import type { Gauge } from "prom-client";
import type { Hex } from "viem";
import { runLoop } from "../../db/run-loop.ts";
import { fateOfCall } from "../../sender/orders/fate.ts";
import { findSettlement, type SettlementTransaction } from "../../sender/payments-sender.ts";
import { type PaymentScheme, type SweepDeps, schemeNamed } from "../schemes/scheme.ts";
import type { PaymentChain } from "./payment-chain.ts";
import { creditIdOf, type StoredPayment } from "./payments.ts";
import {
  confirm,
  confirmLater,
  countPayments,
  dropDue,
  HELD_KINDS,
  losePayment,
  postponeDue,
  readDuePayments,
  readUnconfirmed,
  releaseDue,
  settleDue,
} from "./payments-due.ts";
import {
  confirmPayment,
  type PaymentObservation,
  type Reconciliation,
  reconcilePayment,
} from "./reconcile-payment.ts";

export type ReconciliationDeps = Pick<SweepDeps, "db" | "chainId" | "metrics" | "logger" | "now"> & {
  readonly chain: PaymentChain;
  readonly schemes: readonly PaymentScheme[];
  /** Whether settlements go through our own sender. */
  readonly ownSender: boolean;
};

type Final = Awaited<ReturnType<PaymentChain["finalBlock"]>>;

const PAUSE_MS = 1_000;
const RETRY_MS = { first: 3_000, longest: 3_000 };
const COUNT_EVERY = 15;

/** Reconciles until the signal aborts and counts waiting payments. A failure is logged and followed by a longer pause. */
export async function runReconciliation(
  deps: ReconciliationDeps & SweepDeps,
  held: Gauge<"kind">,
  signal: AbortSignal,
): Promise<void> {
  let passed = 0;
  await runLoop({
    logger: deps.logger,
    what: "reconciling payments",
    signal,
    pauseMs: PAUSE_MS,
    retryMs: RETRY_MS,
    pass: async () => {
      const isCounted = passed % COUNT_EVERY === 0;
      passed += 1;
      await reconcilePayments(deps);
      await sweepSchemes(deps);
      if (!isCounted) return;
      const counted = await countPayments(deps.db, deps.chainId, deps.now());
      for (const kind of HELD_KINDS) held.set({ kind }, counted[kind]);
    },
  });
}

/** Looks after money that contracts of schemes hold for us. */
export async function sweepSchemes(deps: Pick<ReconciliationDeps, "schemes"> & SweepDeps): Promise<void> {
  for (const { sweep } of deps.schemes) await sweep?.(deps);
}

/**
 * Compares every payment past its deadline with the chain, then every settled payment that may be final by now. A
 * payment that fails is logged and postponed, longer each time, so that it does not delay others.
 */
export async function reconcilePayments(deps: ReconciliationDeps) {
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
  final: Final,
): Promise<Reconciliation["kind"] | "failed"> {
  try {
    const decided =
      schemeNamed(deps.schemes, row.scheme).ledger !== undefined
        ? // A charge settles its row in one transaction: without it, none was made and none will be.
          ({ kind: "drop" } as const)
        : reconcilePayment(row, await readSnapshot(deps, row, final));
    await applyReconciliation(deps, row, decided);
    return decided.kind;
  } catch (error) {
    deps.logger.error({ err: error, payment: row.id }, "payment not reconciled: looking again later");
    const now = deps.now();
    await postponeDue(deps.db, row, { until: laterOf(row.createdAt, now), now });
    return "failed";
  }
}

async function readSnapshot(
  deps: ReconciliationDeps,
  row: StoredPayment,
  final: Final,
): Promise<PaymentObservation> {
  const { chain, ownSender, now } = deps;
  const used = await chain.isUsed(row);
  const order = await findSettlement(deps.db, deps.chainId, row);
  return {
    // A third party's transaction may still be pending.
    used: used || (await chain.isUsed(row, "pending")),
    usedInFinal: used && (await chain.isUsed(row, final.number)),
    finalTime: Number(final.timestamp),
    transfer: used ? await findCharge(deps, row, order) : null,
    order: orderOf(order),
    ownSender,
    now: now(),
  };
}

async function applyReconciliation(
  deps: ReconciliationDeps,
  row: StoredPayment,
  decided: Reconciliation,
): Promise<void> {
  const { db, metrics, logger } = deps;
  const now = deps.now();
  const details = { payment: row.id, payer: row.payer, endpoint: row.endpoint };
  switch (decided.kind) {
    case "settle": {
      const { taking } = schemeNamed(deps.schemes, row.scheme);
      if (!(await settleDue(db, row, { transaction: decided.transaction, taking, now }))) return;
      metrics.count("owed");
      metrics.countSettlement(row.scheme);
      logger.warn(
        { ...details, transaction: decided.transaction },
        "payment settled without an answer: owed",
      );
      return;
    }
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

/** The transaction that paid what was asked of an authorization: of our own order, else of anyone; null without one. */
async function findCharge(
  { chain }: ReconciliationDeps,
  row: StoredPayment,
  order: SettlementTransaction | null,
): Promise<Hex | null> {
  const own = order?.minedHash ?? null;
  if (own !== null && (await chain.minedIn(own)) !== null) return own;
  const since = new Date(row.createdAt.getTime() - LOOK_BACK_MS);
  return chain.findTransfer({ ...row, amount: row.chargedAmount ?? row.amount }, since);
}

const RECHECK_MS = 3_600_000;

/** When a released authorization is checked again: at its expiry, and hourly before that. */
function recheckAt({ validBefore }: StoredPayment, now: Date): Date {
  return new Date(Math.max(Math.min(validBefore * 1000, now.getTime() + RECHECK_MS), now.getTime()));
}

/**
 * Checks by final blocks whether settled money is still ours. Otherwise the payment and its credit are lost. A payment
 * that cannot be checked is logged and checked later.
 */
async function confirmPayments(deps: ReconciliationDeps) {
  const { db, chainId, chain, now, logger } = deps;
  const tally = { confirmed: 0, lost: 0 };
  const rows = await readUnconfirmed(db, { chainId, now: now(), limit: BATCH });
  if (rows.length === 0) return tally;
  const final = await chain.finalBlock();
  await forEachFew(rows, async (row) => {
    try {
      const decided = await decideConfirmation(deps, row, final);
      await applyConfirmation(deps, row, decided);
      if (decided.kind === "confirm") tally.confirmed += 1;
      if (decided.kind === "lose") tally.lost += 1;
    } catch (error) {
      logger.error({ err: error, payment: row.id }, "payment not confirmed: looking again later");
      await confirmLater(db, row, { until: laterOf(row.createdAt, now()) });
    }
  });
  return tally;
}

async function decideConfirmation(deps: ReconciliationDeps, row: StoredPayment, final: Final) {
  const minedIn = row.transactionHash === null ? null : await deps.chain.minedIn(row.transactionHash);
  return confirmPayment({
    minedIn,
    finalBlock: final.number,
    missedBefore: row.error !== null,
    ...(minedIn === null ? await lookFurther(deps, row, final) : STILL_THERE),
  });
}

async function lookFurther(deps: ReconciliationDeps, row: StoredPayment, final: Final) {
  const { chain } = deps;
  const used = await chain.isUsed(row);
  const order = await findSettlement(deps.db, deps.chainId, row);
  return {
    transfer: used ? await findCharge(deps, row, order) : null,
    usedInFinal: used && (await chain.isUsed(row, final.number)),
    expired: Number(final.timestamp) >= row.validBefore,
    orderOpen: orderOf(order) === "open",
  };
}

const STILL_THERE = { transfer: null, usedInFinal: true, expired: false, orderOpen: false } as const;

async function applyConfirmation(
  deps: ReconciliationDeps,
  row: StoredPayment,
  decided: ReturnType<typeof confirmPayment>,
): Promise<void> {
  const { db, chainId, metrics, logger } = deps;
  const now = deps.now();
  switch (decided.kind) {
    case "confirm":
      return confirm(db, row.id);
    case "wait":
      return confirmLater(db, row, {
        ...(decided.transaction === null ? {} : { transactionHash: decided.transaction }),
        error: null,
        until: laterOf(row.createdAt, now),
      });
    case "miss":
      logger.warn({ payment: row.id, transaction: row.transactionHash }, `payment missed: ${decided.error}`);
      return confirmLater(db, row, { error: decided.error, until: new Date(now.getTime() + LATEST_MS) });
    case "lose": {
      const creditId = creditIdOf({ network: `eip155:${chainId}`, ...row });
      if (!(await losePayment(db, row.id, { error: decided.error, creditId, now }))) return;
      metrics.count("lost");
      logger.error(
        { payment: row.id, payer: row.payer, endpoint: row.endpoint, transaction: row.transactionHash },
        `payment lost: ${decided.error}`,
      );
    }
  }
}

/** Payments per round. */
const BATCH = 100;
/** An authorization may have been carried out before we saw it; clients date them a few minutes back. */
const LOOK_BACK_MS = 15 * 60_000;
/** Parallel requests to the node, which serves other work as well. */
const AT_ONCE = 4;
const SOONEST_MS = 5_000;
const LATEST_MS = 300_000;
/** Share of the payment's age, so that each pause is longer than the last. */
const SHARE_OF_AGE = 0.125;

/** Next check of a payment of that age: in 5 s to 5 min. */
function laterOf(since: Date, now: Date): Date {
  const pauseMs = (now.getTime() - since.getTime()) * SHARE_OF_AGE;
  return new Date(now.getTime() + Math.min(Math.max(pauseMs, SOONEST_MS), LATEST_MS));
}

/** Runs `act` for every row, a few at a time. Throws the first error. */
async function forEachFew(
  rows: readonly StoredPayment[],
  act: (row: StoredPayment) => Promise<void>,
): Promise<void> {
  const left = rows.values();
  const worker = async (): Promise<void> => {
    for (const row of left) await act(row);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** Whether our own sender may still carry it out. */
function orderOf(order: SettlementTransaction | null): PaymentObservation["order"] {
  if (order === null) return "none";
  const { kind } = fateOfCall(order);
  return kind === "refused" || kind === "undone" ? "dead" : "open";
}
