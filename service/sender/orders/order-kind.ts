import type { Backoff } from "../../db/run-loop.ts";
import { senderTransaction } from "../../db/tables/publish.ts";
import type { SenderTransaction } from "../sender-transactions.ts";

const { id, state, final, minedBlock, minedHash, failure, error, revertData, updatedAt } = senderTransaction;
/** Columns of a sender transaction that orders are settled by. */
export const orderColumns = {
  id,
  state,
  final,
  minedBlock,
  minedHash,
  failure,
  error,
  revertData,
  updatedAt,
};

export type OrderTransaction = Pick<
  SenderTransaction,
  "state" | "final" | "minedBlock" | "failure" | "revertData"
>;

/** View of one order: its transaction, and its effect as the chain shows it. */
export type Evidence = {
  /** Newest transaction; null if none was queued. */
  readonly transaction: OrderTransaction | null;
  /** Attempts that came to nothing before this transaction. */
  readonly failures: number;
  /** done: the chain shows the effect as deep as the kind asks for. soon: it shows it, and a reorg may still undo it. */
  readonly shown?: "done" | "soon" | null;
  /** Fact of the chain by which no further attempt can succeed. */
  readonly ended?: string | null;
  /** True while no attempt may be queued. */
  readonly isHeld?: boolean;
  /** True for an order that counts as done and that a reorg may reopen. */
  readonly isDone?: boolean;
};

/** Why an attempt came to nothing. */
export type Failure = {
  /** reverted: in a block. lost: final, without the event. Otherwise the sender's kind of failure. */
  readonly kind: string;
  readonly cause: string;
  readonly revertData: string | null;
};

export type Step =
  | { readonly kind: "wait" }
  | { readonly kind: "done" | "reopen" }
  /** No further attempt is made. */
  | { readonly kind: "end"; readonly cause: string; readonly failure: Failure | null }
  /** The next attempt is due at `at`. The failure is null if there was no attempt yet. */
  | { readonly kind: "again"; readonly at: Date; readonly failure: Failure | null };

/** A kind of decision that becomes a transaction of ours. `Row` is its stored form. */
export type OrderKind<Row, Seen extends Evidence = Evidence> = {
  /** Proof that an order is done: a transaction in the newest block, one in a final block, or an event that the index shows. */
  readonly done: "newest block" | "final block" | "indexed event";
  /** True if a second transaction has no effect after the first: then a revert counts in the newest block already. */
  readonly isRepeatable: boolean;
  /** First and longest pause between two attempts. */
  readonly retryMs: Backoff | ((failure: Failure, row: Row) => Backoff);
  /** Failures that end the order. All others are tried again until the deadline. */
  readonly isForGood?: (failure: Failure, row: Row) => boolean;
  /** Moment after which a failure ends the order. */
  readonly deadlineOf?: (row: Row) => Date;
  /** Moment of a failure by which the pause is counted, for rows that store no next attempt; default: now. */
  readonly failedAt?: (row: Row) => Date | null;
  readonly look: (row: Row) => Seen | Promise<Seen>;
};
