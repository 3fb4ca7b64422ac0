import { sql } from "drizzle-orm";
import { bigint, index, integer, numeric, text, timestamp, uniqueIndex } from "drizzle-orm/pg-core";
import { ahs } from "./schema.ts";
import { score } from "./score.ts";

/** Why a score goes on chain. */
export type PublishReason = "first" | "grade" | "move" | "flag" | "heartbeat";

export type PublishState = "pending" | "sent" | "confirmed" | "superseded" | "failed";

/** Outbox of the oracle: written in the transaction that stores the score. */
export const publishIntent = ahs.table(
  "publish_intent",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    chainId: integer().notNull(),
    wallet: text().notNull(),
    scoreId: bigint({ mode: "number" })
      .notNull()
      .references(() => score.id),
    reason: text().$type<PublishReason>().notNull(),
    state: text().$type<PublishState>().notNull(),
    senderTransactionId: bigint({ mode: "number" }),
    error: text(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("publish_intent_one_pending")
      .on(table.chainId, table.wallet)
      .where(sql`state = 'pending'`),
    index("publish_intent_state").on(table.chainId, table.state, table.id),
  ],
);

export type SenderState = "prepared" | "broadcast" | "mined" | "reverted" | "dropped";

/** Every transaction that one of our keys signed; the nonce is taken here before anything is broadcast. */
export const senderTransaction = ahs.table(
  "sender_transaction",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    chainId: integer().notNull(),
    sender: text().notNull(),
    nonce: bigint({ mode: "number" }).notNull(),
    purpose: text().notNull(),
    to: text().notNull(),
    data: text().notNull(),
    gasLimit: bigint({ mode: "bigint" }).notNull(),
    /** Hashes of every version broadcast, oldest first. */
    hashes: text().array().notNull(),
    maxFeePerGas: numeric({ mode: "bigint" }).notNull(),
    maxPriorityFeePerGas: numeric({ mode: "bigint" }).notNull(),
    state: text().$type<SenderState>().notNull(),
    minedHash: text(),
    minedBlock: bigint({ mode: "number" }),
    gasUsed: bigint({ mode: "bigint" }),
    costWei: numeric({ mode: "bigint" }),
    error: text(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("sender_transaction_nonce").on(table.chainId, table.sender, table.nonce),
    index("sender_transaction_state").on(table.chainId, table.sender, table.state),
  ],
);
