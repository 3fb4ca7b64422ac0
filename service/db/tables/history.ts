import { bigint, boolean, index, integer, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { address, hash } from "../columns.ts";
import { ahs } from "./schema.ts";

/** The part of a wallet's past that a history source reported; its calls are rows of own_call under the source's name. */
export const storedHistory = ahs.table(
  "kept_history",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    source: text().notNull(),
    fromBlock: bigint({ mode: "number" }).notNull(),
    /** No own call at or after this time, up to toBlock, is missing; Unix seconds. */
    fromTimestamp: bigint({ mode: "number" }).notNull(),
    toBlock: bigint({ mode: "number" }).notNull(),
    toHash: hash().notNull(),
    /** Whether every own call of the window is there. */
    complete: boolean().notNull(),
    readAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.wallet] })],
);

/** pending: its request is to be sent. sent: on its way. followed: the index follows the wallet. refused: it cannot be. */
export type EnrolmentState = "pending" | "sent" | "followed" | "refused";

/** paid: a caller paid for the wallet's score. registry: a scan found it in a registry; those wait for the former. */
export type EnrolmentCause = "paid" | "registry";

/** Wallets that are to be followed from now on. */
export const enrolment = ahs.table(
  "enrolment",
  {
    chainId: integer().notNull(),
    wallet: address().notNull(),
    state: text().$type<EnrolmentState>().notNull(),
    senderTransactionId: bigint({ mode: "number" }),
    attempts: integer().notNull().default(0),
    detail: text(),
    requestedAt: timestamp({ withTimezone: true }).notNull(),
    /** Not sent before this moment. */
    notBefore: timestamp({ withTimezone: true }),
    cause: text().$type<EnrolmentCause>().notNull().default("paid"),
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
    /** In lower case. */
    address: address().notNull(),
    addedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);
