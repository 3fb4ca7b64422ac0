import {
  type Access,
  type AnswerHeaders,
  type BoughtAnswer,
  type Caller,
  type Charge,
  type ChargeTerms,
  ownerOf,
  type PaidRequest,
  type PayingCaller,
  priceText,
  type RepeatSlot,
  shortageOf,
  UNCHARGED,
} from "./access.ts";
import type { KeyAccess } from "./api-key-access.ts";
import { type RepeatStore, repeatSlotOf, repeatSlotsOf } from "./idempotent-answers.ts";
import type { PaymentAccess } from "./payments/payment-access.ts";
import { Problem, unauthorized } from "./problems.ts";
import type { CallLimiter } from "./rate-limits.ts";
import { type SpendingLimits, spendingLimitOf } from "./spending-limits.ts";

const NO_CREDENTIALS =
  "Send an API key in the X-API-Key header. The operator issues keys with `ahs keys create --name NAME`.";

const WAYS_TO_PAY =
  "Send an API key in X-API-Key (sold at /account and by POST /keys), or pay this call over x402 by the terms of this answer.";

const WAYS_TO_ADD =
  "Add credits with POST /keys/topup or at /account, or pay this call over x402 by the terms of this answer, without the key.";

const ASK_FOR_CREDITS = "Ask the operator for more credits.";

const NO_PAYMENTS =
  "This deployment takes no payments. The operator issues keys with `ahs keys create --name NAME`.";

/**
 * How priced endpoints know, limit and charge their callers: by API key, or by payment if the deployment takes payments. A key goes
 * first.
 */
export function createAccess(parts: {
  readonly keys: KeyAccess;
  /** Null where the deployment names no token to be paid in. */
  readonly payments: PaymentAccess | null;
  readonly limiter: CallLimiter;
  readonly repeats: RepeatStore;
  readonly spending: SpendingLimits;
  /** Calls per minute of a paying wallet. */
  readonly payerRatePerMinute: number;
}): Access {
  const { keys, payments, limiter, repeats, spending } = parts;
  const isOwed = (caller: PayingCaller, request: PaidRequest): boolean =>
    caller.kind === "payer" && paymentsOf(payments).isOwed(request);
  return {
    async identify(request: PaidRequest): Promise<Caller> {
      spendingLimitOf(request);
      const key = request.paidBy === "payment" ? null : await keys.identify(request);
      if (key !== null) return key;
      if (payments === null)
        throw unauthorized("key-missing", request.paidBy === "payment" ? NO_PAYMENTS : NO_CREDENTIALS);
      return (await payments.identify(request)) ?? { kind: "nobody" };
    },
    async limit(caller: Caller): Promise<AnswerHeaders> {
      const owner = ownerOf(caller);
      if (owner === null) return {};
      return limiter.take(owner, caller.kind === "key" ? caller.ratePerMinute : parts.payerRatePerMinute);
    },
    recall: (caller: Caller, request: PaidRequest) => recallFrom(parts, caller, request),
    async prove(caller: Caller, request: PaidRequest): Promise<PayingCaller> {
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
            `${request.endpoint} costs ${priceText(request.units)} USD. ${request.paidBy === "payment" ? "Pay it over x402 by the terms of this answer." : WAYS_TO_PAY}`,
          );
      }
    },
    isOwed,
    async take(caller: PayingCaller, request: PaidRequest, terms: ChargeTerms): Promise<Charge> {
      const isUnlimited = caller.kind === "key" && caller.balanceUnits === null;
      const take = () => takePrice(parts, caller, { request, terms });
      if (isUnlimited || isOwed(caller, request)) return take();
      return spending.within(ownerOf(caller), request, take);
    },
    async keepFree(caller: Caller, request: PaidRequest, answer: BoughtAnswer): Promise<BoughtAnswer> {
      const slots = repeatSlotsOf(caller, request);
      // A payer can repeat it for free anyway; wallets without money must not fill the table.
      const end = caller.kind === "key" ? (slot: RepeatSlot) => repeats.keep(slot, answer) : repeats.forget;
      await Promise.all(slots.map(end));
      return { ...answer, headers: (await payments?.report(request)) ?? {} };
    },
    async forget(caller: Caller, request: PaidRequest): Promise<void> {
      await Promise.all(repeatSlotsOf(caller, request).map(repeats.forget));
    },
  };
}

/**
 * The payment's row goes before the slot, since it reports the settlement as well. If reading the row fails, the slot's
 * answer is used. A request that died leaves its slots under way, and its payment owed or answered.
 */
async function recallFrom(
  { payments, repeats }: { readonly payments: PaymentAccess | null; readonly repeats: RepeatStore },
  caller: Caller,
  request: PaidRequest,
): Promise<BoughtAnswer | null> {
  const begun: RepeatSlot[] = [];
  let stored: BoughtAnswer | null = null;
  try {
    for (const slot of repeatSlotsOf(caller, request)) {
      if (payments?.hasEnded(request) === true) await repeats.forget(slot);
      const repeated = await repeats.begin(slot);
      if (repeated === null) begun.push(slot);
      stored ??= repeated;
    }
    const recalling = caller.kind === "payer" ? payments?.recall(caller, request) : null;
    const bought = await recalling?.catch((error: unknown) => {
      if (stored === null) throw error;
      return null;
    });
    const answer = bought ?? stored;
    if (answer !== null) await Promise.all(begun.map((slot) => repeats.keep(slot, answer)));
    return answer;
  } catch (error) {
    await Promise.all(begun.map(repeats.forget));
    throw error;
  }
}

async function takePrice(
  {
    keys,
    payments,
    repeats,
  }: {
    readonly keys: KeyAccess;
    readonly payments: PaymentAccess | null;
    readonly repeats: RepeatStore;
  },
  caller: PayingCaller,
  { request, terms }: { readonly request: PaidRequest; readonly terms: ChargeTerms },
): Promise<Charge> {
  if (caller.kind === "payer") {
    const charge = await paymentsOf(payments).take(caller, request, terms);
    return charge === UNCHARGED ? charge : withRepeats(charge, repeatSlotsOf(caller, request), repeats);
  }
  const charge = await keys.take(caller, request, { ...terms, slot: repeatSlotOf(caller, request) });
  if (!("shortage" in charge)) return charge;
  if ((await terms.isThere?.()) === true) return UNCHARGED;
  throw await shortage(payments, request, charge.shortage);
}

/** The 402 of a key whose balance is too low. */
async function shortage(
  payments: PaymentAccess | null,
  request: PaidRequest,
  reason: string,
): Promise<Error> {
  return payments === null
    ? new Problem("balance-insufficient", `${reason} ${ASK_FOR_CREDITS}`)
    : payments.challenge(request, `${reason} ${WAYS_TO_ADD}`);
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
    async keep(answer, meteredUnits) {
      const headers = await charge.keep(answer, meteredUnits);
      await Promise.all(slots.map((slot) => repeats.keep(slot, answer)));
      return headers;
    },
  };
}
