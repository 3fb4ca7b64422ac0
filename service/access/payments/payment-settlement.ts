import type { SettleResponse } from "@x402/core/types";
import type { Logger } from "pino";
import type { Hex } from "viem";
import type { PaidRequest, PresentedPayment, Settlement } from "../access.ts";
import { Problem, unavailable } from "../problems.ts";
import { SETTLE_DEADLINE_MS, type SettleOutcome } from "./facilitator.ts";
import type { PaymentMetrics } from "./metrics.ts";
import type { PaymentChain } from "./payment-chain.ts";
import {
  type ChargeDeps,
  hashProof,
  inFlight,
  type PaymentAccessDeps,
  PROOFS,
  proofsOf,
  refusal,
} from "./payment-identity.ts";

const CLAIM_BYTES = 32;

/** Reserves the authorization for one request; throws the 409 of one that is taken, and the 402 of one that may buy something else alone. */
export async function holdPayment(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  { request, settlement }: { readonly request: PaidRequest; readonly settlement: Settlement },
): Promise<HeldPayment> {
  const claim = newClaim(deps);
  const { idempotencyKeyHash, paymentIdentifierHash } = proofsOf(request, payment.payload);
  const id = await deps.store.reserve({
    payment,
    endpoint: request.endpoint,
    resource: pathOf(request.resource),
    fingerprint: request.fingerprint(),
    settlement,
    claimHash: hashProof(claim),
    idempotencyKeyHash,
    paymentIdentifierHash,
  });
  if (id === null) throw await notReserved(deps, payment, request);
  return heldPayment(deps, { id, claim, payment, request });
}

/** The payment of a row that this request holds. */
export function heldPayment(deps: PaymentAccessDeps, held: Omit<HeldPayment, "refuse">): HeldPayment {
  return { ...held, refuse: (error, settlement) => refusal(deps, held.request, error, settlement) };
}

export function newClaim({ randomBytes }: PaymentAccessDeps): string {
  return Buffer.from(randomBytes(CLAIM_BYTES)).toString("hex");
}

/** Another request holds the authorization, or it is kept for the one whose settlement was asked for. */
async function notReserved(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  request: PaidRequest,
): Promise<Error> {
  const row = await deps.store.find(payment);
  if (row?.state !== "released") return inFlight(deps);
  deps.metrics.count("already_used");
  return refusal(
    deps,
    request,
    "payment_already_used: this authorization was presented for another request. Sign a new one.",
  );
}

/** Queries hold what is nobody's business once the request is answered, such as addresses of webhooks with tokens. */
function pathOf(resource: string): string {
  return resource.split("?", 1)[0] ?? resource;
}

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
const CHAIN_DEADLINE_MS = 5_000;

/**
 * Moves the money; answers the transaction that did, or throws the 402 or 503 of one that was not, or not yet, seen to. Every step of
 * it ends by itself, so that nobody has to cut it in two.
 */
export async function settle(deps: ChargeDeps, held: HeldPayment): Promise<Hex> {
  if (!(await askSettlement(deps, held))) {
    deps.metrics.count("withheld");
    throw await held.refuse("payment_released: the request took too long and has lost its payment.");
  }
  const late = { kind: "unknown", cause: new Error("no word of the settlement in time") } as const;
  const settling = deps.facilitator.settle(held.payment);
  const outcome = await checkAgainstChain(
    deps,
    held,
    await withDeadline<SettleOutcome>(deps.settleDeadlineMs ?? SETTLE_DEADLINE_MS, settling, late),
  );
  switch (outcome.kind) {
    case "settled":
      return recordSettlement(deps, held, outcome.transaction);
    case "refused": {
      await release(deps, held, outcome.reason);
      deps.metrics.count("refused");
      const report = {
        ...reportOf(held.payment),
        success: false,
        errorReason: outcome.reason,
        transaction: "",
      };
      throw await held.refuse(`${outcome.reason}: ${chargeOf(held.payment, outcome)}`, report);
    }
    case "unavailable":
      await release(deps, held, "the facilitator could not be asked");
      throw paymentsUnavailable(deps, outcome.cause);
    case "unknown":
      throw await leaveToReconciliation(deps, held, outcome.cause);
  }
}

/** Nothing was charged only where no block can show the contrary any more: until then others may carry the authorization out. */
function chargeOf({ validBefore }: PresentedPayment, { isFinal }: SeenOutcome): string {
  if (isFinal === true) {
    return "the authorization was used or withdrawn elsewhere, in a final block; nothing was charged.";
  }
  const end = new Date(Number(validBefore) * 1000).toISOString();
  return `this service has not settled the payment and will not. Others who have the authorization can carry it out until ${end}; where they do, the same request is answered without another payment, proven by ${PROOFS}.`;
}

/** Puts on record that the settlement is asked for; false when the row is no longer this request's. Throws the 503 of a database that does not answer. */
export async function askSettlement(deps: ChargeDeps, held: HeldPayment): Promise<boolean> {
  try {
    return await deps.store.askSettlement(held.id);
  } catch (error) {
    // It may be on record: then whoever reconciles takes it for asked.
    throw await leaveToReconciliation(deps, held, error);
  }
}

/** An outcome, with whether a refusal is final: by a final block, the authorization never pays us. */
type SeenOutcome = SettleOutcome & { readonly isFinal?: boolean };

/**
 * What the chain makes of the outcome: money that somebody else moved has paid us nevertheless, and a refusal counts only while the
 * authorization is unused, in the pending block too.
 */
async function checkAgainstChain(
  deps: ChargeDeps,
  { payment }: HeldPayment,
  outcome: SettleOutcome,
): Promise<SeenOutcome> {
  if (outcome.kind === "settled") return outcome;
  try {
    const late = { kind: "unknown", cause: new Error("the chain did not tell in time") } as const;
    return await withDeadline<SeenOutcome>(CHAIN_DEADLINE_MS, checkUse(deps, payment, outcome), late);
  } catch (error) {
    // Nobody knows whether the money moved.
    return { kind: "unknown", cause: error };
  }
}

async function checkUse(
  deps: ChargeDeps,
  payment: PresentedPayment,
  outcome: Exclude<SettleOutcome, { readonly kind: "settled" }>,
): Promise<SeenOutcome> {
  const use = await findUse(deps, payment);
  switch (use.kind) {
    case "unused":
      return outcome.kind === "refused"
        ? { kind: "refused", reason: await reasonFor(deps, payment, outcome.reason) }
        : outcome;
    case "paid":
      deps.metrics.count("front_run");
      return { kind: "settled", transaction: use.transaction };
    case "open":
      return {
        kind: "unknown",
        cause: new Error("the authorization is used, but by no payment that is seen yet"),
      };
    case "spent":
      return { kind: "refused", reason: "invalid_exact_evm_nonce_already_used", isFinal: true };
  }
}

/** Puts on record that the money moved; throws the 503 of a row that says otherwise by now. */
export async function recordSettlement(deps: ChargeDeps, held: HeldPayment, transaction: Hex): Promise<Hex> {
  try {
    if (await deps.store.settle(held.id, transaction)) {
      deps.metrics.count("settled");
      return transaction;
    }
  } catch (error) {
    throw await leaveToReconciliation(deps, held, error);
  }
  throw await leaveToReconciliation(deps, held, new Error("the payment was reconciled meanwhile"));
}

/** The 503 of a payment that is left to reconciliation, with its claim. */
export async function leaveToReconciliation(
  deps: ChargeDeps,
  held: HeldPayment,
  cause: unknown,
): Promise<Problem> {
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
    `It is not known yet whether the payment has moved. Repeat the request with ${PROOFS}: it is answered without another payment, or the authorization is free again.`,
    {
      headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
      ...(claim === null ? {} : { claim }),
      cause,
    },
  );
}

/** Leaves the row to its deadline where the database does not answer: it was never asked to settle, or is reconciled. */
export async function release(
  { store, logger, metrics }: ChargeDeps,
  { id }: HeldPayment,
  why: string,
): Promise<void> {
  try {
    await store.release(id, why);
    metrics.count("released");
  } catch (error) {
    logger.error({ err: error, payment: id }, "payment not released; it is at its deadline");
  }
}

/** What every report of a settlement says of its payment. */
export function reportOf({ payer, requirements }: PresentedPayment) {
  return { payer, network: requirements.network, amount: requirements.amount };
}

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
export async function withDeadline<Result>(ms: number, work: Promise<Result>, late: Result): Promise<Result> {
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
