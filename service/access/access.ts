import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import type { Address, Hex } from "viem";

/** A charge of nothing. */
export const UNCHARGED: Charge = {
  async keep() {
    return {};
  },
  async giveBack() {
    return null;
  },
};

/** One use of an Idempotency-Key or payment identifier by one caller. */
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
  return `${endpoint} costs ${priceText(units)} USD and the balance of this key is ${priceText(balanceUnits)} USD.`;
}

/** A caller who proved an API key. */
export type KeyCaller = {
  readonly kind: "key";
  readonly keyId: string;
  /** Thousandths of a US dollar when the key was read; null is unlimited. */
  readonly balanceUnits: number | null;
  readonly ratePerMinute: number;
};

/** A caller who signed the payment in the request. */
export type PayerCaller = {
  readonly kind: "payer";
  /** Lower-case. */
  readonly address: Address;
  readonly payment: PresentedPayment;
};

/** The caller of a priced endpoint. The last kind has neither key nor payment and gets the price. */
export type Caller = PayingCaller | { readonly kind: "nobody" };

/** A caller with a key or a payment. After `prove`, the balance or payment covers the price. */
export type PayingCaller = KeyCaller | PayerCaller;

/** Answer headers, lower-case. */
export type AnswerHeaders = Readonly<Record<string, string>>;

/** The headers that report a charge, in US dollars, and the balance of a key after it; null is unlimited. */
export function chargeHeaders(chargedUnits: number, balanceUnits?: number | null): AnswerHeaders {
  const charged = { "x-charged-usd": usd(chargedUnits) };
  if (balanceUnits === undefined) return charged;
  return { ...charged, "x-balance-usd": balanceUnits === null ? "unlimited" : usd(balanceUnits) };
}

/** The headers of a request, as its identification reads them. */
export type CallerRequest = Pick<PaidRequest, "header" | "onKey">;

/** A priced request as access sees it. */
export type PaidRequest = {
  header(name: string): string | undefined;
  /** Called with a valid key before its rate is counted, so that refusals report its balance as well. */
  onKey?(key: KeyCaller): void;
  /** Method and path template, as a debit's row names it: "GET /ahs/{address}". */
  readonly endpoint: string;
  /** Path and query as they were sent. */
  readonly resource: string;
  /** Price in thousandths of a US dollar. */
  readonly units: number;
  /** Whether the answer decides what a metered payment is charged; its price is then the most. */
  readonly isMetered: boolean;
  /** Whether a payment is taken that an escrow holds: captured or voided by what becomes of the purchase. */
  readonly isCaptured: boolean;
  /** Whether the first answer shows a secret that repeats do not. */
  readonly showsSecret: boolean;
  /** One sentence about the product. */
  readonly summary: string;
  /** Absent for a resource that is in no catalog. */
  readonly listing?: Listing;
  /** payment: only a payment is accepted; a key may accompany it. */
  readonly paidBy: "anyone" | "payment";
  /** Lower-case hex SHA-256 of endpoint and parsed input. Equal requests have equal fingerprints. */
  fingerprint(): string;
  /** Aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
};

/** The members of a request that decide its entries of `accepts`. */
export type Priced = Pick<PaidRequest, "units" | "isMetered" | "isCaptured">;

/** The description of an endpoint for catalogs of x402 resources. */
export type Listing = {
  readonly serviceName: string;
  readonly tags: readonly string[];
  /** The declaration of the extension `bazaar`. Its examples are accepted by its schema. */
  readonly bazaar: {
    /** The path with its parameters after colons. */
    readonly routeTemplate: string;
    readonly info: { readonly input: Readonly<Record<string, unknown>>; readonly output?: object };
    readonly schema: object;
  };
};

/** The answer of a priced request; always a 200. */
export type BoughtAnswer = {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  /** Only of a payment that was settled by an earlier request: its report. */
  readonly headers?: AnswerHeaders;
};

/** before: the money moves before the work; failed work is then owed. after: the answer waits for the money. */
export type Settlement = "before" | "after";

/** How a price is taken. */
export type ChargeTerms = {
  readonly settlement: Settlement;
  /**
   * Stores what is bought. Runs after the price is reserved and the payment verified, before any money moves. False: it
   * exists already, so the price is released and the charge is nothing. An error releases the price as well. The reservation is a
   * debit of a metered key, or a payment; an unlimited key has neither.
   */
  readonly accept?: (hold: {
    readonly debitId: string | null;
    readonly paymentId: string | null;
  }) => Promise<boolean>;
  /**
   * Returns true if another caller has bought the same thing already; the charge is then nothing. Called only if the
   * balance is too low.
   */
  readonly isThere?: () => Promise<boolean>;
};

/** A price taken for the work. Exactly one of `keep` and `giveBack` ends it. */
export type Charge = {
  /** The debit of a metered key. Work with lasting effects captures it in the transaction that stores them. */
  readonly debitId?: string;
  /**
   * Ends a successful charge: captures the price and stores the answer for repeats. Returns headers to add. Throws if
   * capturing fails; the answer is then withheld. A metered payment is charged `meteredUnits`, others the price.
   */
  keep(answer: BoughtAnswer, meteredUnits?: number): Promise<AnswerHeaders>;
  /** Ends a failed charge: releases the price. If the money has moved, returns what is owed for it. Never throws. */
  giveBack(): Promise<Owed | null>;
  /** The error to answer if client or server aborted the request and the price was released. Absent if the failure explains it. */
  cancelled?(): Promise<Error>;
};

/** How priced endpoints know, limit and charge their callers. */
export type Access = {
  /** Throws the 400, 401 or 402 of invalid credentials. */
  identify(request: PaidRequest): Promise<Caller>;
  /** Counts the call against the caller's rate and returns the rate headers. Throws a 429. */
  limit(caller: Caller): Promise<AnswerHeaders>;
  /**
   * Returns the earlier answer to the same request, found by Idempotency-Key or a proof of payment. Returns null for a
   * first request, which is then under way until it is stored or forgotten. Throws the 402, 409 or 422 of requests that
   * are no repeat.
   */
  recall(caller: Caller, request: PaidRequest): Promise<BoughtAnswer | null>;
  /**
   * Returns a caller whose balance covers the price or whose payment is verified; takes nothing yet. Throws a 402 for
   * all others, so that costly work runs only for paying callers.
   */
  prove(caller: Caller, request: PaidRequest): Promise<PayingCaller>;
  /** Whether a proven caller has paid already, and is owed the answer. */
  isOwed(caller: PayingCaller, request: PaidRequest): boolean;
  /**
   * Takes or reserves the price. Throws the 402 or 409 of callers who cannot pay, and a 403 if the caller's own limit does not
   * cover it.
   */
  take(caller: PayingCaller, request: PaidRequest, terms: ChargeTerms): Promise<Charge>;
  /**
   * Stores a free answer for repeats under the same Idempotency-Key. Returns it with the report of a payment of this request that
   * was settled before.
   */
  keepFree(caller: Caller, request: PaidRequest, answer: BoughtAnswer): Promise<BoughtAnswer>;
  /** Ends a request that `recall` let through and that has no answer. Never throws. */
  forget(caller: Caller, request: PaidRequest): Promise<void>;
};

/** Identifies the owner of a free call, and counts it against the owner's rate. */
export type OwnerAccess = {
  /** Throws a 401 without valid proof and a 429 above the owner's rate. */
  identify(request: CallerRequest): Promise<Owner>;
};

/** A signed authorization of a request, already compared with the price. */
export type PresentedPayment = {
  readonly scheme: string;
  /** metered: its answer decides how much. held: a contract holds the money until the purchase is decided. Absent: the price. */
  readonly taking?: "metered" | "held" | undefined;
  /** Lower-case, as is payTo. */
  readonly payer: Address;
  readonly asset: Address;
  readonly payTo: Address;
  readonly nonce: Hex;
  /** In the token's smallest unit; the most that may be taken. */
  readonly amount: bigint;
  /** Unix seconds. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** In the format of x402 facilitators. */
  readonly payload: PaymentPayload;
  readonly requirements: PaymentRequirements;
  /** The resource and the extensions by which a facilitator lists it; absent for a resource that is in no catalog. */
  readonly listed?: Required<Pick<PaymentPayload, "resource" | "extensions">>;
};

/** The owner of policies, subscriptions and stored answers: a key or a wallet. */
export type Owner =
  | { readonly kind: "key"; readonly keyId: string }
  /** Lower-case. */
  | { readonly kind: "wallet"; readonly address: Address };

/** The form in which rows name their owner: key:ID or wallet:ADDRESS. */
export function ownerText(owner: Owner): string {
  switch (owner.kind) {
    case "key":
      return `key:${owner.keyId}`;
    case "wallet":
      return `wallet:${owner.address}`;
  }
}

/** The owner behind a paid call; null for a caller without proof. */
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

/** An answer whose money has moved: a request with the claim gets it without paying again. */
export type Owed = {
  /** 32 random bytes in hexadecimal; null for a caller without a proof that the payment is its own. */
  readonly claim: string | null;
  /** The report of the settlement. */
  readonly headers: AnswerHeaders;
};

/** Paid work failed after the money had moved. */
export class OwedAnswer extends Error {
  override readonly name = "OwedAnswer";
  readonly owed: Owed;

  constructor(owed: Owed, cause: unknown) {
    super("paid work failed after its settlement", { cause });
    this.owed = owed;
  }
}

/** Thousandths of a US dollar as headers have them: always three decimals. */
export function usd(units: number): string {
  return (units / 1000).toFixed(3);
}

/** Thousandths of a US dollar in a sentence: two decimals, and a third one unless it is zero. */
export function priceText(units: number): string {
  return usd(units).replace(/0$/, "");
}
