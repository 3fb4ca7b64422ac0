import { sql } from "drizzle-orm";
import { bigint, boolean, index, integer, jsonb, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";
import type { Grade } from "../../model/score/record.ts";
import { address, addresses, hash, hashes, hex, int8, moment, rowId, uint, wei } from "../columns.ts";
import { ahs } from "./schema.ts";
import { score } from "./score.ts";

/** The word of feedback for a wallet. */
export type FeedbackLabel = Grade | "sanctioned";

/** Why a score goes on chain. */
export type PublishReason = "first" | "grade" | "backing" | "move" | "flag" | "heartbeat";

/** Outbox of the oracle: written in the transaction that stores the score. */
export const publishIntent = ahs.table(
  "publish_intent",
  {
    id: rowId(),
    chainId: integer().notNull(),
    wallet: address().notNull(),
    scoreId: int8()
      .notNull()
      .references(() => score.id),
    reason: text().$type<PublishReason>().notNull(),
    state: text().$type<"pending" | "sent" | "confirmed" | "superseded" | "failed">().notNull(),
    /** The safe amount that its word carries, rounded down there; zero before it is sent. */
    safeMicroUsd: uint().notNull().default(sql`0`),
    senderTransactionId: int8(),
    /**
     * Pending: not sent before this moment. Failed: the moment from which the same score may be tried again, and null
     * when it never may.
     */
    notBefore: moment(),
    /** Failed intents in a row before this one. */
    attempts: integer().notNull().default(0),
    error: text(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("publish_intent_one_pending").on(table.chainId, table.wallet).where(sql`state = 'pending'`),
    index("publish_intent_state").on(table.chainId, table.state, table.id),
    index("publish_intent_wallet").on(table.chainId, table.wallet, table.id.desc()),
    index("publish_intent_transaction").on(table.senderTransactionId),
    index("publish_intent_score").on(table.scoreId),
  ],
);

/** Every transaction that one of our keys sends; the nonce is taken here before anything is signed. */
export const senderTransaction = ahs.table(
  "sender_transaction",
  {
    id: rowId(),
    chainId: integer().notNull(),
    sender: address().notNull(),
    /** Names the wish: asking twice under one reference sends once. */
    reference: text().notNull(),
    purpose: text().notNull(),
    to: address().notNull(),
    data: hex().notNull(),
    value: wei().notNull(),
    /**
     * queued: waits for a nonce. prepared: nonce and content are fixed, perhaps signed, not known to be out.
     * broadcast: a node took it. mined and reverted: in a block, not final before `final`. failed: never sent, holds no nonce.
     */
    state: text().$type<"queued" | "prepared" | "broadcast" | "mined" | "reverted" | "failed">().notNull(),
    /** True once the block that holds it cannot be reorged. */
    final: boolean().notNull().default(false),
    nonce: int8(),
    gasLimit: bigint({ mode: "bigint" }),
    maxFeePerGas: wei(),
    maxPriorityFeePerGas: wei(),
    /** Hashes of every version signed, oldest first. */
    hashes: hashes().notNull(),
    /** The newest signed version, ready to be sent again. */
    raw: hex(),
    /** When, and at which head, the newest version was last handed to a node. */
    broadcastAt: moment(),
    broadcastBlock: int8(),
    notBefore: moment(),
    attempts: integer().notNull().default(0),
    /** Kind of the last failure, of SendFailureKind. */
    failure: text(),
    error: text(),
    revertData: hex(),
    minedHash: hash(),
    minedBlock: int8(),
    gasUsed: bigint({ mode: "bigint" }),
    costWei: wei(),
    minedAt: moment(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (table) => [
    uniqueIndex("sender_transaction_nonce").on(table.chainId, table.sender, table.nonce),
    uniqueIndex("sender_transaction_reference").on(table.chainId, table.sender, table.reference),
    index("sender_transaction_open")
      .on(table.chainId, table.sender, table.id)
      .where(sql`final = false and state <> 'failed'`),
    index("sender_transaction_spent").on(table.chainId, table.purpose, table.createdAt),
    // Settlements of one payer, whose references begin alike.
    index("sender_transaction_payer")
      .on(table.chainId, table.reference.op("text_pattern_ops"))
      .where(sql`purpose = 'x402'`),
  ],
);

/** Nightly Merkle lists of the whole population, one per night. */
export const epoch = ahs.table(
  "epoch",
  {
    chainId: integer().notNull(),
    epoch: int8().notNull(),
    root: hash().notNull(),
    uri: text().notNull(),
    /** Each wallet with its packed record, as the contract verifies it. */
    leaves: jsonb().$type<readonly { readonly wallet: string; readonly record: string }[]>().notNull(),
    /**
     * sent: its transaction is queued or on its way. confirmed: the oracle's own event shows this root. superseded: the
     * oracle holds a newer epoch, so this one can no longer be published.
     */
    state: text().$type<"sent" | "confirmed" | "superseded">().notNull(),
    senderTransactionId: int8().notNull(),
    attempts: integer().notNull(),
    notBefore: moment(),
    createdAt: moment().notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.epoch] })],
);

/**
 * Feedback that the publisher leaves in an ERC-8004 reputation registry, and takes back there: a row per call, written with its
 * transaction. The newest row of an agent that has not failed shows what the registry holds of ours.
 */
export const feedback = ahs.table(
  "feedback",
  {
    id: rowId(),
    chainId: integer().notNull(),
    registry: address().notNull(),
    /** The publisher's key that sends it: feedback belongs to its sender. */
    client: address().notNull(),
    agentId: uint().notNull(),
    kind: text().$type<"give" | "revoke">().notNull(),
    /** Wallet of the agent that the feedback is about. */
    wallet: address().notNull(),
    /** Grade of that wallet then, or `sanctioned`. */
    label: text().$type<FeedbackLabel>().notNull(),
    /** Place among the feedback of this client for the agent, from 1 on; null before a block holds it. */
    feedbackIndex: int8(),
    /** The served document that the registry names by URI and hash; null where feedback is taken back. */
    document: text(),
    documentHash: hash(),
    state: text().$type<"sent" | "confirmed" | "failed">().notNull(),
    senderTransactionId: int8().notNull(),
    error: text(),
    createdAt: moment().notNull(),
  },
  (table) => [
    index("feedback_agent").on(table.chainId, table.registry, table.client, table.agentId, table.id.desc()),
    // One call of an agent at a time.
    uniqueIndex("feedback_one_sent")
      .on(table.chainId, table.registry, table.client, table.agentId)
      .where(sql`state = 'sent'`),
    index("feedback_document").on(table.documentHash),
    index("feedback_transaction").on(table.senderTransactionId),
  ],
);

/** Requests of an ERC-8004 validation registry that name the publisher's key as validator, by their hash. */
export const validationRequest = ahs.table(
  "validation_request",
  {
    chainId: integer().notNull(),
    registry: address().notNull(),
    requestHash: hash().notNull(),
    agentId: uint().notNull(),
    requestUri: text().notNull(),
    block: int8().notNull(),
    /** pending: not answered yet. sent: its answer is under way. answered: in a final block. refused: never answered. */
    state: text().$type<"pending" | "sent" | "answered" | "refused">().notNull(),
    /** Why it is refused, or was not answered yet. */
    reason: text(),
    attempts: integer().notNull().default(0),
    notBefore: moment(),
    response: integer(),
    /** The served document that the answer names by URI and hash; null before. */
    document: text(),
    documentHash: hash(),
    senderTransactionId: int8(),
    sentAt: moment(),
    /** The agent's owner and wallet, and the root of its owner cluster, as of the answer; null before, and of older answers. */
    parties: addresses(),
    createdAt: moment().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.registry, table.requestHash] }),
    index("validation_request_state").on(table.chainId, table.registry, table.state, table.block),
    index("validation_request_sent").on(table.chainId, table.registry, table.sentAt),
    index("validation_request_document").on(table.documentHash),
  ],
);

/** Files behind an inputs hash (policy, sanctions list), by their own hash. */
export const inputFile = ahs.table("input_file", {
  hash: hash().primaryKey(),
  content: jsonb().notNull(),
  createdAt: moment().notNull().defaultNow(),
});
