import { integer, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { ahs } from "./schema.ts";

/**
 * Each of wallets. score: scoring, by day and by night. root: the leaf in the night's root. publish: whether the newest score is
 * worth publishing. history: what a history source is still to tell.
 */
export const QUARANTINE_KINDS = ["score", "root", "publish", "history"] as const;

export type QuarantineKind = (typeof QUARANTINE_KINDS)[number];

/** Items of which the work threw while that on others went well: they are left out until `nextTryAt`. */
export const quarantine = ahs.table(
  "quarantine",
  {
    chainId: integer().notNull(),
    kind: text().$type<QuarantineKind>().notNull(),
    /** A wallet, or the id of what the kind works on. */
    subject: text().notNull(),
    /** What was thrown last, without values of rows. */
    error: text().notNull(),
    /** In a row. */
    failures: integer().notNull(),
    firstFailedAt: timestamp({ withTimezone: true }).notNull(),
    nextTryAt: timestamp({ withTimezone: true }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.kind, table.subject] })],
);
