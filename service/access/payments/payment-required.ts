import { encodePaymentRequiredHeader, encodePaymentResponseHeader } from "@x402/core/http";
import type { PaymentRequired, SettleResponse } from "@x402/core/types";
import { declarePaymentIdentifierExtension, PAYMENT_IDENTIFIER } from "@x402/extensions/payment-identifier";
import type { PaidRequest } from "../access.ts";
import { type PaymentTerms, requirementsOf } from "./payment-terms.ts";

/** A 402 of x402: what a request costs, and why it was not served. */
export class PaymentRequiredError extends Error {
  override readonly name = "PaymentRequiredError";
  readonly terms: PaymentRequired;
  /** What became of a settlement that was tried; null where none was. */
  readonly settlement: SettleResponse | null;

  constructor(terms: PaymentRequired, settlement: SettleResponse | null = null) {
    super(terms.error ?? "payment required");
    this.terms = terms;
    this.settlement = settlement;
  }

  /** Answer headers, lower-case; the first repeats the body. */
  get headers(): Readonly<Record<string, string>> {
    return {
      "payment-required": encodePaymentRequiredHeader(this.terms),
      ...(this.settlement === null ? {} : settlementHeader(this.settlement)),
      "cache-control": "no-store",
    };
  }
}

/** The header that reports a settlement. */
export function settlementHeader(settlement: SettleResponse): Readonly<Record<string, string>> {
  return { "payment-response": encodePaymentResponseHeader(settlement) };
}

/** What a 402 tells of one resource. */
export type PricedResource = {
  /** Absolute. */
  readonly url: string;
  /** Thousandths of a US dollar. */
  readonly units: number;
  readonly summary: string;
};

/** Dollars that the official clients pay at once without being told to. */
const UNASKED_UNITS = 1_000;
const SPEND_CONTROLS =
  "Official x402 clients refuse more than 1 USD at once, and any token that they do not know, unless `setSpendControls` allows it.";

/** The x402 terms of a resource; `error` says why it was not served. Throws while no node tells the token's domain. */
export async function describePayment(
  terms: PaymentTerms,
  resource: PricedResource,
  error: string,
): Promise<PaymentRequired> {
  return {
    x402Version: 2,
    error: resource.units > UNASKED_UNITS ? `${error} ${SPEND_CONTROLS}` : error,
    resource: { url: resource.url, description: resource.summary, mimeType: "application/json" },
    accepts: [await requirementsOf(terms, resource.units)],
    extensions: { [PAYMENT_IDENTIFIER]: declarePaymentIdentifierExtension(false) },
  };
}

/** The resource that a request asks for, under the origin by which the service is known. */
export function resourceOf(request: PaidRequest, origin: string): PricedResource {
  return { url: resourceUrl(origin, request.resource), units: request.units, summary: request.summary };
}

/** The absolute URL of a path with its query. */
function resourceUrl(origin: string, pathAndQuery: string): string {
  return `${origin.replace(/\/+$/, "")}${pathAndQuery}`;
}
