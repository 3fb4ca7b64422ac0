import { jsonb, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { address } from "../columns.ts";
import { ahs } from "./schema.ts";

/** What a label provider says of an account. */
export type ProvidedLabel = { readonly label: string; readonly category: string | null };

/** Answers of label providers, so that each account is asked about once a day. */
export const walletLabel = ahs.table(
  "wallet_label",
  {
    provider: text().notNull(),
    /** Lower-case. */
    address: address().notNull(),
    labels: jsonb().$type<readonly ProvidedLabel[]>().notNull(),
    readAt: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.address] })],
);
