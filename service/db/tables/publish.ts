import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  numeric,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { address, hash, hashes, hex } from "../columns.ts";
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
    wallet: address().notNull(),
    scoreId: bigint({ mode: "number" })
      .notNull()
      .references(() => score.id),
    reason: text().$type<PublishReason>().notNull(),
    state: text().$type<PublishState>().notNull(),
    /** The transaction that carries it, once it is sent. */
    senderTransactionId: bigint({ mode: "number" }),
    /**
     * Pending: not sent before this moment. Failed: the moment from which the same score may be tried again, and null
     * when it never may.
     */
    notBefore: timestamp({ withTimezone: true }),
    /** Failed intents in a row before this one. */
    attempts: integer().notNull().default(0),
    error: text(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("publish_intent_one_pending").on(table.chainId, table.wallet).where(sql`state = 'pending'`),
    index("publish_intent_state").on(table.chainId, table.state, table.id),
    index("publish_intent_wallet").on(table.chainId, table.wallet, table.id.desc()),
    index("publish_intent_transaction").on(table.senderTransactionId),
    index("publish_intent_score").on(table.scoreId),
  ],
);

/**
 * queued: waits for a nonce. prepared: nonce and content are fixed, perhaps signed, not known to be out.
 * broadcast: a node took it. mined and reverted: in a block, not final before `final`. failed: never sent, holds no nonce.
 */
export type SenderState = "queued" | "prepared" | "broadcast" | "mined" | "reverted" | "failed";

/** Every transaction that one of our keys sends; the nonce is taken here before anything is signed. */
export const senderTransaction = ahs.table(
  "sender_transaction",
  {
    id: bigint({ mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
    chainId: integer().notNull(),
    sender: address().notNull(),
    /** Names the wish: asking twice under one reference sends once. */
    reference: text().notNull(),
    purpose: text().notNull(),
    to: address().notNull(),
    data: hex().notNull(),
    value: numeric({ mode: "bigint" }).notNull(),
    state: text().$type<SenderState>().notNull(),
    /** True once the block that holds it cannot be reorged. */
    final: boolean().notNull().default(false),
    nonce: bigint({ mode: "number" }),
    gasLimit: bigint({ mode: "bigint" }),
    maxFeePerGas: numeric({ mode: "bigint" }),
    maxPriorityFeePerGas: numeric({ mode: "bigint" }),
    /** Hashes of every version signed, oldest first. */
    hashes: hashes().notNull(),
    /** The newest signed version, ready to be sent again. */
    raw: hex(),
    /** When, and at which head, the newest version was last handed to a node. */
    broadcastAt: timestamp({ withTimezone: true }),
    broadcastBlock: bigint({ mode: "number" }),
    notBefore: timestamp({ withTimezone: true }),
    attempts: integer().notNull().default(0),
    /** Kind of the last failure, of SendFailureKind. */
    failure: text(),
    error: text(),
    /** What the simulated call reverted with. */
    revertData: hex(),
    minedHash: hash(),
    minedBlock: bigint({ mode: "number" }),
    gasUsed: bigint({ mode: "bigint" }),
    costWei: numeric({ mode: "bigint" }),
    minedAt: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("sender_transaction_nonce").on(table.chainId, table.sender, table.nonce),
    uniqueIndex("sender_transaction_reference").on(table.chainId, table.sender, table.reference),
    index("sender_transaction_open")
      .on(table.chainId, table.sender, table.id)
      .where(sql`final = false and state <> 'failed'`),
    index("sender_transaction_spent").on(table.chainId, table.purpose, table.createdAt),
  ],
);

/** One leaf of an epoch: the wallet and its packed record, as the contract verifies it. */
export type EpochLeaf = { readonly wallet: string; readonly record: string };

/**
 * sent: its transaction is queued or on its way. confirmed: the oracle's own event shows this root. superseded: the
 * oracle holds a newer epoch, so this one can no longer be published.
 */
export type EpochState = "sent" | "confirmed" | "superseded";

/** Nightly Merkle lists of the whole population, one per night. */
export const epoch = ahs.table(
  "epoch",
  {
    chainId: integer().notNull(),
    epoch: bigint({ mode: "number" }).notNull(),
    root: hash().notNull(),
    uri: text().notNull(),
    leaves: jsonb().$type<readonly EpochLeaf[]>().notNull(),
    state: text().$type<EpochState>().notNull(),
    senderTransactionId: bigint({ mode: "number" }).notNull(),
    /** Transactions spent on it so far. */
    attempts: integer().notNull(),
    /** Not tried again before this moment. */
    notBefore: timestamp({ withTimezone: true }),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.epoch] })],
);

/** Files behind an inputs hash (policy, sanctions list), by their own hash. */
export const inputFile = ahs.table("input_file", {
  hash: hash().primaryKey(),
  content: jsonb().notNull(),
  createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});
