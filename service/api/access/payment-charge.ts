import type { SettleResponse } from "@x402/core/types";
import type { Logger } from "pino";
import type { Hex } from "viem";
import { type Facilitator, SETTLE_DEADLINE_MS, type SettleOutcome } from "../../payments/facilitator.ts";
import type { PaymentMetrics } from "../../payments/metrics.ts";
import type { PaymentChain } from "../../payments/payment-chain.ts";
import type { PresentedPayment } from "../../payments/presented-payment.ts";
import type { PaymentStore } from "../../store/payments.ts";
import { Problem, unavailable } from "../problems.ts";
import type { Charge, PaidRequest } from "./access.ts";
import { settlementHeader } from "./payment-required.ts";

export type ChargeDeps = {
  readonly facilitator: Facilitator;
  readonly store: PaymentStore;
  readonly chain: Pick<PaymentChain, "isUsed" | "findTransfer">;
  readonly metrics: PaymentMetrics;
  readonly logger: Logger;
  readonly clock: { now(): Date };
  readonly settleDeadlineMs?: number;
};

/** A payment that one request holds. */
export type HeldPayment = {
  readonly id: string;
  /** Null where the caller knows it by another proof. */
  readonly claim: string | null;
  readonly payment: PresentedPayment;
  readonly request: PaidRequest;
  /** The 402 of this request. */
  refuse(error: string, settlement?: SettleResponse): Promise<Error>;
};

const RETRY_AFTER_SECONDS = 5;
/** An authorization may have been carried out before it was shown to us; clients date them a few minutes back. */
const LOOK_BACK_MS = 15 * 60_000;

/** Asks the facilitator whether the payment is good; throws the 402 or 503 where it is not, with the authorization free again. */
export async function verifyHeld(deps: ChargeDeps, held: HeldPayment): Promise<void> {
  const verified = await deps.facilitator.verify(held.payment);
  switch (verified.kind) {
    case "valid":
      return;
    case "invalid":
      await deps.store.disown(held.id, verified.reason);
      deps.metrics.count("refused");
      throw await held.refuse(await refusalOf(deps, held, verified.reason));
    case "unavailable":
      await deps.store.release(held.id, "the facilitator could not be asked");
      throw paymentsUnavailable(deps, verified.cause);
  }
}

/** Spent before anybody verified it: whoever shows it may have read it on the chain. */
async function refusalOf(deps: ChargeDeps, { payment }: HeldPayment, reason: string): Promise<string> {
  const used = await deps.chain.isUsed(payment).catch(() => false);
  return used
    ? "payment_already_used: the token has seen this authorization before."
    : `${reason}: the payment does not pass verification.`;
}

/** Moves the money now; the charge is then kept with the answer, or owed. */
export async function settleFirst(deps: ChargeDeps, held: HeldPayment): Promise<Charge> {
  await refuseCancelled(deps, held);
  return settledCharge(deps, held, await settle(deps, held));
}

/** Moves the money once the answer is there, which is withheld until then. */
export function settleLast(deps: ChargeDeps, held: HeldPayment): Charge {
  return {
    async keep(answer) {
      await refuseCancelled(deps, held);
      return settledCharge(deps, held, await settle(deps, held)).keep(answer);
    },
    async giveBack() {
      await free(deps, held, "the work failed");
      return null;
    },
  };
}

/** The charge of a payment whose money has moved. */
export function settledCharge(deps: ChargeDeps, held: HeldPayment, transaction: Hex): Charge {
  const { store, logger, metrics } = deps;
  const { id, claim, payment } = held;
  return {
    async keep(answer) {
      // What cannot be stored is given all the same: the money has moved, and a repeat does the work again.
      await store.answer(id, answer).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "paid answer not stored");
      });
      metrics.count("answered");
      return settlementHeader({ ...reportOf(payment), success: true, transaction });
    },
    async giveBack() {
      metrics.count("owed");
      await store.lapse(id).catch((error: unknown) => {
        logger.error({ err: error, payment: id }, "owed payment stays held until its deadline");
      });
      return claim;
    },
  };
}

async function refuseCancelled(deps: ChargeDeps, held: HeldPayment): Promise<void> {
  if (!held.request.signal.aborted) return;
  await free(deps, held, "the request was cancelled before settlement");
  deps.metrics.count("withheld");
  throw await held.refuse(
    "request_cancelled: the request ended before its settlement, so nothing was charged.",
  );
}

async function settle(deps: ChargeDeps, held: HeldPayment): Promise<Hex> {
  if (!(await deps.store.askSettlement(held.id))) {
    deps.metrics.count("withheld");
    throw await held.refuse("payment_released: the request took too long, so nothing was charged.");
  }
  const outcome = await honourFrontRun(deps, held, await withDeadline(deps, held.payment));
  switch (outcome.kind) {
    case "settled":
      return record(deps, held, outcome.transaction);
    case "refused": {
      await free(deps, held, outcome.reason);
      deps.metrics.count("refused");
      const report = {
        ...reportOf(held.payment),
        success: false,
        errorReason: outcome.reason,
        transaction: "",
      };
      throw await held.refuse(
        `${outcome.reason}: the payment could not be settled; nothing was charged.`,
        report,
      );
    }
    case "unavailable":
      await free(deps, held, "the facilitator could not be asked");
      throw paymentsUnavailable(deps, outcome.cause);
    case "unknown":
      throw await pending(deps, held, outcome.cause);
  }
}

async function withDeadline(deps: ChargeDeps, payment: PresentedPayment): Promise<SettleOutcome> {
  const { promise, resolve } = Promise.withResolvers<SettleOutcome>();
  const late = new Error("no word of the settlement in time");
  const timer = setTimeout(
    () => resolve({ kind: "unknown", cause: late }),
    deps.settleDeadlineMs ?? SETTLE_DEADLINE_MS,
  );
  try {
    return await Promise.race([deps.facilitator.settle(payment), promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A settlement that was refused because somebody else carried the authorization out has paid us nevertheless. */
async function honourFrontRun(
  deps: ChargeDeps,
  { payment }: HeldPayment,
  outcome: SettleOutcome,
): Promise<SettleOutcome> {
  if (outcome.kind === "settled" || outcome.kind === "unavailable") return outcome;
  try {
    if (!(await deps.chain.isUsed(payment))) return outcome;
    const since = new Date(deps.clock.now().getTime() - LOOK_BACK_MS);
    const transaction = await deps.chain.findTransfer(payment, since);
    if (transaction === null) return outcome;
    deps.metrics.count("front_run");
    return { kind: "settled", transaction };
  } catch (error) {
    // Nobody knows whether the money moved.
    return { kind: "unknown", cause: error };
  }
}

async function record(deps: ChargeDeps, held: HeldPayment, transaction: Hex): Promise<Hex> {
  try {
    if (await deps.store.settle(held.id, transaction)) {
      deps.metrics.count("settled");
      return transaction;
    }
  } catch (error) {
    throw await pending(deps, held, error);
  }
  throw await pending(deps, held, new Error("the payment was reconciled meanwhile"));
}

async function pending(deps: ChargeDeps, held: HeldPayment, cause: unknown): Promise<Problem> {
  deps.metrics.count("pending");
  deps.logger.warn({ err: cause, payment: held.id }, "settlement unknown: left to reconciliation");
  await deps.store.lapse(held.id).catch((error: unknown) => {
    deps.logger.error({ err: error, payment: held.id }, "pending payment stays held until its deadline");
  });
  return settlementPending(held.claim, cause);
}

/** The 503 of a payment of which nobody knows yet whether it moved. */
export function settlementPending(claim: string | null, cause?: unknown): Problem {
  return new Problem(
    "settlement-pending",
    "It is not known yet whether the payment has moved. Repeat the request with the claim in X-Payment-Claim: it is answered without another payment, or the authorization is free again.",
    {
      headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
      ...(claim === null ? {} : { claim }),
      cause,
    },
  );
}

/** Leaves the row to its deadline where the database does not answer: it was never asked to settle, or is reconciled. */
async function free({ store, logger, metrics }: ChargeDeps, { id }: HeldPayment, why: string): Promise<void> {
  try {
    await store.release(id, why);
    metrics.count("released");
  } catch (error) {
    logger.error({ err: error, payment: id }, "payment not released; it is at its deadline");
  }
}

function paymentsUnavailable({ metrics, logger }: ChargeDeps, cause: unknown): Problem {
  metrics.count("unavailable");
  logger.warn({ err: cause }, "payments cannot be checked");
  return unavailable("payments-unavailable", "Payments cannot be checked now; nothing was charged.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

function reportOf({ payer, requirements }: PresentedPayment) {
  return { payer, network: requirements.network, amount: requirements.amount };
}
