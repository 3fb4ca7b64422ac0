import { jsonb, primaryKey, text } from "drizzle-orm/pg-core";
import { address, moment } from "../columns.ts";
import { ahs } from "./schema.ts";

/** A label provider's label of an account. */
export type ProvidedLabel = { readonly label: string; readonly category: string | null };

/** Answers of label providers, so that each account is asked about once a day. */
export const walletLabel = ahs.table(
  "wallet_label",
  {
    provider: text().notNull(),
    address: address().notNull(),
    labels: jsonb().$type<readonly ProvidedLabel[]>().notNull(),
    readAt: moment().notNull(),
  },
  (table) => [primaryKey({ columns: [table.provider, table.address] })],
);
