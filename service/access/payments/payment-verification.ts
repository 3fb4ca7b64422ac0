import type { PaidRequest } from "../access.ts";
import { unavailable } from "../problems.ts";
import { inFlight, type PaymentAccessDeps, refusal } from "./payment-context.ts";
import { holdPayment } from "./payment-hold.ts";
import { askSettlement, pending, record } from "./payment-settlement.ts";
import { findUse, type PaymentUse, paymentsUnavailable, reasonFor, within } from "./payment-sighting.ts";
import type { StoredPayment } from "./payments.ts";
import type { PresentedPayment } from "./presented-payment.ts";

/** Above what a facilitator needs for its own tries. */
const VERIFY_DEADLINE_MS = 20_000;

/**
 * Asks the facilitator whether a payment that was unused when the request came is good: null where it is. One that was carried out
 * meanwhile, by whoever has the signature, has paid us: its row is answered, settled and owed. Throws the 402 of any other that is no
 * good, the 409 of one that another request took meanwhile, and the 503 of one that nobody can tell of yet.
 */
export async function verifyPayment(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  request: PaidRequest,
): Promise<StoredPayment | null> {
  const late = { kind: "unavailable", cause: new Error("no word of the verification in time") } as const;
  const verified = await within(VERIFY_DEADLINE_MS, deps.facilitator.verify(payment), late);
  switch (verified.kind) {
    case "valid":
      return null;
    case "invalid": {
      const row = await deps.store.find(payment);
      if (row !== null && row.state !== "released") throw inFlight(deps);
      const use = await useOf(deps, payment);
      if (use.kind === "paid" || use.kind === "open") return takeUsed(deps, payment, { request, use });
      deps.metrics.count("refused");
      const reason = await reasonFor(deps, payment, verified.reason);
      throw await refusal(deps, request, `${reason}: the payment does not pass verification.`);
    }
    case "dear": {
      deps.metrics.count("too_dear");
      const { detail, retryAfterSeconds } = verified;
      throw unavailable("settlement-too-dear", detail, { retryAfterSeconds });
    }
    case "unavailable":
      throw paymentsUnavailable(deps, verified.cause);
  }
}

async function useOf(deps: PaymentAccessDeps, payment: PresentedPayment): Promise<PaymentUse> {
  try {
    return await findUse(deps, payment);
  } catch (error) {
    throw paymentsUnavailable(deps, error);
  }
}

/** Puts an authorization on record that was carried out between the request and its verification. */
async function takeUsed(
  deps: PaymentAccessDeps,
  payment: PresentedPayment,
  {
    request,
    use,
  }: {
    readonly request: PaidRequest;
    readonly use: Extract<PaymentUse, { readonly kind: "paid" | "open" }>;
  },
): Promise<StoredPayment | null> {
  const held = await holdPayment(deps, payment, { request, settlement: "before" });
  await askSettlement(deps, held);
  if (use.kind === "open") {
    throw await pending(
      deps,
      held,
      new Error("the authorization is used, but by no payment that is seen yet"),
    );
  }
  deps.metrics.count("front_run");
  await record(deps, held, use.transaction);
  await deps.store.lapse(held.id);
  return deps.store.find(payment);
}
