import { sql } from "drizzle-orm";
import {
  doublePrecision,
  index,
  integer,
  jsonb,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { address, bytes, hash, hex, int8, moment, uint, unixSeconds } from "../columns.ts";
import { ahs } from "./schema.ts";

/**
 * reserved: held for one request. settled: the money moved. answered: it did, and what it bought is stored. released: free to be
 * used again. lost: the money had moved, and the chain took it back.
 */
export type PaymentState = "reserved" | "settled" | "answered" | "released" | "lost";

/** The scheme of rows and orders from before there were others: their references do not name it. */
export const FIRST_SCHEME = "exact";

/**
 * Of a settled payment whose money an escrow holds. authorized: the escrow has the money, and what it bought is undecided. capturing, voiding:
 * decided for good. captured: a final block shows that we have it. voided: one shows that the payer has it back.
 */
export type CaptureState = "authorized" | "capturing" | "voiding" | "captured" | "voided";

/** Authorizations that were presented for priced calls, each once; one that is settled and not answered is owed. */
export const payment = ahs.table(
  "payment",
  {
    id: uuid().primaryKey(),
    chainId: integer().notNull(),
    scheme: text().notNull().default(FIRST_SCHEME),
    asset: address().notNull(),
    payer: address().notNull(),
    payTo: address().notNull(),
    nonce: hash().notNull(),
    /** In the token's smallest unit; the most that may be taken. */
    amount: uint().notNull(),
    /** The amount that settlement was asked for first, which is the only one; null before. */
    chargedAmount: uint(),
    validAfter: unixSeconds().notNull(),
    validBefore: unixSeconds().notNull(),
    /** The signed payload, as a facilitator takes it. */
    payload: jsonb().notNull(),
    state: text().$type<PaymentState>().notNull(),
    endpoint: text().notNull(),
    resource: text().notNull(),
    /** SHA-256 of the parsed request. */
    fingerprint: text().notNull(),
    /** Whether the money moves before the work or after it. */
    settlement: text().$type<"before" | "after">().notNull(),
    /** SHA-256 of what proves the first request to be one's own; null where it had none. */
    claimHash: text().notNull(),
    idempotencyKeyHash: text(),
    paymentIdentifierHash: text(),
    /** Until when the request that holds it may run; one still reserved after that is reconciled with the chain. */
    deadline: moment().notNull(),
    /** When settlement was last asked for, by whichever request; null before that, so that one never asked for can be released. */
    settleAskedAt: moment(),
    transactionHash: hash(),
    settledAt: moment(),
    /** When the chain is asked next whether the money stays; null before it moved, and once a final block says so. */
    confirmAt: moment(),
    /** Null but for settled payments whose money an escrow holds. */
    captureState: text().$type<CaptureState>(),
    /** When it is looked after next; null where nothing is left to do. */
    captureAt: moment(),
    error: text(),
    /** The answer that it bought, without secrets; dropped a day after. */
    answerType: text(),
    answerBody: bytes(),
    answeredAt: moment(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("payment_authorization").on(
      table.chainId,
      table.asset,
      table.payer,
      table.nonce,
      table.scheme,
    ),
    index("payment_state").on(table.state, table.deadline),
    index("payment_payer").on(table.payer, table.createdAt.desc()),
    index("payment_claim").on(table.claimHash),
    index("payment_owed").on(table.payer).where(sql`${table.state} = 'settled'`),
    index("payment_confirm").on(table.confirmAt).where(sql`${table.confirmAt} is not null`),
    index("payment_capture").on(table.captureAt).where(sql`${table.captureAt} is not null`),
    index("payment_answer").on(table.answeredAt).where(sql`${table.answerBody} is not null`),
  ],
);

/**
 * Payment channels, from their first charge until nothing of them is left to collect. Amounts are in
 * the token's smallest unit and cumulative, as in the contract.
 */
export const paymentChannel = ahs.table(
  "payment_channel",
  {
    /** The EIP-712 hash of the channel's config, which names chain and contract. */
    id: hash().primaryKey(),
    chainId: integer().notNull(),
    /** Signs the vouchers as well. */
    payer: address().notNull(),
    receiver: address().notNull(),
    /** The account that claims. */
    authorizer: address().notNull(),
    token: address().notNull(),
    withdrawDelay: integer().notNull(),
    salt: hash().notNull(),
    /** Deposited, and of that claimed, at the block that was read last. */
    balance: uint().notNull(),
    collected: uint().notNull(),
    /** The amount that the payer is about to withdraw; zero if nothing. */
    withdrawing: uint().notNull(),
    withdrawAskedAt: unixSeconds(),
    seenBlock: int8().notNull(),
    seenAt: moment().notNull(),
    /** Charged by vouchers, the last of which is for this amount. */
    charged: uint().notNull(),
    /** Of the last voucher; null where it was claimed before this row was written. */
    signature: hex(),
    /** When the oldest charge that is not claimed was made. */
    unclaimedSince: moment(),
    /** The transaction of our sender that claims, and up to which amount; null if none is under way. */
    collectOrder: int8(),
    collectAsked: uint(),
    /** Failed orders in a row. */
    collectFailures: integer().notNull().default(0),
    /** When the worker looks at it next. */
    lookAt: moment().notNull(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (table) => [
    index("payment_channel_look").on(table.chainId, table.lookAt),
    index("payment_channel_payer").on(table.payer),
  ],
);

/** Answers kept by Idempotency-Key for a day, each for the caller that it was given to; running until it is answered. */
export const idempotentAnswer = ahs.table(
  "idempotent_answer",
  {
    /** The caller: key:ID or wallet:ADDRESS; payment-identifier:ADDRESS for identifiers of payments. */
    scope: text().notNull(),
    /** SHA-256 of the Idempotency-Key or the identifier. */
    keyHash: text().notNull(),
    /** SHA-256 of the parsed request. */
    fingerprint: text().notNull(),
    state: text().$type<"running" | "answered">().notNull(),
    /** Null while it runs, as is the body; without secrets. */
    answerType: text(),
    answerBody: bytes(),
    createdAt: moment().notNull(),
    /** A running one after that belongs to a request that died; an answered one is forgotten. */
    expiresAt: moment().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.keyHash] }),
    index("idempotent_answer_expires").on(table.expiresAt),
  ],
);

/** Token buckets of callers, shared by all servers; unlogged, since a crash may well refill them. */
export const rateBucket = ahs.table("rate_bucket", {
  /** key:ID, wallet:ADDRESS or subscription:ID for calls; bytes:OWNER for bytes. */
  identity: text().primaryKey(),
  /** Calls or bytes left when it was last taken from. */
  tokens: doublePrecision().notNull(),
  /** How many of the calls that were asked for then were let through. */
  granted: integer().notNull(),
  updatedAt: moment().notNull(),
});

/** Nonces of sign-ins that were used, each by its own address, until they would be too old anyway. */
export const signInNonce = ahs.table(
  "sign_in_nonce",
  {
    nonce: text().notNull(),
    address: address().notNull(),
    expiresAt: moment().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.nonce] }),
    index("sign_in_nonce_expires").on(table.expiresAt),
  ],
);
