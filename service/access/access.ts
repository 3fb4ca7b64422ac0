import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { HonoRequest } from "hono";
import type { Address, Hex } from "viem";

/** The charge of what costs nothing after all. */
export const UNCHARGED: Charge = {
  async keep() {
    return {};
  },
  async giveBack() {
    return null;
  },
};

/** One use of an Idempotency-Key, or of a payment identifier, by one caller. */
export type RepeatSlot = {
  /** key:ID or wallet:ADDRESS; payment-identifier:ADDRESS. */
  readonly scope: string;
  /** Lower-case hex SHA-256 of the Idempotency-Key or the identifier. */
  readonly keyHash: string;
  /** Lower-case hex SHA-256 of the parsed request. */
  readonly fingerprint: string;
};

/** Why a balance does not cover a price. */
export function shortageOf(
  { endpoint, units }: Pick<PaidRequest, "endpoint" | "units">,
  balanceUnits: number,
): string {
  return `${endpoint} costs ${usd(units)} USD and the balance of this key is ${usd(balanceUnits)} USD.`;
}

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

/** Someone who proved an API key. */
export type KeyCaller = {
  readonly kind: "key";
  readonly keyId: string;
  /** Thousandths of a US dollar when the key was read; null is unlimited. */
  readonly balanceUnits: number | null;
  readonly ratePerMinute: number;
};

/** Someone who signed the payment that the request carries. */
export type PayerCaller = {
  readonly kind: "payer";
  /** Lower-case. */
  readonly address: Address;
  readonly payment: PresentedPayment;
};

/** Who makes a priced call; nobody has neither key nor payment, and is told the price. */
export type Caller = PayingCaller | { readonly kind: "nobody" };

/** Someone with a key or a payment: once `prove` has returned it, one whose balance or payment covers the price. */
export type PayingCaller = KeyCaller | PayerCaller;

/** Answer headers, lower-case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** A priced request as access sees it. */
export type PaidRequest = {
  header(name: string): string | undefined;
  /** Method and path template, as a debit's row names it: "GET /ahs/{address}". */
  readonly endpoint: string;
  /** Path and query as they were sent. */
  readonly resource: string;
  /** Price in thousandths of a US dollar. */
  readonly units: number;
  /** What it buys, in a sentence. */
  readonly summary: string;
  /** payment: a key is no way to pay it; it may stand beside the payment. */
  readonly paidBy: "anyone" | "payment";
  /** Lower-case hex SHA-256 of endpoint and parsed input: equal for requests that ask for the same. */
  fingerprint(): string;
  /** Fires when the client is gone, and when the server stops. */
  readonly signal: AbortSignal;
};

/** What a priced request was answered with; always a 200. */
export type BoughtAnswer = {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Of a repeat: what the first answer reported of its settlement. */
  readonly headers?: AnswerHeaders;
};

/** before: the money moves before the work, and what then fails is owed. after: the answer waits for the money. */
export type Settlement = "before" | "after";

/** What holds a price: the debit of a metered key, or a payment; neither for an unlimited key. */
export type Hold = { readonly debitId: string | null; readonly paymentId: string | null };

/** How a price is taken. */
export type ChargeTerms = {
  readonly settlement: Settlement;
  /**
   * Notes what is bought, once its price is held and a payment verified, and before any money moves. False: it is there already,
   * so that the price goes back and the charge is of nothing. What it throws gives the price back as well.
   */
  readonly accept?: (hold: Hold) => Promise<boolean>;
  /**
   * Whether what is to be bought is there by now, asked where a balance does not reach: others may have bought it meanwhile. True
   * makes the charge one of nothing.
   */
  readonly isThere?: () => Promise<boolean>;
};

/** A price taken for the work; exactly one of the two ends it. */
export type Charge = {
  /** The debit of a metered key: work whose effect outlasts its answer keeps it in the transaction of that effect. */
  readonly debitId?: string;
  /**
   * The work succeeded: the price is kept together with the answer, as repeats are to get it; answers headers to add. Throws
   * when it cannot be kept: then the answer is withheld.
   */
  keep(answer: BoughtAnswer): Promise<AnswerHeaders>;
  /** The work failed: the price goes back. Where the money has moved, answers the claim by which the work can be asked for again. Never throws. */
  giveBack(): Promise<string | null>;
  /** What to answer where the client or the server ended the request and the price went back; absent where the failure says it. */
  cancelled?(): Promise<Error>;
};

/** How priced endpoints know, limit and charge their callers. */
export type Access = {
  /** Throws the 400, 401 and 402 of credentials that are no good. */
  identify(request: PaidRequest): Promise<Caller>;
  /** Counts the call against the caller's rate, and answers what is left of it as headers; throws a 429. */
  limit(caller: Caller): Promise<AnswerHeaders>;
  /**
   * What the same request of the same caller was answered before, by its Idempotency-Key or a proof of its payment; null for
   * the first one, which is then under way until it is kept or forgotten. Throws the 402, 409 and 422 of requests that are
   * no repeat of it.
   */
  recall(caller: Caller, request: PaidRequest): Promise<BoughtAnswer | null>;
  /**
   * The caller whose balance covers the price, or whose payment the facilitator verified; nothing is taken yet. Throws the 402 of
   * every other caller, so that costly work is done for none of them.
   */
  prove(caller: Caller, request: PaidRequest): Promise<PayingCaller>;
  /** Takes the price, or holds it until the answer is there; throws the 402 and 409 of those who cannot pay. */
  take(caller: PayingCaller, request: PaidRequest, terms: ChargeTerms): Promise<Charge>;
  /** Keeps an answer that costs nothing for repeats of the request under its Idempotency-Key. Never throws. */
  keepFree(caller: Caller, request: PaidRequest, answer: BoughtAnswer): Promise<void>;
  /** A request that recall let through ended without an answer. Never throws. */
  forget(caller: Caller, request: PaidRequest): Promise<void>;
};

/** An EIP-3009 authorization that a request carries, read and found to fit what the request costs. */
export type PresentedPayment = {
  /** Lower-case, as is payTo. */
  readonly payer: Address;
  readonly asset: Address;
  readonly payTo: Address;
  readonly nonce: Hex;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** As x402 facilitators take them. */
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
};

/** Whose something is: policies, subscriptions and stored answers belong to a key or to a wallet. */
export type Owner =
  | { readonly kind: "key"; readonly keyId: string }
  /** Lower-case. */
  | { readonly kind: "wallet"; readonly address: Address };

/** How free endpoints learn whose policy or subscription is meant. */
export type OwnerAccess = {
  /** By X-API-Key, else by SIGN-IN-WITH-X; throws a 401 when the request proves nobody, and a 429 beyond the owner's rate. */
  identify(request: HonoRequest): Promise<Owner>;
};

/** The form in which rows name their owner: key:ID or wallet:ADDRESS. */
export function ownerText(owner: Owner): string {
  switch (owner.kind) {
    case "key":
      return `key:${owner.keyId}`;
    case "wallet":
      return `wallet:${owner.address}`;
  }
}

/** Whose a paid call's things are; null for a caller who has not proven anything. */
export function ownerOf(caller: PayingCaller): Owner;
export function ownerOf(caller: Caller): Owner | null;
export function ownerOf(caller: Caller): Owner | null {
  switch (caller.kind) {
    case "key":
      return { kind: "key", keyId: caller.keyId };
    case "payer":
      return { kind: "wallet", address: caller.address };
    case "nobody":
      return null;
  }
}

/** Paid work that failed after the money had moved: whoever shows the claim may ask for it again without paying. */
export class OwedAnswer extends Error {
  override readonly name = "OwedAnswer";
  /** 32 random bytes in hexadecimal. */
  readonly claim: string;

  constructor(claim: string, cause: unknown) {
    super("paid work failed after its settlement", { cause });
    this.claim = claim;
  }
}

/** A price in thousandths of a US dollar as texts show it: always three decimals. */
export function usd(units: number): string {
  return (units / 1000).toFixed(3);
}
