import { setTimeout as sleep } from "node:timers/promises";
import { HTTPFacilitatorClient } from "@x402/core/http";
import { type PaymentPayload, SettleError, VerifyError } from "@x402/core/types";
import { isAddress, isHash } from "viem";
import { lowerCase } from "../../db/columns.ts";
import type { PresentedPayment } from "../access.ts";
import type { PaymentScheme, Settlers } from "../schemes/scheme.ts";
import {
  type Facilitator,
  publicReason,
  SETTLE_DEADLINE_MS,
  type SettleOutcome,
  type VerifyOutcome,
} from "./facilitator.ts";
import { authHeadersOf, type FacilitatorCredentials } from "./facilitator-credentials.ts";

const VERIFY_TIMEOUT_MS = 5_000;
const ATTEMPTS = 3;
const RETRY_MS = 150;
/** Codes of failed connections: the order did not arrive. */
const NOT_DELIVERED = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);
/** Reasons of the protocol that speak of the facilitator's own trouble. */
const UNEXPECTED = /^unexpected_/;
/** Reasons of the protocol and its EVM schemes that occur before anything is sent. */
const BEFORE_SENDING = new RegExp(
  `^(${[
    "insufficient_funds",
    "invalid_(scheme|network|payload|payment|payment_requirements|x402_version)",
    "unsupported_(scheme|payload_type)",
    "invalid_exact_evm_(?!transaction_failed|transfer_event_mismatch|nonce_already_used)\\w+",
    "invalid_upto_evm_(?!transaction_failed)\\w+",
    "upto_facilitator_mismatch",
    "invalid_permit2_(signature|spender|recipient_mismatch)",
    "permit2_(deadline_expired|not_yet_valid|(amount|token)_mismatch|allowance_required|insufficient_balance|proxy_not_deployed)",
  ].join("|")})$`,
);

/**
 * A facilitator behind a URL. Verification is tried up to three times. A settle order is repeated only if it surely did
 * not arrive. A lost or pending answer is `unknown`.
 */
export function createHttpFacilitator(options: {
  readonly url: string;
  /** Null for a facilitator that asks for none. */
  readonly credentials: FacilitatorCredentials | null;
  readonly now: () => Date;
  readonly verifyTimeoutMs?: number;
  readonly settleTimeoutMs?: number;
  /** Pause before the first retry; it doubles. */
  readonly retryMs?: number;
}): Facilitator {
  const { retryMs = RETRY_MS } = options;
  const verifier = clientOf({ ...options, timeoutMs: options.verifyTimeoutMs ?? VERIFY_TIMEOUT_MS });
  const settler = clientOf({ ...options, timeoutMs: options.settleTimeoutMs ?? SETTLE_DEADLINE_MS });
  return {
    verify: (payment) =>
      attempts(
        () => verifyOnce(verifier, payment),
        (outcome) => outcome.kind === "unavailable",
        retryMs,
      ),
    settle: (payment) =>
      attempts(
        () => settleOnce(settler, payment),
        (outcome) => outcome.kind === "unavailable",
        retryMs,
      ),
  };
}

/** A facilitator and the longest wait for its answer. */
export type Asked = Pick<Parameters<typeof createHttpFacilitator>[0], "url" | "credentials" | "now"> & {
  readonly timeoutMs: number;
};

function clientOf({ url, credentials, now, timeoutMs }: Asked): HTTPFacilitatorClient {
  const auth = credentials === null ? {} : { createAuthHeaders: authHeadersOf(credentials, { url, now }) };
  return new HTTPFacilitatorClient({ url, timeoutMs, ...auth });
}

async function attempts<Outcome>(
  act: () => Promise<Outcome>,
  isWorthRetry: (outcome: Outcome) => boolean,
  retryMs: number,
): Promise<Outcome> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await act();
    if (attempt === ATTEMPTS || !isWorthRetry(outcome)) return outcome;
    await sleep(retryMs * 2 ** (attempt - 1));
  }
}

async function verifyOnce(client: HTTPFacilitatorClient, payment: PresentedPayment): Promise<VerifyOutcome> {
  try {
    const { isValid, invalidReason } = await client.verify(listedPayload(payment), payment.requirements);
    return isValid ? { kind: "valid" } : invalid(invalidReason);
  } catch (error) {
    const isJudged = error instanceof VerifyError && !isTrouble(error.statusCode) && !isUnauthorized(error);
    return isJudged ? invalid(error.invalidReason) : { kind: "unavailable", cause: error };
  }
}

function invalid(reason: string | undefined): VerifyOutcome {
  return reason !== undefined && UNEXPECTED.test(reason)
    ? { kind: "unavailable", cause: new Error(`the facilitator says ${reason}`) }
    : { kind: "invalid", reason: publicReason(reason, "payment_invalid") };
}

/** A status of the facilitator's own trouble: its answer says nothing of the payment. */
function isTrouble(status: number): boolean {
  return status >= 500 || status === 408 || status === 429;
}

async function settleOnce(client: HTTPFacilitatorClient, payment: PresentedPayment): Promise<SettleOutcome> {
  try {
    const { success, transaction, errorReason } = await client.settle(
      listedPayload(payment),
      payment.requirements,
    );
    if (success) {
      return isHash(transaction)
        ? { kind: "settled", transaction: lowerCase(transaction) }
        : { kind: "unknown", cause: new Error("settled, says the facilitator, but names no transaction") };
    }
    return failed(transaction, errorReason);
  } catch (error) {
    if (isUnauthorized(error)) return { kind: "unavailable", cause: error };
    if (error instanceof SettleError && !isTrouble(error.statusCode))
      return failed(error.transaction, error.errorReason);
    return { kind: wasDelivered(error) ? "unknown" : "unavailable", cause: error };
  }
}

/** The payload with our own description of the resource, whatever the client says about it. */
function listedPayload({ payload, listed }: PresentedPayment): PaymentPayload {
  if (listed === undefined) return payload;
  const { resource, extensions } = listed;
  return { ...payload, resource, extensions: { ...payload.extensions, ...extensions } };
}

/** With a transaction, or a reason that can follow one, the order may have been sent: only the chain can show it. */
function failed(transaction: string, reason: string | undefined): SettleOutcome {
  if (transaction !== "" || reason === undefined || !BEFORE_SENDING.test(reason)) {
    return { kind: "unknown", cause: new Error(`the facilitator says ${reason ?? "nothing"}`) };
  }
  return { kind: "refused", reason: publicReason(reason, "settlement_refused") };
}

function wasDelivered(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    const code: unknown = Reflect.get(current, "code");
    if (typeof code === "string" && NOT_DELIVERED.has(code)) return false;
  }
  return true;
}

/**
 * Returns whether a facilitator refused this service itself, before it read the request. The official client has the status
 * in its text alone, unless the answer is a settlement.
 */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof SettleError || error instanceof VerifyError) return error.statusCode === 401;
  return error instanceof Error && /^Facilitator \w+ failed \(40[13]\)/.test(error.message);
}

/** Asks a facilitator which schemes it settles on a CAIP-2 network. Throws its client's errors. */
export async function readSettlers(
  asked: Asked,
  { network, schemes }: { readonly network: string; readonly schemes: readonly PaymentScheme[] },
): Promise<Settlers> {
  const { kinds, extensions = [] } = await clientOf(asked).getSupported();
  const known = kinds.filter((kind) => kind.x402Version === 2 && kind.network === network);
  const settled = schemes.flatMap(({ name, protocol, isSettledBy }) => {
    const kind = known.find(({ scheme }) => scheme === protocol);
    if (kind === undefined || isSettledBy?.(kind, extensions) !== true) return [];
    const address = kind.extra?.facilitatorAddress;
    const settler = typeof address === "string" && isAddress(address, { strict: false }) ? address : null;
    return [[name, settler] as const];
  });
  return new Map(settled);
}
