import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";
import type { PaidRequest, PayerCaller } from "../access.ts";
import { identifierReused } from "../repeat-store.ts";
import { inFlight, nodeUnavailable, type PaymentAccessDeps, refusal } from "./payment-context.ts";
import { readPaymentHeader } from "./payment-header.ts";
import { matchPayment, untimely } from "./payment-match.ts";
import { isSignedByPayer } from "./payment-payer.ts";
import { claimOf, hashProof, isProven, PROOFS, proofsOf } from "./payment-proof.ts";
import { resourceOf } from "./payment-required.ts";
import { requirementsOf } from "./payment-terms.ts";
import type { StoredPayment } from "./payments.ts";
import type { PresentedPayment } from "./presented-payment.ts";

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
  if (await asked(deps.chain.isUsed(payment))) throw await spent(deps, request, payment);
  const repeated = await findRepeated(deps, request, payment);
  if (repeated !== null) return { caller: callerOf(repeated), row: repeated };
  await requireFunds(deps, request, payment);
  return { caller: payerOf(payment), row: null };
}

/** Of an authorization that was used before it was shown here: whoever shows it may have read it on the chain. */
async function spent(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<Error> {
  // Another request may have taken and settled it since this one looked.
  const row = await deps.store.find(payment);
  if (row !== null && row.state !== "released") return inFlight(deps);
  return refused(deps, request, "payment_already_used: the token has seen this authorization before.");
}

/** A signature of a wallet that cannot pay opens nothing: no limit, no row and no work. */
async function requireFunds(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<void> {
  const balance = await asked(deps.chain.balanceOf(payment));
  if (balance >= payment.amount) return;
  // The money may have moved to us since: then it is verification that finds it.
  if (await asked(deps.chain.isUsed(payment))) return;
  const fault = `insufficient_funds: the payer has ${balance} of the token's smallest unit, and ${payment.amount} are expected.`;
  throw await refused(deps, request, fault);
}

/** What a node answers; throws the 503 of one that does not. */
async function asked<Answer>(question: Promise<Answer>): Promise<Answer> {
  try {
    return await question;
  } catch (error) {
    throw nodeUnavailable(error);
  }
}

/**
 * The payment before this one under the same payment identifier, or for the same request under the same Idempotency-Key: what it
 * bought is not charged again, and is bought by that one. Whoever shows an unused authorization has signed it. Throws the 409 of an
 * identifier that came with another request.
 */
async function findRepeated(
  deps: PaymentAccessDeps,
  request: PaidRequest,
  payment: PresentedPayment,
): Promise<StoredPayment | null> {
  const { idempotencyKeyHash, paymentIdentifierHash } = proofsOf(request, payment.payload);
  const fingerprint = request.fingerprint();
  const named =
    paymentIdentifierHash === null
      ? null
      : await deps.store.findIdentified(payment.payer, paymentIdentifierHash);
  if (named !== null && named.fingerprint !== fingerprint) throw identifierReused();
  if (named !== null || idempotencyKeyHash === null) return named;
  return deps.store.findRepeated(payment.payer, fingerprint, idempotencyKeyHash);
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

function isSigned(deps: PaymentAccessDeps, payment: PresentedPayment, signature: Hex): Promise<boolean> {
  return asked(isSignedByPayer(payment, signature, deps.contractPayers));
}

function requirementsFor(deps: PaymentAccessDeps, { units }: PaidRequest): Promise<PaymentRequirements> {
  return asked(requirementsOf(deps.terms, units));
}

function payerOf(payment: PresentedPayment): PayerCaller {
  return { kind: "payer", address: payment.payer, payment };
}

/** The payer of a row, with its payment as it was presented. */
export function callerOf(row: StoredPayment): PayerCaller {
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
