import { hash } from "node:crypto";
import type { PaymentPayload } from "@x402/core/types";
import { extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import type { Address } from "viem";
import type { PaidRequest } from "../access.ts";
import { Problem } from "../problems.ts";
import { idempotencyKeyOf } from "../repeat-slot.ts";
import type { StoredPayment } from "./payments.ts";

/** What a request brings along that the first one may have brought as well; each hash is SHA-256 in hexadecimal. */
export type ProofHashes = {
  readonly claimHash: string | null;
  readonly idempotencyKeyHash: string | null;
  readonly paymentIdentifierHash: string | null;
  /** Whether the Idempotency-Key, and the payment identifier, prove whoever knows them to be the first one's sender. */
  readonly keyProves: boolean;
  readonly identifierProves: boolean;
};

/** The wallet, lower-case, that signed the request in; null where it carries no sign-in; throws a 401 for one that is no good. */
export type SignedInAddress = (request: Pick<PaidRequest, "header">) => Promise<Address | null>;

/** 32 bytes in hexadecimal. */
const CLAIM = /^[0-9a-f]{64}$/i;
/** As many characters as 128 random bits have in base64: a shorter key is a name that others can guess. */
const PROVING_CHARACTERS = 22;
/** The proofs, in words. */
export const PROOFS = `its claim in X-Payment-Claim, its payment identifier or Idempotency-Key of at least ${PROVING_CHARACTERS} characters (for POST /keys no Idempotency-Key), or a sign-in`;
/** What it sells is as good as money: an Idempotency-Key, which logs and proxies see, is not enough to get it once more. */
const KEY_SALE = "POST /keys";

/** What a request brings along that may prove it; throws a 400 for a claim or an Idempotency-Key that is none. */
export function proofsOf(
  request: Pick<PaidRequest, "header" | "endpoint">,
  payload: PaymentPayload | null,
): ProofHashes {
  const claim = claimOf(request);
  const key = idempotencyKeyOf(request);
  const identifier = payload === null ? null : extractPaymentIdentifier(payload, true);
  return {
    claimHash: claim === null ? null : hashProof(claim),
    idempotencyKeyHash: hashOf(key),
    paymentIdentifierHash: hashOf(identifier),
    keyProves: isLong(key) && request.endpoint !== KEY_SALE,
    identifierProves: isLong(identifier),
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
 * Whether the request comes from whoever paid: it knows the claim of the first request, its payment identifier or, unless a key was
 * bought, its Idempotency-Key, both of 22 characters at least, or is signed in by the payer. The authorization itself proves
 * nothing, since settlement publishes it.
 */
export async function isProven(
  row: StoredPayment,
  request: PaidRequest,
  { proofs, signedInAddress }: { readonly proofs: ProofHashes; readonly signedInAddress: SignedInAddress },
): Promise<boolean> {
  if (proofs.claimHash !== null && proofs.claimHash === row.claimHash) return true;
  if (proofs.keyProves && proofs.idempotencyKeyHash === row.idempotencyKeyHash) return true;
  if (proofs.identifierProves && proofs.paymentIdentifierHash === row.paymentIdentifierHash) return true;
  return (await signedInAddress(request)) === row.payer;
}

function hashOf(text: string | null): string | null {
  return text === null || text === "" ? null : hashProof(text);
}

function isLong(text: string | null): boolean {
  return text !== null && text.length >= PROVING_CHARACTERS;
}
