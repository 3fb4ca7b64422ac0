import { bigint, integer, jsonb, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { ahs } from "./schema.ts";

/** One leaf of an epoch: the wallet and its packed record, as the contract verifies it. */
export type EpochLeaf = { readonly wallet: string; readonly record: string };

/** Nightly Merkle lists of the whole population. */
export const epoch = ahs.table(
  "epoch",
  {
    chainId: integer().notNull(),
    epoch: bigint({ mode: "number" }).notNull(),
    root: text().notNull(),
    leaves: jsonb().$type<readonly EpochLeaf[]>().notNull(),
    createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.epoch] })],
);

/** Files behind an inputs hash (policy, sanctions list), by their own hash. */
export const inputFile = ahs.table("input_file", {
  hash: text().primaryKey(),
  content: jsonb().notNull(),
  createdAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});
