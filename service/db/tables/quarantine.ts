import { integer, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import type { QuarantineKind } from "../quarantine.ts";
import { ahs } from "./schema.ts";

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
