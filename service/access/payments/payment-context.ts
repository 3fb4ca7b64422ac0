import type { SettleResponse } from "@x402/core/types";
import type { PaidRequest } from "../access.ts";
import { Problem, unavailable } from "../problems.ts";
import type { ContractPayers } from "./payment-payer.ts";
import type { SignedInAddress } from "./payment-proof.ts";
import { describePayment, PaymentRequiredError, resourceOf } from "./payment-required.ts";
import type { ChargeDeps } from "./payment-settlement.ts";
import type { PaymentTerms } from "./payment-terms.ts";

export type PaymentAccessDeps = ChargeDeps & {
  readonly terms: PaymentTerms;
  /** Under which resources are named: scheme, host and port. */
  readonly origin: string;
  readonly contractPayers: ContractPayers;
  readonly signedInAddress: SignedInAddress;
  readonly randomBytes: (size: number) => Uint8Array;
};

const RETRY_AFTER_SECONDS = 2;

/** The 402 of a request, or the 503 of a deployment that cannot tell its terms now. */
export async function refusal(
  { terms, origin }: PaymentAccessDeps,
  request: PaidRequest,
  error: string,
  settlement: SettleResponse | null = null,
): Promise<Error> {
  try {
    const required = await describePayment(terms, resourceOf(request, origin), error);
    return new PaymentRequiredError(required, settlement);
  } catch (cause) {
    return nodeUnavailable(cause);
  }
}

/** The 409 of an authorization that another request holds. */
export function inFlight({ metrics }: PaymentAccessDeps): Problem {
  metrics.count("in_flight");
  return new Problem("payment-in-flight", "Another request is being served for this authorization.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });
}

/** The 503 of a node that does not answer. */
export function nodeUnavailable(cause: unknown): Problem {
  return unavailable("payments-unavailable", "Payments cannot be checked now. Send the same request again.", {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    cause,
  });
}
