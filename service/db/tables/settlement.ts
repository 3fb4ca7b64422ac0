import { sql } from "drizzle-orm";
import { index, integer, text, uniqueIndex } from "drizzle-orm/pg-core";
import { address, hash, hex, idOf, int8, moment, rowId, uint, unixSeconds } from "../columns.ts";
import { ahs } from "./schema.ts";
import { verdict } from "./verdict.ts";

/**
 * signed: queued with the sender of the relayer's key. confirmed: the evaluator's own event says so in a final block. refused: the
 * escrow or the evaluator will never take it. expired: its job or its signature ran out first.
 */
export type SettlementState = "signed" | "confirmed" | "refused" | "expired";

/** Every verdict that we signed for a job's escrow; of those that end a job, one a job. Signed anew it stays the same row. */
export const settlement = ahs.table(
  "settlement",
  {
    id: rowId(),
    chainId: integer().notNull(),
    escrow: address().notNull(),
    jobId: uint().notNull(),
    verdictId: idOf(() => verdict.id).notNull(),
    run: integer().notNull(),
    decision: text().$type<"ALLOW" | "HOLD" | "REJECT">().notNull(),
    deliverable: hash().notNull(),
    specHash: hash().notNull(),
    score: integer().notNull(),
    confidenceBps: integer().notNull(),
    evidenceHash: hash().notNull(),
    issuedAt: unixSeconds().notNull(),
    deadline: unixSeconds().notNull(),
    /** The contract that it was signed for, in lower case. */
    evaluator: address().notNull(),
    signer: address().notNull(),
    signature: hex().notNull(),
    state: text().$type<SettlementState>().notNull(),
    senderTransactionId: int8(),
    attempts: integer().notNull().default(0),
    /** The transaction whose event confirmed it. */
    transactionHash: hash(),
    error: text(),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
  },
  (table) => [
    uniqueIndex("settlement_terminal")
      .on(table.chainId, table.escrow, table.jobId)
      .where(sql`${table.decision} <> 'HOLD'`),
    uniqueIndex("settlement_run").on(table.verdictId, table.run),
    index("settlement_open").on(table.chainId, table.id).where(sql`${table.state} = 'signed'`),
  ],
);

/**
 * The newest decision on a bound job until it is signed, and why it is not, as it was found last. The row is the queue as well: it is
 * written with the decision, and goes when that is signed.
 */
export const settlementCheck = ahs.table(
  "settlement_check",
  {
    verdictId: idOf(() => verdict.id, { onDelete: "cascade" }).primaryKey(),
    chainId: integer().notNull(),
    /** The decision that was processed, by its row of verdict_run. */
    run: integer().notNull(),
    /** The settlement's status in GET /v1/verdicts/{verdict_id}. */
    status: text().notNull(),
    /** Null before it was processed. */
    reason: text(),
    attempts: integer().notNull().default(0),
    /** When it is processed again; null where that decision can never be signed. */
    notBefore: moment(),
    checkedAt: moment().notNull(),
  },
  (table) => [
    index("settlement_check_due")
      .on(table.chainId, table.notBefore)
      .where(sql`${table.notBefore} is not null`),
  ],
);

/** Progress of a held job's clock; one row for each job that was held. */
export const holdClock = ahs.table(
  "hold_clock",
  {
    verdictId: idOf(() => verdict.id).primaryKey(),
    chainId: integer().notNull(),
    expiresAt: moment().notNull(),
    /** From when on nothing decides the job any more; null where that is once its refund is claimed. */
    endsAt: moment(),
    /** When a re-run is asked for next; null where no more is. */
    rerunAt: moment(),
    /** When a reviewer is asked to decide at the latest. */
    reviewBy: moment().notNull(),
    /** Null until it happened. */
    rerunAskedAt: moment(),
    reviewNotifiedAt: moment(),
    expiredOnHoldAt: moment(),
    /** When its job was seen to have ended, on HOLD or otherwise; null while it runs. */
    endedAt: moment(),
    createdAt: moment().notNull(),
  },
  (table) => [index("hold_clock_chain").on(table.chainId)],
);
