import { hash } from "node:crypto";
import type { PaymentPayload } from "@x402/core/types";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import type { Address } from "viem";
import type { StoredPayment } from "../../store/payments.ts";
import { Problem } from "../problems.ts";
import type { PaidRequest } from "./access.ts";

/** By what a request shows that it is the first one's repeat; each hash is SHA-256 in hexadecimal. */
export type ProofHashes = {
  readonly claimHash: string | null;
  readonly idempotencyKeyHash: string | null;
  readonly paymentIdentifierHash: string | null;
};

/** The wallet, lower-case, that signed the request in; null where it carries no sign-in; throws a 401 for one that is no good. */
export type SignedInAddress = (request: Pick<PaidRequest, "header">) => Promise<Address | null>;

/** 32 bytes in hexadecimal. */
const CLAIM = /^[0-9a-f]{64}$/i;

/** What a request brings along that may prove it; throws a 400 for a claim that is none. */
export function proofsOf(request: Pick<PaidRequest, "header">, payload: PaymentPayload | null): ProofHashes {
  const claim = claimOf(request);
  const identifier = payload === null ? null : extractPaymentIdentifier(payload, true);
  return {
    claimHash: claim === null ? null : hashProof(claim),
    idempotencyKeyHash: hashOf(request.header("idempotency-key")),
    paymentIdentifierHash: hashOf(identifier),
  };
}

/** The claim of the X-Payment-Claim header, lower-case; null without one. */
export function claimOf(request: Pick<PaidRequest, "header">): string | null {
  const claim = request.header("x-payment-claim");
  if (claim === undefined || claim === "") return null;
  if (CLAIM.test(claim)) return claim.toLowerCase();
  throw new Problem("header-malformed", "X-Payment-Claim: 64 hexadecimal digits were expected.");
}

/** How a proof is stored and compared. */
export function hashProof(proof: string): string {
  return hash("sha256", proof, "hex");
}

/**
 * Whether the request comes from whoever paid: it knows the claim, the Idempotency-Key or the payment identifier of the first
 * request, or is signed in by the payer. The authorization itself proves nothing, since settlement publishes it.
 */
export async function isProven(
  row: StoredPayment,
  request: PaidRequest,
  { proofs, signedInAddress }: { readonly proofs: ProofHashes; readonly signedInAddress: SignedInAddress },
): Promise<boolean> {
  if (proofs.claimHash !== null && proofs.claimHash === row.claimHash) return true;
  if (proofs.idempotencyKeyHash !== null && proofs.idempotencyKeyHash === row.idempotencyKeyHash) return true;
  if (proofs.paymentIdentifierHash !== null && proofs.paymentIdentifierHash === row.paymentIdentifierHash)
    return true;
  return (await signedInAddress(request)) === row.payer;
}

function hashOf(text: string | null | undefined): string | null {
  return text === null || text === undefined || text === "" ? null : hashProof(text);
}
