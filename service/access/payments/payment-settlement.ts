import type { Hex } from "viem";
import type { AnswerHeaders, PaidRequest, PresentedPayment, Settlement } from "../access.ts";
import { Problem, unavailable } from "../problems.ts";
import { type SchemeLedger, schemeNamed } from "../schemes/scheme.ts";
import { SETTLE_DEADLINE_MS, type SettleOutcome } from "./facilitator.ts";
import {
  type ChargeDeps,
  hashProof,
  inFlight,
  type PaymentAccessDeps,
  PROOFS,
  proofsOf,
  type RefusalDetails,
  refusal,
} from "./payment-identity.ts";
import { resourceOf, settlementHeader } from "./payment-terms.ts";
import { chargedAs } from "./payments.ts";

const CLAIM_BYTES = 32;

/** Reserves the authorization for one request. Throws a 409 if it is taken, and a 402 if it may only buy something else. */
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
export function heldPayment(
  deps: PaymentAccessDeps,
  held: Omit<HeldPayment, "refuse" | "reportSettled">,
): HeldPayment {
  const { request } = held;
  return {
    ...held,
    refuse: (error, details) => refusal(deps, request, error, details),
    reportSettled: (settled) => settledHeaders(deps, request, settled),
  };
}

/** The header that reports a settlement to its payer, with a signed receipt. A receipt that cannot be signed is left out: the money has moved. */
export async function settledHeaders(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  { payment, transaction }: SettledPayment,
): Promise<AnswerHeaders> {
  const { terms, origin, logger } = deps;
  const report = {
    ...reportOf(payment),
    success: true,
    transaction: transaction ?? "",
    ...(await deps.ledgers.get(payment.scheme)?.report(payment)),
  };
  try {
    const extensions = await terms.signer?.receipt(resourceOf(request, origin).url, report);
    return settlementHeader(extensions === undefined ? report : { ...report, extensions });
  } catch (error) {
    logger.error({ err: error }, "receipt of a payment not signed");
    return settlementHeader(report);
  }
}

export function newClaim({ randomBytes }: PaymentAccessDeps): string {
  return Buffer.from(randomBytes(CLAIM_BYTES)).toString("hex");
}

/** Another request holds the authorization, or it is reserved for the request that asked for its settlement. */
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

/** Drops the query, which may hold secrets such as webhook addresses with tokens. */
function pathOf(resource: string): string {
  return resource.split("?", 1)[0] ?? resource;
}

/** A payment that one request holds. */
export type HeldPayment = {
  readonly id: string;
  /** Null for a request without a proof. */
  readonly claim: string | null;
  readonly payment: PresentedPayment;
  readonly request: PaidRequest;
  /** The 402 of this request. */
  refuse(error: string, details?: Partial<RefusalDetails>): Promise<Error>;
  /** The headers that report its settlement. */
  reportSettled(settled: SettledPayment): Promise<AnswerHeaders>;
};

/** A payment whose requirements name the amount that was taken, with its transaction; a charge of a ledger may have none. */
export type SettledPayment = { readonly payment: PresentedPayment; readonly transaction: Hex | null };

const RETRY_AFTER_SECONDS = 5;
const CHAIN_DEADLINE_MS = 5_000;

/**
 * Moves the money: the whole amount of the payment, or a part of it. Throws a 402 or 503 if the money did not move or if that
 * is not known yet. Every step has its own deadline, so that callers need none.
 */
export async function settle(
  deps: ChargeDeps,
  held: HeldPayment,
  amount = held.payment.amount,
): Promise<SettledPayment> {
  const asked = await askSettlement(deps, held, amount);
  if (asked === null) throw await lapsed(deps, held);
  const ledger = deps.ledgers.get(held.payment.scheme);
  return ledger === undefined
    ? settleOnChain(deps, held, chargedAs(held.payment, asked))
    : settleByLedger(deps, held, ledger);
}

async function lapsed(deps: ChargeDeps, { refuse }: HeldPayment): Promise<Error> {
  deps.metrics.count("withheld");
  return refuse("payment_released: the request took too long and has lost its payment.");
}

/** The facilitator's word; unknown after the deadline. */
function askFacilitator(deps: ChargeDeps, payment: PresentedPayment): Promise<SettleOutcome> {
  const late = { kind: "unknown", cause: new Error("no word of the settlement in time") } as const;
  return withDeadline<SettleOutcome>(
    deps.settleDeadlineMs ?? SETTLE_DEADLINE_MS,
    deps.facilitator.settle(payment),
    late,
  );
}

async function settleByLedger(
  deps: ChargeDeps,
  held: HeldPayment,
  ledger: SchemeLedger,
): Promise<SettledPayment> {
  const { payment } = held;
  const taken = await ledger
    .take(held, () => askFacilitator(deps, payment))
    .catch(async (error: unknown) => {
      // The transaction of the database may have been committed.
      throw await leaveToReconciliation(deps, held, { cause: error });
    });
  switch (taken.kind) {
    case "charged":
      countSettled(deps, payment);
      return { payment, transaction: taken.transaction };
    case "gone":
      throw await lapsed(deps, held);
    case "refused": {
      await release(deps, held, taken.why);
      deps.metrics.count("refused");
      throw await held.refuse(taken.error, { extra: { scheme: payment.scheme, members: taken.extra } });
    }
    case "unavailable":
      await release(deps, held, taken.why);
      throw paymentsUnavailable(deps, taken.cause);
    case "pending":
      await release(deps, held, taken.why);
      deps.metrics.count("pending");
      throw new Problem("settlement-pending", taken.detail, {
        headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
        cause: taken.cause,
      });
  }
}

function countSettled({ metrics }: ChargeDeps, { scheme }: PresentedPayment): void {
  metrics.count("settled");
  metrics.countSettlement(scheme);
}

async function settleOnChain(
  deps: ChargeDeps,
  held: HeldPayment,
  payment: PresentedPayment,
): Promise<SettledPayment> {
  const outcome = await checkAgainstChain(deps, payment, await askFacilitator(deps, payment));
  switch (outcome.kind) {
    case "settled":
      return recordSettlement(deps, held, { payment, transaction: outcome.transaction });
    case "refused": {
      await release(deps, held, outcome.reason);
      deps.metrics.count("refused");
      const report = {
        ...reportOf(payment),
        success: false,
        errorReason: outcome.reason,
        transaction: "",
      };
      throw await held.refuse(`${outcome.reason}: ${chargeOf(deps, payment, outcome)}`, {
        settlement: report,
      });
    }
    case "unavailable":
      await release(deps, held, "the facilitator could not be asked");
      throw paymentsUnavailable(deps, outcome.cause);
    case "unknown":
      throw await leaveToReconciliation(deps, held, outcome);
  }
}

/** Nothing was charged only where no block can show the contrary any more: until then others may carry the authorization out. */
function chargeOf(
  { schemes }: ChargeDeps,
  { scheme, validBefore }: PresentedPayment,
  { isFinal }: SeenOutcome,
): string {
  if (isFinal === true) {
    const { spentElsewhere } = schemeNamed(schemes, scheme).transfer;
    return (
      spentElsewhere ??
      "the authorization was used or withdrawn elsewhere, in a final block; nothing was charged."
    );
  }
  const end = new Date(Number(validBefore) * 1000).toISOString();
  return `this service has not settled the payment, and settles it only if it is presented again. Others who have the authorization can carry it out until ${end}; where they do, the same request is answered without another payment, proven by ${PROOFS}.`;
}

/**
 * Records that settlement is being asked for, and returns the amount to ask for; null if the row no longer belongs to this
 * request. Throws a 503 if the database fails.
 */
export async function askSettlement(
  deps: ChargeDeps,
  held: HeldPayment,
  amount = held.payment.amount,
): Promise<bigint | null> {
  try {
    return await deps.store.askSettlement(held.id, amount);
  } catch (error) {
    // The record may have been written; reconciliation then treats it as asked.
    throw await leaveToReconciliation(deps, held, { cause: error });
  }
}

/** An outcome, with whether a refusal is final: by a final block, the authorization never pays us. */
type SeenOutcome = SettleOutcome & { readonly isFinal?: boolean };

/**
 * Compares the outcome with the chain. Money that a third party moved has paid us as well. A refusal counts only while
 * the authorization is unused, also in the pending block.
 */
async function checkAgainstChain(
  deps: ChargeDeps,
  payment: PresentedPayment,
  outcome: SettleOutcome,
): Promise<SeenOutcome> {
  if (outcome.kind === "settled") return outcome;
  try {
    const late = { kind: "unknown", cause: new Error("the chain did not answer in time") } as const;
    return await withDeadline<SeenOutcome>(CHAIN_DEADLINE_MS, checkUse(deps, payment, outcome), late);
  } catch (error) {
    // It is unknown whether the money moved.
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

/** Records that the money moved. Throws a 503, which reports it, if the row has another state by now. */
export async function recordSettlement(
  deps: ChargeDeps,
  held: HeldPayment,
  settled: SettledPayment & { readonly transaction: Hex },
): Promise<SettledPayment> {
  try {
    if (await deps.store.settle(held.id, settled.transaction, held.payment.taking)) {
      countSettled(deps, held.payment);
      return settled;
    }
  } catch (error) {
    throw await leaveToReconciliation(deps, held, { cause: error, settled });
  }
  const cause = new Error("the payment was reconciled meanwhile");
  throw await leaveToReconciliation(deps, held, { cause, settled });
}

/** Leaves the payment to reconciliation; returns the 503 with its claim, which reports the settlement if one was seen. */
export async function leaveToReconciliation(
  deps: ChargeDeps,
  held: HeldPayment,
  { cause, settled }: { readonly cause: unknown; readonly settled?: SettledPayment },
): Promise<Problem> {
  deps.metrics.count("pending");
  deps.logger.warn({ err: cause, payment: held.id }, "settlement unknown: left to reconciliation");
  await deps.store.lapse(held.id).catch((error: unknown) => {
    deps.logger.error({ err: error, payment: held.id }, "pending payment stays held until its deadline");
  });
  return settlementPending(held.claim, {
    cause,
    headers: settled === undefined ? {} : await held.reportSettled(settled),
  });
}

/** The 503 of a payment with unknown outcome. */
export function settlementPending(
  claim: string | null,
  { cause, headers = {} }: { readonly cause?: unknown; readonly headers?: AnswerHeaders } = {},
): Problem {
  return new Problem(
    "settlement-pending",
    `It is not known yet whether the payment has moved. Repeat the request with ${PROOFS}: it is answered without another payment, or the authorization is free again.`,
    {
      headers: { "retry-after": String(RETRY_AFTER_SECONDS), ...headers },
      ...(claim === null ? {} : { claim }),
      cause,
    },
  );
}

/** If the database fails, the row ends by its deadline: settlement was never asked for, or reconciliation decides. */
export async function release(
  { store, ledgers, logger, metrics }: ChargeDeps,
  { id, payment }: HeldPayment,
  why: string,
): Promise<void> {
  try {
    await (ledgers.has(payment.scheme) ? store.releaseUnasked(id, why) : store.release(id, why));
    metrics.count("released");
  } catch (error) {
    logger.error({ err: error, payment: id }, "payment not released; it is at its deadline");
  }
}

/** The common part of every settlement report. */
function reportOf({ payer, requirements }: PresentedPayment) {
  return { payer, network: requirements.network, amount: requirements.amount };
}

/**
 * State of an authorization on chain. unused: in no block, not even the pending one. paid: it paid us. open: used,
 * purpose unknown yet. spent: a final block shows that it was used or withdrawn without paying us.
 */
export type PaymentUse =
  | { readonly kind: "unused" }
  | { readonly kind: "paid"; readonly transaction: Hex }
  | { readonly kind: "open" }
  | { readonly kind: "spent" };

/** An authorization may have been carried out before we saw it; clients date them a few minutes back. */
const LOOK_BACK_MS = 15 * 60_000;

/** Checks the newest, the pending and the newest final block. Throws if the node fails. */
export async function findUse(
  { chain, clock }: Pick<ChargeDeps, "chain" | "clock">,
  payment: PresentedPayment,
): Promise<PaymentUse> {
  if (!(await chain.isUsed(payment))) {
    return { kind: (await chain.isUsed(payment, "pending")) ? "open" : "unused" };
  }
  const amount = BigInt(payment.requirements.amount);
  const since = new Date(clock.now().getTime() - LOOK_BACK_MS);
  const transaction = await chain.findTransfer({ ...payment, amount }, since);
  if (transaction !== null) return { kind: "paid", transaction };
  const final = await chain.finalBlock();
  return { kind: (await chain.isUsed(payment, final.number)) ? "spent" : "open" };
}

/** Names missing funds as the reason of a refusal: a failed simulation does not say so. */
export async function reasonFor(
  { chain }: Pick<ChargeDeps, "chain">,
  payment: PresentedPayment,
  reason: string,
): Promise<string> {
  const funds = await chain.fundsOf(payment).catch(() => null);
  return funds !== null && funds.balance < payment.amount ? "insufficient_funds" : reason;
}

/** Returns the result of the work, or `late` after `ms`. The work then continues in the background. */
export async function withDeadline<Result>(ms: number, work: Promise<Result>, late: Result): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => resolve(late), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The 503 of a failing facilitator or node. */
export function paymentsUnavailable(
  { metrics, logger }: Pick<ChargeDeps, "metrics" | "logger">,
  cause: unknown,
): Problem {
  metrics.count("unavailable");
  logger.warn({ err: cause }, "payments cannot be checked");
  return unavailable("payments-unavailable", UNAVAILABLE, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}

/** It makes no promise about the charge: any holder of the signature can carry it out until it expires. */
const UNAVAILABLE =
  "Payments cannot be checked now. This service has not asked for the settlement of this payment; send the same request again.";
