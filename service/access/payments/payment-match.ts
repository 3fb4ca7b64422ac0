import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { PaymentHeader } from "./payment-header.ts";
import type { PresentedPayment } from "./presented-payment.ts";

/** What a payment is compared with. */
export type Expectation = {
  readonly requirements: PaymentRequirements;
  /** Absolute URL of what is asked for. */
  readonly resourceUrl: string;
};

/** Seconds that an authorization must last: the facilitator's own bound for a transaction to be mined. */
const LEAST_SECONDS = 6n;
/** A day: an authorization that was released is watched on the chain for as long as it is valid. */
const MOST_SECONDS = 86_400n;

/** The payment, where it is the one that the request costs; otherwise why it is not. Signature and time are other matters. */
export function matchPayment(header: PaymentHeader, expected: Expectation): PresentedPayment | string {
  const { payload, authorization } = header;
  const { requirements } = expected;
  const { accepted } = payload;
  if (accepted.scheme !== requirements.scheme) {
    return `unsupported_scheme: ${requirements.scheme} is expected.`;
  }
  if (accepted.network !== requirements.network) {
    return `invalid_network: ${requirements.network} is expected.`;
  }
  if (authorization === null) return "unsupported_scheme: an EIP-3009 authorization is expected.";
  if (accepted.asset.toLowerCase() !== requirements.asset.toLowerCase()) {
    return `invalid_asset: ${requirements.asset} is expected.`;
  }
  const price = BigInt(requirements.amount);
  if (accepted.amount !== requirements.amount || authorization.value !== price) {
    return `invalid_amount: exactly ${price} of the token's smallest unit is expected, got ${authorization.value}.`;
  }
  const payTo = requirements.payTo.toLowerCase();
  if (accepted.payTo.toLowerCase() !== payTo || authorization.to !== payTo) {
    return `invalid_recipient: ${requirements.payTo} is to be paid.`;
  }
  return (
    elsewhere(payload.resource?.url, expected.resourceUrl) ?? {
      payer: authorization.from,
      asset: requirements.asset.toLowerCase() as PresentedPayment["asset"],
      payTo: authorization.to,
      nonce: authorization.nonce,
      amount: authorization.value,
      validAfter: authorization.validAfter,
      validBefore: authorization.validBefore,
      payload: withoutQuery(payload),
      requirements,
    }
  );
}

/** Why the authorization cannot be carried out at that time; null when it can. */
export function untimely(
  { validAfter, validBefore }: Pick<PresentedPayment, "validAfter" | "validBefore">,
  now: Date,
): string | null {
  const seconds = BigInt(Math.floor(now.getTime() / 1000));
  if (validBefore > seconds + MOST_SECONDS) {
    return `invalid_valid_before: at most ${MOST_SECONDS} s ahead are taken, got ${validBefore - seconds}.`;
  }
  if (validBefore < seconds + LEAST_SECONDS) {
    return `payment_expired: the authorization ends at ${validBefore} and it is ${seconds}.`;
  }
  if (validAfter >= seconds) {
    return `payment_not_yet_valid: the authorization begins after ${validAfter} and it is ${seconds}.`;
  }
  return null;
}

/** The query of what is bought may hold secrets, such as a webhook's address, that neither a facilitator nor a row has to have. */
function withoutQuery(payload: PaymentPayload): PaymentPayload {
  const { resource } = payload;
  if (resource === undefined) return payload;
  return { ...payload, resource: { ...resource, url: resource.url.split(/[?#]/, 1)[0] ?? "" } };
}

function elsewhere(signedFor: string | undefined, asked: string): string | null {
  if (signedFor === undefined) return null;
  const isSame = URL.canParse(signedFor) && new URL(signedFor).href === new URL(asked).href;
  return isSame ? null : `resource_mismatch: the payment names another resource than ${asked}.`;
}
