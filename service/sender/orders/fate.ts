import { isHex } from "viem";
import { readRevert } from "../../chain/revert-reason.ts";
import { pauseAfter } from "../../db/run-loop.ts";
import type { Evidence, Failure, OrderKind, OrderTransaction, Step } from "./order-kind.ts";

/** Fate of a queued call, by its row alone. */
export type CallFate =
  /** It is under way, or in a block that is not final. */
  | { readonly kind: "open" }
  /** It is in a final block, and did not revert. */
  | { readonly kind: "mined" }
  /** The called contract reverts it, by a final block or by two simulations, or the sender must not send it. */
  | { readonly kind: "refused"; readonly failure: Failure }
  /** It was not sent for another reason: the same call may succeed later. */
  | { readonly kind: "undone"; readonly failure: Failure };

/** Failures by which a call is refused. All other failures say nothing about the call. */
const REFUSALS: ReadonlySet<string | null> = new Set(["reverted_in_simulation", "refused", "forbidden"]);

/** The one judgement of a call by the state of its row. */
export function fateOfCall({
  state,
  final,
  failure,
  revertData,
}: Omit<OrderTransaction, "minedBlock">): CallFate {
  switch (state) {
    case "queued":
    case "prepared":
    case "broadcast":
      return { kind: "open" };
    case "mined":
      return { kind: final ? "mined" : "open" };
    case "reverted":
      return final
        ? { kind: "refused", failure: { kind: "reverted", cause: "reverted in a block", revertData: null } }
        : { kind: "open" };
    case "failed": {
      const { reason } = readRevert(isHex(revertData) ? revertData : null);
      const kind = failure ?? "unknown";
      return {
        kind: REFUSALS.has(failure) ? "refused" : "undone",
        failure: { kind, cause: reason ?? kind, revertData },
      };
    }
  }
}

type Moment = {
  readonly now: Date;
  /** Block up to which the index has followed the chain. */
  readonly indexedBlock: number;
};

/**
 * The one policy of all orders: what the chain shows comes first, the transaction counts where the chain is silent, and an attempt that
 * came to nothing is made again, unless the kind names its failure as final or the deadline is over.
 */
export function stepOf<Row>(
  kind: Omit<OrderKind<Row>, "look">,
  { row, seen }: { readonly row: Row; readonly seen: Evidence },
  moment: Moment,
): Step {
  const { transaction, failures, shown = null, ended = null, isDone = false, isHeld = false } = seen;
  if (shown === "done") return { kind: isDone ? "wait" : "done" };
  if (shown === "soon") return { kind: "wait" };
  if (ended !== null) return { kind: "end", cause: ended, failure: null };
  if (transaction === null)
    return isHeld ? { kind: "wait" } : { kind: "again", at: moment.now, failure: null };
  const fate = fateOfAttempt(kind, transaction, moment.indexedBlock);
  if (fate === "open") return { kind: isDone ? "reopen" : "wait" };
  if (fate === "done") return { kind: isDone ? "wait" : "done" };
  const since = kind.failedAt?.(row) ?? moment.now;
  const step = stepAfter(kind, { row, failures, failure: fate }, since);
  // A row that stores no next attempt waits here for it.
  const isPaused = (at: Date) => isHeld || (kind.failedAt !== undefined && at > moment.now);
  return step.kind === "again" && isPaused(step.at) ? { kind: "wait" } : step;
}

/** Fate of a transaction as deep as its kind asks for, where the chain does not show its effect. */
export function fateOfAttempt(
  { done, isRepeatable }: Pick<OrderKind<never>, "done" | "isRepeatable">,
  transaction: OrderTransaction,
  indexedBlock: number,
): "open" | "done" | Failure {
  const { state, minedBlock } = transaction;
  const counts =
    transaction.final ||
    (state === "mined" && done === "newest block") ||
    (state === "reverted" && isRepeatable);
  const fate = fateOfCall({ ...transaction, final: counts });
  if (fate.kind === "open") return "open";
  if (fate.kind !== "mined") return fate.failure;
  if (done !== "indexed event") return "done";
  // The index lags, or shows no event up to the block.
  if (minedBlock === null || indexedBlock < minedBlock) return "open";
  return { kind: "lost", cause: `the index shows nothing of it in block ${minedBlock}`, revertData: null };
}

/** Step after an attempt that came to nothing at a moment, also one that ended before a transaction was queued. */
export function stepAfter<Row>(
  kind: Omit<OrderKind<Row>, "look">,
  { row, failures, failure }: { readonly row: Row; readonly failures: number; readonly failure: Failure },
  at: Date,
): Extract<Step, { readonly kind: "end" | "again" }> {
  const deadline = kind.deadlineOf?.(row);
  if (kind.isForGood?.(failure, row) === true || (deadline !== undefined && at >= deadline))
    return { kind: "end", cause: failure.cause, failure };
  const pauses = typeof kind.retryMs === "function" ? kind.retryMs(failure, row) : kind.retryMs;
  return { kind: "again", at: new Date(at.getTime() + pauseAfter(failures, pauses)), failure };
}
