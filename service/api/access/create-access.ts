import { Problem, unauthorized } from "../problems.ts";
import type {
  Access,
  AnswerHeaders,
  BoughtAnswer,
  Caller,
  Charge,
  KeyCaller,
  PaidRequest,
  PayerCaller,
  Settlement,
} from "./access.ts";
import { type Owner, ownerOf, ownerText } from "./owner.ts";
import { usd } from "./usd.ts";

/** Callers with a key. */
export type KeyAccess = {
  /** Null when the request carries no key; throws the 401 of one that is no good. */
  identify(request: PaidRequest): Promise<KeyCaller | null>;
  /** Holds the price; null when the balance does not reach, told by `shortage`. */
  take(caller: KeyCaller, request: PaidRequest): Promise<Charge | { readonly shortage: string }>;
};

/** Callers who pay by x402. */
export type PaymentAccess = {
  /** Null when the request carries no payment; throws a 400 for one that is malformed and a 402 for one that does not fit. */
  identify(request: PaidRequest): Promise<PayerCaller | null>;
  /** What the payment bought before, for whoever proves to be its payer; throws the 402 and 409 of one that is used or in use. */
  recall(caller: PayerCaller, request: PaidRequest): Promise<BoughtAnswer | null>;
  take(caller: PayerCaller, request: PaidRequest, settlement: Settlement): Promise<Charge>;
  /** The 402 that tells what the request costs, and why it was not served. */
  challenge(request: PaidRequest, error: string): Promise<Error>;
};

/** Counts calls against a rate. */
export type CallLimiter = {
  /** Answers what is left as headers; throws a 429. */
  take(owner: Owner, ratePerMinute: number): Promise<AnswerHeaders>;
};

/** Answers by Idempotency-Key; requests without one pass. */
export type RepeatStore = {
  /** Null for the first request under its key; throws the 400, 409 and 422 of the draft. */
  begin(owner: string, request: PaidRequest): Promise<BoughtAnswer | null>;
  keep(owner: string, request: PaidRequest, answer: BoughtAnswer): Promise<void>;
  /** Never throws. */
  forget(owner: string, request: PaidRequest): Promise<void>;
};

export type AccessParts = {
  readonly keys: KeyAccess;
  /** Null where the deployment names no token to be paid in. */
  readonly payments: PaymentAccess | null;
  readonly limiter: CallLimiter | null;
  readonly repeats: RepeatStore | null;
  /** Calls a minute of a wallet that pays. */
  readonly payerRatePerMinute: number;
};

const NO_CREDENTIALS =
  "Send an API key in the X-API-Key header. The operator issues keys with `ahs keys create --name NAME`.";

/** Access by API key, or by payment where the deployment takes payments; a key goes first. */
export function createAccess(parts: AccessParts): Access {
  const { keys, payments, limiter, repeats } = parts;
  return {
    async identify(request) {
      const key = request.paidBy === "payment" ? null : await keys.identify(request);
      if (key !== null) return key;
      if (payments === null) throw unauthorized("key-missing", NO_CREDENTIALS);
      return (await payments.identify(request)) ?? { kind: "nobody" };
    },
    async limit(caller) {
      const owner = ownerOf(caller);
      if (owner === null || limiter === null) return {};
      return limiter.take(owner, caller.kind === "key" ? caller.ratePerMinute : parts.payerRatePerMinute);
    },
    async recall(caller, request) {
      const scope = scopeOf(caller);
      if (scope === null) return null;
      const repeated = await repeats?.begin(scope, request);
      if (repeated) return repeated;
      if (caller.kind !== "payer" || payments === null) return null;
      try {
        return await payments.recall(caller, request);
      } catch (error) {
        await repeats?.forget(scope, request);
        throw error;
      }
    },
    async take(caller, request, settlement) {
      return withRepeat(await takeFrom(parts, { caller, request, settlement }), caller, request, repeats);
    },
    async forget(caller, request) {
      const scope = scopeOf(caller);
      if (scope !== null) await repeats?.forget(scope, request);
    },
  };
}

type Taking = {
  readonly caller: Caller;
  readonly request: PaidRequest;
  readonly settlement: Settlement;
};

async function takeFrom(
  { keys, payments }: AccessParts,
  { caller, request, settlement }: Taking,
): Promise<Charge> {
  switch (caller.kind) {
    case "key": {
      const charge = await keys.take(caller, request);
      if (!("shortage" in charge)) return charge;
      if (payments === null) throw new Problem("balance-insufficient", charge.shortage);
      throw await payments.challenge(request, charge.shortage);
    }
    case "payer":
      if (payments === null) throw new Error("a payer without payments");
      return payments.take(caller, request, settlement);
    case "nobody":
      if (payments === null) throw new Error("nobody without payments");
      throw await payments.challenge(request, `${request.endpoint} costs ${usd(request.units)} USD.`);
  }
}

function withRepeat(
  charge: Charge,
  caller: Caller,
  request: PaidRequest,
  repeats: RepeatStore | null,
): Charge {
  const scope = scopeOf(caller);
  if (scope === null || repeats === null) return charge;
  return {
    async keep(answer) {
      const headers = await charge.keep(answer);
      await repeats.keep(scope, request, answer);
      return headers;
    },
    giveBack: charge.giveBack,
  };
}

function scopeOf(caller: Caller): string | null {
  const owner = ownerOf(caller);
  return owner === null ? null : ownerText(owner);
}
