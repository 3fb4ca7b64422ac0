import { bigint, integer, text, timestamp } from "drizzle-orm/pg-core";
import { hash } from "../columns.ts";
import { ahs } from "./schema.ts";

/** A block of the chain that this database last followed: another hash at that height means another chain. */
export const chainMark = ahs.table("chain_mark", {
  chainId: integer().primaryKey(),
  blockNumber: bigint({ mode: "number" }).notNull(),
  blockHash: hash().notNull(),
  /** Changes whenever everything derived from the chain was thrown away and is built anew. */
  generation: text().notNull(),
  updatedAt: timestamp({ withTimezone: true }).notNull().defaultNow(),
});
