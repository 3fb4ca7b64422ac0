import {
  type Access,
  type BoughtAnswer,
  type Caller,
  type Charge,
  type ChargeTerms,
  type KeyAccess,
  ownerOf,
  type PaidRequest,
  type PayerCaller,
  type PayingCaller,
  type RepeatSlot,
  shortageOf,
  UNCHARGED,
  usd,
} from "./access.ts";
import { type RepeatStore, repeatSlotOf, repeatSlotsOf } from "./idempotent-answers.ts";
import { Problem, unauthorized } from "./problems.ts";
import type { CallLimiter } from "./rate-limits.ts";

/** Access for callers who pay by x402. */
export type PaymentAccess = {
  /** Returns null if the request carries no payment. Throws a 400 for a malformed one and a 402 for one that does not match. */
  identify(request: PaidRequest): Promise<PayerCaller | null>;
  /**
   * Returns what the payment bought before, if the caller proves to be its payer. Throws the 402 or 409 of a payment
   * that is used or in use.
   */
  recall(caller: PayerCaller, request: PaidRequest): Promise<BoughtAnswer | null>;
  /** Throws the 402 or 503 of an invalid payment. A payment that was used before is not verified again. */
  verify(caller: PayerCaller, request: PaidRequest): Promise<void>;
  /** Expects a payment that was verified for this request. */
  take(caller: PayerCaller, request: PaidRequest, terms: ChargeTerms): Promise<Charge>;
  /** The 402 with the price and the reason of the refusal. */
  challenge(request: PaidRequest, error: string): Promise<Error>;
};

export type AccessParts = {
  readonly keys: KeyAccess;
  /** Null where the deployment names no token to be paid in. */
  readonly payments: PaymentAccess | null;
  readonly limiter: CallLimiter;
  readonly repeats: RepeatStore;
  /** Calls per minute of a paying wallet. */
  readonly payerRatePerMinute: number;
};

const NO_CREDENTIALS =
  "Send an API key in the X-API-Key header. The operator issues keys with `ahs keys create --name NAME`.";

const NO_PAYMENTS =
  "This deployment takes no payments. The operator issues keys with `ahs keys create --name NAME`.";

/** Access by API key, or by payment if the deployment takes payments. A key goes first. */
export function createAccess(parts: AccessParts): Access {
  const { keys, payments, limiter, repeats } = parts;
  return {
    async identify(request) {
      const key = request.paidBy === "payment" ? null : await keys.identify(request);
      if (key !== null) return key;
      if (payments === null)
        throw unauthorized("key-missing", request.paidBy === "payment" ? NO_PAYMENTS : NO_CREDENTIALS);
      return (await payments.identify(request)) ?? { kind: "nobody" };
    },
    async limit(caller) {
      const owner = ownerOf(caller);
      if (owner === null) return {};
      return limiter.take(owner, caller.kind === "key" ? caller.ratePerMinute : parts.payerRatePerMinute);
    },
    recall: (caller, request) => recallFrom(parts, caller, request),
    async prove(caller, request) {
      switch (caller.kind) {
        case "key":
          if (caller.balanceUnits === null || caller.balanceUnits >= request.units) return caller;
          throw await shortage(payments, request, shortageOf(request, caller.balanceUnits));
        case "payer":
          await paymentsOf(payments).verify(caller, request);
          return caller;
        case "nobody":
          throw await paymentsOf(payments).challenge(
            request,
            `${request.endpoint} costs ${usd(request.units)} USD.`,
          );
      }
    },
    async take(caller, request, terms) {
      return takeFrom(parts, { caller, request, terms });
    },
    async keepFree(caller, request, answer) {
      const slots = repeatSlotsOf(caller, request);
      // A payer can repeat it for free anyway; wallets without money must not fill the table.
      const end = caller.kind === "key" ? (slot: RepeatSlot) => repeats.keep(slot, answer) : repeats.forget;
      await Promise.all(slots.map(end));
    },
    async forget(caller, request) {
      await Promise.all(repeatSlotsOf(caller, request).map(repeats.forget));
    },
  };
}

/**
 * The payment's row goes before the slot, since it reports the settlement as well. If reading the row fails, the slot's
 * answer is used.
 */
async function recallFrom(
  { payments, repeats }: AccessParts,
  caller: Caller,
  request: PaidRequest,
): Promise<BoughtAnswer | null> {
  const begun: RepeatSlot[] = [];
  let kept: BoughtAnswer | null = null;
  try {
    for (const slot of repeatSlotsOf(caller, request)) {
      const repeated = await repeats.begin(slot);
      if (repeated === null) begun.push(slot);
      kept ??= repeated;
    }
    const bought = await recallPayment(payments, caller, request).catch((error: unknown) => {
      if (kept === null) throw error;
      return null;
    });
    const answer = bought ?? kept;
    if (answer !== null) await Promise.all(begun.map((slot) => repeats.keep(slot, answer)));
    return answer;
  } catch (error) {
    await Promise.all(begun.map(repeats.forget));
    throw error;
  }
}

async function recallPayment(
  payments: PaymentAccess | null,
  caller: Caller,
  request: PaidRequest,
): Promise<BoughtAnswer | null> {
  return caller.kind === "payer" && payments !== null ? payments.recall(caller, request) : null;
}

async function takeFrom(
  { keys, payments, repeats }: AccessParts,
  {
    caller,
    request,
    terms,
  }: {
    readonly caller: PayingCaller;
    readonly request: PaidRequest;
    readonly terms: ChargeTerms;
  },
): Promise<Charge> {
  switch (caller.kind) {
    case "key": {
      const slot = repeatSlotOf(caller, request);
      const charge = await keys.take(caller, request, { ...terms, slot });
      if (!("shortage" in charge)) return charge;
      if ((await terms.isThere?.()) === true) return UNCHARGED;
      throw await shortage(payments, request, charge.shortage);
    }
    case "payer":
      return withRepeats(
        await paymentsOf(payments).take(caller, request, terms),
        repeatSlotsOf(caller, request),
        repeats,
      );
  }
}

/** The 402 of a key whose balance is too low. */
async function shortage(
  payments: PaymentAccess | null,
  request: PaidRequest,
  reason: string,
): Promise<Error> {
  return payments === null
    ? new Problem("balance-insufficient", reason)
    : payments.challenge(request, reason);
}

/** Without payments, `identify` has already refused every caller without a key. */
function paymentsOf(payments: PaymentAccess | null): PaymentAccess {
  if (payments === null) throw new Error("a caller without a key was let through, and no payments are taken");
  return payments;
}

/** The payment's row stores the answer together with the money. The slots answer repeats that carry another payment. */
function withRepeats(charge: Charge, slots: readonly RepeatSlot[], repeats: RepeatStore): Charge {
  return {
    ...charge,
    async keep(answer) {
      const headers = await charge.keep(answer);
      await Promise.all(slots.map((slot) => repeats.keep(slot, answer)));
      return headers;
    },
  };
}
