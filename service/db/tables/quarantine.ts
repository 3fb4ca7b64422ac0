import { integer, primaryKey, text } from "drizzle-orm/pg-core";
import { hash, int8, moment } from "../columns.ts";
import { ahs } from "./schema.ts";

/**
 * Each of wallets, but feedback, which is of agents. score: scoring, by day and by night. root: the leaf in the night's root. publish: whether the newest score is
 * worth publishing. history: a history that a source has not reported yet. backing: what it spent and was paid.
 * feedback: what the reputation registry refuses.
 */
export const QUARANTINE_KINDS = [
  "score",
  "root",
  "publish",
  "history",
  "backing",
  "warm",
  "feedback",
] as const;

export type QuarantineKind = (typeof QUARANTINE_KINDS)[number];

/** Items of which the work threw while that on others went well: they are left out until `nextTryAt`. */
export const quarantine = ahs.table(
  "quarantine",
  {
    chainId: integer().notNull(),
    kind: text().$type<QuarantineKind>().notNull(),
    /** A wallet, or the id of what the kind works on. */
    subject: text().notNull(),
    /** The error thrown last, without values of rows. */
    error: text().notNull(),
    failures: integer().notNull(),
    firstFailedAt: moment().notNull(),
    nextTryAt: moment().notNull(),
  },
  (table) => [primaryKey({ columns: [table.chainId, table.kind, table.subject] })],
);

/** A block of the chain that this database last followed: another hash at that height means another chain. */
export const chainMark = ahs.table("chain_mark", {
  chainId: integer().primaryKey(),
  blockNumber: int8().notNull(),
  blockHash: hash().notNull(),
  /** Changes whenever everything derived from the chain was thrown away and is built anew. */
  generation: text().notNull(),
  updatedAt: moment().notNull().defaultNow(),
});
