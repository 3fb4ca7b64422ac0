import { boolean, date, index, integer, primaryKey, text } from "drizzle-orm/pg-core";
import type { SanctionsFlag } from "../../model/features/types.ts";
import { address, hash, int8, moment } from "../columns.ts";
import { ahs } from "./schema.ts";

/** State of the sanctions lists that are not events of the chain. */
export const sanctionsSource = ahs.table("sanctions_source", {
  source: text().$type<SanctionsFlag["source"]>().primaryKey(),
  /** keccak256 of the canonical list. */
  listHash: hash().notNull(),
  entries: integer().notNull(),
  /** The list's own date or version; null where it has none. */
  edition: text(),
  checkedAt: moment().notNull(),
  changedAt: moment().notNull(),
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
    detectedAt: moment().notNull(),
  },
  (table) => [primaryKey({ columns: [table.source, table.address] })],
);

/** Answers of isSanctioned() for wallets that may have been listed before the index begins. */
export const sanctionsReading = ahs.table(
  "sanctions_reading",
  {
    chainId: integer().notNull(),
    address: address().notNull(),
    listed: boolean().notNull(),
    block: int8().notNull(),
    readAt: moment().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.address] })],
);

/** Kinds of lists of threats. */
export const THREAT_KINDS = ["phishing", "scam", "mixer", "exploit"] as const;

/** Lists of threats that the operator imported; they change no score. */
export const threatList = ahs.table("threat_list", {
  name: text().primaryKey(),
  kind: text({ enum: THREAT_KINDS }).notNull(),
  /** Where the list comes from, a URL mostly. */
  source: text().notNull(),
  /** The licence under which it may be used, as the importer read it. */
  licence: text().notNull(),
  /** The list's own date. */
  listDate: date().notNull(),
  entries: integer().notNull(),
  importedAt: moment().notNull(),
});

/** Addresses of lists of threats, lower-case. */
export const threatEntry = ahs.table(
  "threat_entry",
  {
    address: address().notNull(),
    list: text()
      .notNull()
      .references(() => threatList.name, { onDelete: "cascade" }),
    /** When an import first showed it there. */
    listedAt: moment().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.address, table.list] }),
    index("threat_entry_list").on(table.list),
  ],
);
