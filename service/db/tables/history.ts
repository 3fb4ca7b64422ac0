import { boolean, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import { address, hash, int8, moment, unixSeconds } from "../columns.ts";
import { ahs } from "./schema.ts";

/**
 * The part of a wallet's past that a history source reported. Its calls are rows of own_call under the source's name, or as enrichment
 * writes them where a batch source gave whole receipts.
 */
export const storedHistory = ahs.table(
  "stored_history",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    source: text().notNull(),
    fromBlock: int8().notNull(),
    /** No own call at or after this time, up to toBlock, is missing; Unix seconds. */
    fromTimestamp: unixSeconds().notNull(),
    toBlock: int8().notNull(),
    toHash: hash().notNull(),
    /** Whether every own call of the window is there. */
    complete: boolean().notNull(),
    /** By a batch source: transactions that the wallet had sent before what is read of it; else null. */
    fromNonce: int8(),
    readAt: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.wallet] })],
);

/** pending: its request is to be sent. sent: on its way. followed: the index follows the wallet. refused: it cannot be. */
export type EnrolmentState = "pending" | "sent" | "followed" | "refused";

/** Wallets that are to be followed from now on. */
export const enrolment = ahs.table(
  "enrolment",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    state: text().$type<EnrolmentState>().notNull(),
    senderTransactionId: int8(),
    attempts: integer().notNull().default(0),
    detail: text(),
    requestedAt: moment().notNull(),
    notBefore: moment(),
    /** paid: a caller paid for the wallet's score. registry: a scan found it in a registry; those wait for the former. */
    cause: text().$type<"paid" | "registry">().notNull().default("paid"),
    /** Who paid, key:ID or wallet:ADDRESS; null of registries, and of requests from before it was noted. */
    requestedBy: text(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.wallet] }),
    index("enrolment_state").on(table.chainId, table.state),
  ],
);

/** Addresses that the operator does not want followed, even if the chain names them. */
export const unfollowed = ahs.table(
  "unfollowed",
  {
    chainId: integer().notNull(),
    address: address().notNull(),
    addedAt: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);
