import { bigint, integer, jsonb, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { hash } from "../columns.ts";
import { ahs } from "./schema.ts";

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
