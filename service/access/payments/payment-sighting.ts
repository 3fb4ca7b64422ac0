import type { Logger } from "pino";
import type { Hex } from "viem";
import { type Problem, unavailable } from "../problems.ts";
import type { PaymentMetrics } from "./metrics.ts";
import type { PaymentChain } from "./payment-chain.ts";
import type { PresentedPayment } from "./presented-payment.ts";

type SightingDeps = {
  readonly chain: Pick<PaymentChain, "isUsed" | "findTransfer" | "balanceOf" | "finalBlock">;
  readonly metrics: PaymentMetrics;
  readonly logger: Logger;
  readonly clock: { now(): Date };
};

/**
 * What the chain shows of an authorization. unused: in no block, nor in the pending one. paid: carried out to us. open: used, and not
 * yet known for what. spent: by a final block it was used or withdrawn without paying us, so that it never will.
 */
export type PaymentUse =
  | { readonly kind: "unused" }
  | { readonly kind: "paid"; readonly transaction: Hex }
  | { readonly kind: "open" }
  | { readonly kind: "spent" };

const RETRY_AFTER_SECONDS = 5;
/** An authorization may have been carried out before it was shown to us; clients date them a few minutes back. */
const LOOK_BACK_MS = 15 * 60_000;

/** Looks for an authorization in the newest block, the pending one and the newest final one; throws when the node does not answer. */
export async function findUse(
  { chain, clock }: SightingDeps,
  payment: PresentedPayment,
): Promise<PaymentUse> {
  if (!(await chain.isUsed(payment))) {
    return { kind: (await chain.isUsed(payment, "pending")) ? "open" : "unused" };
  }
  const transaction = await chain.findTransfer(payment, new Date(clock.now().getTime() - LOOK_BACK_MS));
  if (transaction !== null) return { kind: "paid", transaction };
  const final = await chain.finalBlock();
  return { kind: (await chain.isUsed(payment, final.number)) ? "spent" : "open" };
}

/** The reason for a refusal: a simulation that fails for want of money does not say so by itself. */
export async function reasonFor(
  { chain }: Pick<SightingDeps, "chain">,
  payment: PresentedPayment,
  reason: string,
): Promise<string> {
  const balance = await chain.balanceOf(payment).catch(() => null);
  return balance !== null && balance < payment.amount ? "insufficient_funds" : reason;
}

/** What the work answers, or the other value where it takes longer; the work then goes on unheard. */
export async function within<Result>(ms: number, work: Promise<Result>, late: Result): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => resolve(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The 503 of a facilitator or a node that does not answer. */
export function paymentsUnavailable(
  { metrics, logger }: Pick<SightingDeps, "metrics" | "logger">,
  cause: unknown,
): Problem {
  metrics.count("unavailable");
  logger.warn({ err: cause }, "payments cannot be checked");
  return unavailable("payments-unavailable", UNAVAILABLE, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** Says nothing of the charge: whoever has the signature may carry an authorization out until it expires. */
const UNAVAILABLE =
  "Payments cannot be checked now. This service has not asked for the settlement of this payment; send the same request again.";
