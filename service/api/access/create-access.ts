import type { RepeatSlot } from "../../store/idempotent-answers.ts";
import { Problem, unauthorized } from "../problems.ts";
import type {
  Access,
  AnswerHeaders,
  BoughtAnswer,
  Caller,
  Charge,
  ChargeTerms,
  KeyCaller,
  PaidRequest,
  PayerCaller,
} from "./access.ts";
import { type Owner, ownerOf } from "./owner.ts";
import { UNCHARGED } from "./payment-charge.ts";
import { repeatSlotOf } from "./repeat-slot.ts";
import { usd } from "./usd.ts";

/** Callers with a key. */
export type KeyAccess = {
  /** Null when the request carries no key; throws the 401 of one that is no good. */
  identify(request: Pick<PaidRequest, "header">): Promise<KeyCaller | null>;
  /** Holds the price, to be kept together with the answer of the slot; a balance that does not reach is told by `shortage`. */
  take(
    caller: KeyCaller,
    request: PaidRequest,
    terms: ChargeTerms & { readonly slot: RepeatSlot | null },
  ): Promise<Charge | { readonly shortage: string }>;
};

/** Callers who pay by x402. */
export type PaymentAccess = {
  /** Null when the request carries no payment; throws a 400 for one that is malformed and a 402 for one that does not fit. */
  identify(request: PaidRequest): Promise<PayerCaller | null>;
  /** What the payment bought before, for whoever proves to be its payer; throws the 402 and 409 of one that is used or in use. */
  recall(caller: PayerCaller, request: PaidRequest): Promise<BoughtAnswer | null>;
  take(caller: PayerCaller, request: PaidRequest, terms: ChargeTerms): Promise<Charge>;
  /** The 402 that tells what the request costs, and why it was not served. */
  challenge(request: PaidRequest, error: string): Promise<Error>;
};

/** Whose calls are counted together: an owner's, or those by one subscription's manage token. */
export type Limited = Owner | { readonly kind: "subscription"; readonly id: string };

/** Counts calls against a rate. */
export type CallLimiter = {
  /** Answers what is left as headers; throws a 429. */
  take(limited: Limited, ratePerMinute: number): Promise<AnswerHeaders>;
};

/** Answers by Idempotency-Key. */
export type RepeatStore = {
  /** Null for the first request of a slot, which is under way from then on; throws the 409 and 422 of the draft. */
  begin(slot: RepeatSlot): Promise<BoughtAnswer | null>;
  /** Keeps what a payment bought. Never throws: the money has moved. */
  keep(slot: RepeatSlot, answer: BoughtAnswer): Promise<void>;
  /** Never throws. */
  forget(slot: RepeatSlot): Promise<void>;
};

export type AccessParts = {
  readonly keys: KeyAccess;
  /** Null where the deployment names no token to be paid in. */
  readonly payments: PaymentAccess | null;
  readonly limiter: CallLimiter;
  readonly repeats: RepeatStore;
  /** Calls a minute of a wallet that pays. */
  readonly payerRatePerMinute: number;
};

const NO_CREDENTIALS =
  "Send an API key in the X-API-Key header. The operator issues keys with `ahs keys create --name NAME`.";

const NO_PAYMENTS =
  "This deployment takes no payments. The operator issues keys with `ahs keys create --name NAME`.";

/** Access by API key, or by payment where the deployment takes payments; a key goes first. */
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
    async recall(caller, request) {
      const slot = repeatSlotOf(caller, request);
      const repeated = slot === null ? null : await repeats.begin(slot);
      if (repeated !== null) return repeated;
      if (caller.kind !== "payer" || payments === null) return null;
      try {
        const bought = await payments.recall(caller, request);
        if (bought !== null && slot !== null) await repeats.keep(slot, bought);
        return bought;
      } catch (error) {
        if (slot !== null) await repeats.forget(slot);
        throw error;
      }
    },
    async take(caller, request, terms) {
      return takeFrom(parts, { caller, request, terms });
    },
    async keepFree(caller, request, answer) {
      const slot = repeatSlotOf(caller, request);
      if (slot !== null) await repeats.keep(slot, answer);
    },
    async forget(caller, request) {
      const slot = repeatSlotOf(caller, request);
      if (slot !== null) await repeats.forget(slot);
    },
  };
}

type Taking = {
  readonly caller: Caller;
  readonly request: PaidRequest;
  readonly terms: ChargeTerms;
};

async function takeFrom(
  { keys, payments, repeats }: AccessParts,
  { caller, request, terms }: Taking,
): Promise<Charge> {
  const slot = repeatSlotOf(caller, request);
  switch (caller.kind) {
    case "key": {
      const charge = await keys.take(caller, request, { ...terms, slot });
      if (!("shortage" in charge)) return charge;
      if ((await terms.isThere?.()) === true) return UNCHARGED;
      if (payments === null) throw new Problem("balance-insufficient", charge.shortage);
      throw await payments.challenge(request, charge.shortage);
    }
    case "payer":
      if (payments === null) throw new Error("a payer without payments");
      return withRepeat(await payments.take(caller, request, terms), slot, repeats);
    case "nobody":
      if (payments === null) throw new Error("nobody without payments");
      throw await payments.challenge(request, `${request.endpoint} costs ${usd(request.units)} USD.`);
  }
}

/** The row of a payment keeps what it bought, together with the money; the slot answers repeats that bring another payment. */
function withRepeat(charge: Charge, slot: RepeatSlot | null, repeats: RepeatStore): Charge {
  if (slot === null) return charge;
  return {
    ...charge,
    async keep(answer) {
      const headers = await charge.keep(answer);
      await repeats.keep(slot, answer);
      return headers;
    },
  };
}
