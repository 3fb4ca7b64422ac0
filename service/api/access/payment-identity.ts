import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";
import { requirementsOf } from "../../payments/payment-terms.ts";
import type { PresentedPayment } from "../../payments/presented-payment.ts";
import type { StoredPayment } from "../../store/payments.ts";
import type { PaidRequest, PayerCaller } from "./access.ts";
import { SPENT } from "./payment-charge.ts";
import { inFlight, nodeUnavailable, type PaymentAccessDeps, refusal } from "./payment-context.ts";
import { readPaymentHeader } from "./payment-header.ts";
import { matchPayment, untimely } from "./payment-match.ts";
import { isSignedByPayer } from "./payment-payer.ts";
import { claimOf, hashProof, isProven, PROOFS, proofsOf } from "./payment-proof.ts";
import { resourceOf } from "./payment-required.ts";

/** A payer, and the row of its payment where that was used before and the request proved to be its payer's. */
export type Identified = { readonly caller: PayerCaller; readonly row: StoredPayment | null };

/**
 * Whose payment a request carries or proves; null when it does neither. Throws the 400 of a malformed one, the 402 of one that
 * does not fit or was used by somebody else, and the 409 of one that another request holds.
 */
export async function identifyPayer(
  deps: PaymentAccessDeps,
  request: PaidRequest,
): Promise<Identified | null> {
  const header = request.header("payment-signature");
  if (header !== undefined && header !== "") return identifyByPayment(deps, request, header);
  const claim = claimOf(request);
  if (claim !== null) {
    const row = await deps.store.findByClaim(hashProof(claim));
    if (row !== null) return { caller: callerOf(row), row };
    throw await refused(deps, request, "claim_unknown: no payment has this claim.");
  }
  const payer = await deps.signedInAddress(request);
  if (payer === null) return null;
  const row = await deps.store.findBought(payer, request.fingerprint());
  return row === null ? null : { caller: callerOf(row), row };
}

async function identifyByPayment(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  header: string,
): Promise<Identified> {
  const read = readPaymentHeader(header);
  const requirements = await requirementsFor(deps, request);
  const { url } = resourceOf(request, deps.origin);
  const payment = matchPayment(read, { requirements, resourceUrl: url });
  if (typeof payment === "string") throw await refused(deps, request, payment);
  if (!(await isSigned(deps, payment, read.signature))) {
    const fault = `invalid_signature: it is not one of ${payment.payer} over this authorization.`;
    throw await refused(deps, request, fault);
  }
  const row = await deps.store.find(payment);
  if (row !== null && row.state !== "released") {
    await requireOwn(deps, { row, request, payment });
    return { caller: payerOf(payment), row };
  }
  const fault = untimely(payment, deps.clock.now());
  if (fault !== null) throw await refused(deps, request, fault);
  const repeated = await findRepeated(deps, request, payment);
  return repeated === null
    ? { caller: payerOf(payment), row: null }
    : { caller: callerOf(repeated), row: repeated };
}

/**
 * The payment before this one for the same request under the same Idempotency-Key: what it bought is not charged again, and is
 * bought by that one. Whoever shows an unspent authorization has signed it; a spent one can be read on the chain.
 */
async function findRepeated(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<StoredPayment | null> {
  const { idempotencyKeyHash } = proofsOf(request, payment.payload);
  if (idempotencyKeyHash === null) return null;
  if (await isUsed(deps, payment)) {
    throw await refused(deps, request, SPENT);
  }
  return deps.store.findRepeated(payment.payer, request.fingerprint(), idempotencyKeyHash);
}

async function isUsed({ chain }: PaymentAccessDeps, payment: PresentedPayment): Promise<boolean> {
  try {
    return await chain.isUsed(payment);
  } catch (error) {
    throw nodeUnavailable(error);
  }
}

/** Before anything is counted against the payer: a used authorization is public, so anyone may show it. */
async function requireOwn(
  deps: PaymentAccessDeps,
  use: {
    readonly row: StoredPayment;
    readonly request: PaidRequest;
    readonly payment: PresentedPayment;
  },
): Promise<void> {
  const { row, request, payment } = use;
  if (row.state === "reserved" && row.deadline > deps.clock.now()) throw inFlight(deps);
  const proofs = proofsOf(request, payment.payload);
  if (await isProven(row, request, { proofs, signedInAddress: deps.signedInAddress })) return;
  if (row.state === "reserved") throw inFlight(deps);
  deps.metrics.count("already_used");
  throw await refusal(
    deps,
    request,
    `payment_already_used: sign a new authorization, or prove that this one is yours by ${PROOFS}.`,
  );
}

async function refused(deps: PaymentAccessDeps, request: PaidRequest, error: string): Promise<Error> {
  deps.metrics.count("refused");
  return refusal(deps, request, error);
}

async function isSigned(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  signature: Hex,
): Promise<boolean> {
  try {
    return await isSignedByPayer(payment, signature, deps.contractPayers);
  } catch (error) {
    throw nodeUnavailable(error);
  }
}

async function requirementsFor(
  deps: PaymentAccessDeps,
  { units }: PaidRequest,
): Promise<PaymentRequirements> {
  try {
    return await requirementsOf(deps.terms, units);
  } catch (error) {
    throw nodeUnavailable(error);
  }
}

function payerOf(payment: PresentedPayment): PayerCaller {
  return { kind: "payer", address: payment.payer, payment };
}

function callerOf(row: StoredPayment): PayerCaller {
  // Columns of text and JSON forget what was put into them; matchPayment had vouched for it.
  const payload = row.payload as PaymentPayload;
  const payment: PresentedPayment = {
    payer: row.payer as Address,
    asset: row.asset as Address,
    payTo: row.payTo as Address,
    nonce: row.nonce as Hex,
    amount: row.amount,
    validAfter: BigInt(row.validAfter),
    validBefore: BigInt(row.validBefore),
    payload,
    requirements: payload.accepted,
  };
  return payerOf(payment);
}
