import type { PaymentPayload, SchemeNetworkFacilitator, SupportedKind } from "@x402/core/types";
import type { FacilitatorEvmSigner } from "@x402/evm";
import type { Logger } from "pino";
import type { Address, BlockTag, Hex, PublicClient } from "viem";
import type { ZodError } from "zod";
import type { Database } from "../../db/database.ts";
import type { PresentedPayment, Priced } from "../access.ts";
import type { SettleOutcome } from "../payments/facilitator.ts";
import type { createPaymentMetrics } from "../payments/metrics.ts";
import type { SettlementSpending } from "../payments/settlement-spending.ts";

/** One way by which a payer's signature moves money. Everything that only this way does is behind this type. */
export type PaymentScheme = {
  /** In settings, rows, orders and metrics; for good. */
  readonly name: string;
  /** The protocol's word for it, which other ways may share. */
  readonly protocol: string;
  /** In the words of the protocol, for a payer who came by another one. */
  readonly way: string;
  /** The contract that it calls, at the same address of every chain; null if it calls the token alone. */
  readonly contract: Address | null;
  /** How its payments are taken; absent: the price, for good. */
  readonly taking?: PresentedPayment["taking"];
  /** Members of `extra` in `accepts`; null if it is not offered for this price. */
  offer(terms: OfferTerms): Readonly<Record<string, unknown>> | null;
  /** Whether a facilitator by URL settles it; absent: none does. */
  isSettledBy?(kind: Pick<SupportedKind, "extra">, extensions: readonly string[]): boolean;
  /** Whether a payload of the protocol's word has this scheme's form. */
  isForm(payload: Payload): boolean;
  /** Reads what the payer signed; nothing is compared yet. */
  read(payment: Pick<PaymentPayload, "payload" | "accepted">): Signed | ZodError;
  /** Why a payment does not commit to the offered `extra`; null if it does. Absent: amount, token and recipient are all. */
  fault?(payment: PresentedPayment, offered: Offered): string | null;
  /** The EIP-712 hash that the payer signs. */
  digest(payment: PresentedPayment, chainId: number): Hex;
  /** Which signatures of keys its contract reads; absent: all, and those of contract wallets. */
  isReadable?(signature: Hex): boolean;
  readonly transfer: TransferMethod;
  readonly settling: OwnSettling | PackageSettling;
  /** Present if payments are charged to an account that the scheme keeps for each payer, in one transaction with their rows. */
  readonly ledger?: (context: LedgerContext) => SchemeLedger;
  /** One pass over money that a contract still holds for us. */
  readonly sweep?: (deps: SweepDeps) => Promise<void>;
};

type Payload = PaymentPayload["payload"];

/** The signed part of a payment. */
export type Signed = Pick<PresentedPayment, "nonce" | "validAfter" | "validBefore"> & {
  readonly signature: Hex;
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  /** Null where the signature names no token in its message. */
  readonly token: Address | null;
  /** The account that the payer lets move its money, the one that it has to be, and the word for another; null for the token itself. */
  readonly spender: { readonly given: Address; readonly expected: Address; readonly fault: string } | null;
  /** The members that were read, as facilitators take them and as they are stored. */
  readonly normalised: Record<string, unknown>;
};

/** Facts by which a scheme is offered. */
type OfferTerms = Priced & {
  /** Of the token's EIP-712 domain. */
  readonly domain: { readonly name: string; readonly version: string };
  /** The account that settles; null if it is not known. */
  readonly settler: Address | null;
  readonly now: Date;
};

export type Offered = { readonly chainId: number; readonly extra: Readonly<Record<string, unknown>> };

/** The schemes that are offered now, by name, each with the account that settles its payments where that is known. */
export type Settlers = ReadonlyMap<string, Address | null>;

/** An authorization to look up on chain. */
export type Authorization = Pick<
  PresentedPayment,
  "scheme" | "asset" | "payer" | "nonce" | "payTo" | "amount"
>;

type At = { readonly blockNumber?: bigint; readonly blockTag?: BlockTag };
export type BlockRange = { readonly fromBlock: bigint; readonly toBlock: bigint };

/** How the chain shows whether an authorization was carried out. Every call throws a viem error if the node fails. */
export type TransferMethod = {
  /** Whether the nonce is used or withdrawn. */
  isUsed(client: PublicClient, authorization: Authorization, at: At): Promise<boolean>;
  /** How much of the payer's balance it may move; absent: all of it. */
  approved?(client: PublicClient, authorization: Authorization): Promise<bigint>;
  /** The transaction in these blocks, newest first, that used the authorization and paid us by it; null without one. */
  find(
    client: PublicClient,
    authorization: Authorization,
    ranges: AsyncIterable<BlockRange>,
  ): Promise<Hex | null>;
  /** The refusal of a nonce that a final block shows as used without paying us; absent: that nothing was charged. */
  readonly spentElsewhere?: string;
};

export type Call = { readonly to: Address; readonly data: Hex };

/** This service makes the call itself; the authorization is the one that the call uses. */
type OwnSettling = {
  order(payment: PresentedPayment): { readonly authorization: PresentedPayment; readonly call: Call };
};
/** The protocol's package settles, by a function of this name. */
type PackageSettling = {
  facilitator(signer: FacilitatorEvmSigner): SchemeNetworkFacilitator;
  readonly functionName: string;
};

export type LedgerContext = {
  readonly db: Database;
  readonly chainId: number;
  readonly client: PublicClient;
  readonly chain: {
    isUsed(authorization: Authorization): Promise<boolean>;
    fundsOf(authorization: Authorization): Promise<{ readonly balance: bigint }>;
  };
  readonly clock: { now(): Date };
  readonly logger: Logger;
};

/** A refusal, with what its scheme's terms have in `extra` beside the usual, so that the client can go on. */
export type PaymentFault = {
  readonly error: string;
  readonly extra: Readonly<Record<string, unknown>> | null;
};

/** Accounts of payers. Its calls throw the node's and the database's errors. */
export type SchemeLedger = {
  /** The name of money that a payment may bring into the account first. */
  readonly brings: string;
  /** Why an unused payment is refused now; null if account and chain cover it. */
  check(payment: PresentedPayment): Promise<PaymentFault | null>;
  /** The refusal of a payment that was charged before. */
  usedFault(payment: PresentedPayment): Promise<PaymentFault>;
  /** The amount that the gas of a payment is compared with; null if it needs none. */
  worth(payment: PresentedPayment): Promise<bigint | null>;
  /** Charges a reserved payment; `settle` moves the money that it brings. */
  take(
    held: { readonly id: string; readonly payment: PresentedPayment },
    settle: () => Promise<SettleOutcome>,
  ): Promise<Taken>;
  /** Further members of the settlement report. */
  report(payment: PresentedPayment): Promise<object>;
};

/** The outcome of a charge; `why` is for the row of a payment that was not charged. */
export type Taken =
  | { readonly kind: "charged"; readonly transaction: Hex | null }
  /** The row no longer belongs to the request. */
  | { readonly kind: "gone" }
  | ({ readonly kind: "refused"; readonly why: string } & PaymentFault)
  | { readonly kind: "unavailable"; readonly why: string; readonly cause: unknown }
  /** The money that it brings is under way; the same payment can be presented again. */
  | { readonly kind: "pending"; readonly why: string; readonly detail: string; readonly cause: unknown };

export type SweepDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly client: PublicClient;
  readonly chain: { finalBlock(): Promise<{ readonly number: bigint }> };
  /** Null where gas costs nothing. */
  readonly spending: SettlementSpending | null;
  readonly metrics: ReturnType<typeof createPaymentMetrics>;
  readonly logger: Logger;
  readonly now: () => Date;
};

/** The scheme of a row or payment. Throws for a name that the list does not have. */
export function schemeNamed(schemes: readonly PaymentScheme[], name: string): PaymentScheme {
  const scheme = schemes.find((one) => one.name === name);
  if (scheme === undefined) throw new Error(`there is no payment scheme ${name}`);
  return scheme;
}

/** The ledgers of those schemes that have one, by name. */
export function openLedgers(
  schemes: readonly PaymentScheme[],
  context: LedgerContext,
): ReadonlyMap<string, SchemeLedger> {
  return new Map(
    schemes.flatMap(({ name, ledger }) => (ledger === undefined ? [] : [[name, ledger(context)] as const])),
  );
}

/** The chain of a CAIP-2 network of EVM. */
export function chainIdOf(network: string): number {
  return Number(network.split(":")[1]);
}
