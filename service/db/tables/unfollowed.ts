import { integer, primaryKey, timestamp } from "drizzle-orm/pg-core";
import { address } from "../columns.ts";
import { ahs } from "./schema.ts";

/** Addresses that the operator does not want followed, whatever names them on the chain. */
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
