import { isHex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { decodeError } from "../../chain/bounded-abi.ts";
import { readRevert } from "../../chain/revert-reason.ts";
import { pauseAfter } from "../../db/run-loop.ts";
import type { IndexedJob, IndexedVerdict } from "./escrow-jobs.ts";
import type { OpenSettlement, SettlementTransaction } from "./settlements.ts";

/** Snapshot of a signed verdict in the index. */
export type SettlementSnapshot = {
  /** The evaluator's event of this verdict; null without one. */
  readonly event: IndexedVerdict | null;
  /** How its job ended, by this verdict or otherwise; null before its end. */
  readonly end: IndexedJob["end"];
  readonly indexedBlock: bigint;
  /** Newest final block of the index; its time in Unix seconds. */
  readonly final: { readonly number: bigint; readonly timestamp: bigint };
  /** Change of the escrow's code since its review, which stops sending; null without one. */
  readonly codeChange: string | null;
  readonly now: Date;
};

export type SettlementStep =
  | { readonly kind: "wait" }
  | { readonly kind: "confirm"; readonly event: IndexedVerdict }
  /** Queue it again after its last transaction failed. */
  | { readonly kind: "send"; readonly cause: string | null }
  | { readonly kind: "refuse"; readonly reason: string }
  | { readonly kind: "expire"; readonly reason: string };

/** Shortest and longest pause between two transactions of a verdict. */
const RETRY_MS = { first: 3_000, longest: 600_000 };

/**
 * Decides the next step of a signed verdict. Its event in a final block confirms it, even if another account sent it. The end of its job in a
 * final block, and its deadline, end it for good. Until then it waits for its transaction, and sends it again after every failure.
 */
export function decideSettlement(
  settlement: Pick<OpenSettlement, "deadline" | "attempts" | "transaction">,
  snapshot: SettlementSnapshot,
): SettlementStep {
  const { event, end, final } = snapshot;
  if (event !== null) return event.block <= final.number ? { kind: "confirm", event } : { kind: "wait" };
  if (end !== null && end.block <= final.number) {
    const reason = `the job has ended otherwise: ${end.status} in block ${end.block}`;
    return { kind: end.status === "Expired" ? "expire" : "refuse", reason };
  }
  if (final.timestamp > BigInt(settlement.deadline))
    return { kind: "expire", reason: "it could not reach the evaluator before its deadline" };
  const step = stepOfTransaction(settlement, snapshot);
  return step.kind === "send" && snapshot.codeChange !== null ? { kind: "wait" } : step;
}

function stepOfTransaction(
  { attempts, transaction }: Pick<OpenSettlement, "attempts" | "transaction">,
  { indexedBlock, now }: SettlementSnapshot,
): SettlementStep {
  if (transaction === null) return { kind: "send", cause: null };
  switch (transaction.state) {
    case "queued":
    case "prepared":
    case "broadcast":
      return { kind: "wait" };
    case "mined": {
      // Not final and without an event: the index lags, or a reorg removed it and the sender sends it again.
      const isLost =
        transaction.final &&
        transaction.minedBlock !== null &&
        indexedBlock >= BigInt(transaction.minedBlock);
      return isLost
        ? { kind: "send", cause: "its transaction is final without its event" }
        : { kind: "wait" };
    }
    case "failed":
    case "reverted": {
      const dueAt = transaction.updatedAt.getTime() + pauseAfter(Math.max(0, attempts - 1), RETRY_MS);
      return now.getTime() < dueAt ? { kind: "wait" } : { kind: "send", cause: describeFailure(transaction) };
    }
  }
}

const OF_EVALUATOR: ReadonlySet<string> = new Set(
  verdictEvaluatorAbi.flatMap((item) => (item.type === "error" ? [item.name] : [])),
);

/**
 * Returns why a transaction failed or reverted: by the revert error, otherwise by the sender's message. It ends no settlement: escrow,
 * token and hook can revert with the errors of the evaluator.
 */
export function describeFailure(
  transaction: Pick<SettlementTransaction, "state" | "failure" | "error" | "revertData">,
): string {
  if (transaction.state === "reverted") return "its transaction was mined and reverted";
  const cause = transaction.error ?? transaction.failure ?? "its transaction failed";
  if (!isHex(transaction.revertData)) return cause;
  const name = decodeError(verdictEvaluatorAbi, transaction.revertData)?.errorName;
  if (name !== undefined && OF_EVALUATOR.has(name)) return `its call reverts with ${name}`;
  const { reason } = readRevert(transaction.revertData);
  return reason === null ? cause : `the escrow refuses it: ${reason}`;
}
