import type { PaidRequest, Settlement } from "../access.ts";
import { inFlight, type PaymentAccessDeps, refusal } from "./payment-context.ts";
import { hashProof, proofsOf } from "./payment-proof.ts";
import type { HeldPayment } from "./payment-settlement.ts";
import type { PresentedPayment } from "./presented-payment.ts";

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
