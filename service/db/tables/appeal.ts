import { sql } from "drizzle-orm";
import { index, integer, text, uuid } from "drizzle-orm/pg-core";
import { idOf, moment } from "../columns.ts";
import { ahs } from "./schema.ts";
import { verdict } from "./verdict.ts";

/**
 * window: it may be appealed until appealBy. unsettled: the price of one appeal is reserved and may be released. open: it is
 * paid, and the second panel judges. upheld, overturned, held: the second panel decided the same, the opposite, or HOLD, which leaves the
 * first decision valid. failed: it made no decision in time, and the first decision is valid. The price goes back if the appeal was
 * overturned or failed.
 */
export type AppealState = "window" | "unsettled" | "open" | "upheld" | "overturned" | "held" | "failed";

/** Party that appealed. submitter: neither client nor provider of the job. */
export type Appellant = "client" | "provider" | "submitter";

/** The one time in which a decision on a bound job may be appealed, with its appeal. Written before the decision is signed. */
export const appeal = ahs.table(
  "appeal",
  {
    verdictId: idOf(() => verdict.id).primaryKey(),
    chainId: integer().notNull(),
    /** The decision that may be appealed, by its row of verdict_run. */
    run: integer().notNull(),
    appealBy: moment().notNull(),
    /** When an appeal without a decision fails, so that time is left to settle the job. */
    decideBy: moment().notNull(),
    /** Price in thousandths of a US dollar. */
    units: integer().notNull(),
    state: text().$type<AppealState>().notNull(),
    /** All of these are null without an appeal. */
    appellant: text().$type<Appellant>(),
    /** Payer of the price: key:ID or wallet:ADDRESS. */
    owner: text(),
    /** Its payment: a debit of a metered key, a payment, or neither for an unlimited key. */
    debitId: uuid(),
    paymentId: uuid(),
    /** Until then only its request decides about an unsettled appeal. */
    leaseUntil: moment(),
    openedAt: moment(),
    endedAt: moment(),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
  },
  (table) => [
    index("appeal_unsettled").on(table.leaseUntil).where(sql`${table.state} = 'unsettled'`),
    index("appeal_open").on(table.decideBy).where(sql`${table.state} = 'open'`),
    index("appeal_ended").on(table.chainId, table.endedAt).where(sql`${table.endedAt} is not null`),
  ],
);
