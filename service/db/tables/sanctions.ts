import { bigint, boolean, integer, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import type { SanctionsFlag } from "../../model/features/types.ts";
import { address } from "../columns.ts";
import { ahs } from "./schema.ts";

/** State of the sanctions lists that are not events of the chain. */
export const sanctionsSource = ahs.table("sanctions_source", {
  source: text().$type<SanctionsFlag["source"]>().primaryKey(),
  /** keccak256 of the canonical list. */
  listHash: text().notNull(),
  entries: integer().notNull(),
  /** The list's own date or version; null where it has none. */
  edition: text(),
  /** When the source last answered. */
  checkedAt: timestamp({ withTimezone: true }).notNull(),
  /** When what it says last changed. */
  changedAt: timestamp({ withTimezone: true }).notNull(),
});

/** Entries of imported lists; addresses are lower-case. */
export const sanctionsEntry = ahs.table(
  "sanctions_entry",
  {
    source: text().$type<SanctionsFlag["source"]>().notNull(),
    address: address().notNull(),
    /** The list's own entry, an OFAC unique id for instance. */
    reference: text().notNull(),
    /** When an import first showed it. */
    detectedAt: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.address] })],
);

/** What isSanctioned() answered for wallets that may have been listed before the index begins. */
export const sanctionsReading = ahs.table(
  "sanctions_reading",
  {
    chainId: integer().notNull(),
    address: address().notNull(),
    listed: boolean().notNull(),
    /** Block at which it was asked. */
    block: bigint({ mode: "number" }).notNull(),
    readAt: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);
