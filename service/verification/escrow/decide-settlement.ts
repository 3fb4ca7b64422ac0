import { isHex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { decodeError } from "../../chain/bounded-abi.ts";
import { readRevert } from "../../chain/revert-reason.ts";
import type { Evidence, OrderKind } from "../../sender/orders/order-kind.ts";
import type { IndexedJob, IndexedVerdict } from "./escrow-jobs.ts";
import type { OpenSettlement, SettlementTransaction } from "./settlements.ts";

/** Snapshot of a signed verdict in the index. */
export type SettlementSnapshot = {
  /** The evaluator's event of this verdict; null without one. */
  readonly event: IndexedVerdict | null;
  /** How its job ended, by this verdict or otherwise; null before its end. */
  readonly end: IndexedJob["end"];
  /** Newest final block of the index; its time in Unix seconds. */
  readonly final: { readonly number: bigint; readonly timestamp: bigint };
  /** Change of the escrow's code since its review, which stops sending; null without one. */
  readonly codeChange: string | null;
};

/**
 * Verdicts on their way to the evaluator. It takes each once. No failure ends one: escrow, token and hook can revert with the errors of the
 * evaluator.
 */
export const VERDICTS: Omit<OrderKind<Pick<OpenSettlement, "transaction">>, "look"> = {
  done: "indexed event",
  isRepeatable: true,
  retryMs: { first: 3_000, longest: 600_000 },
  failedAt: ({ transaction }) => transaction?.updatedAt ?? null,
};

/**
 * Evidence of a signed verdict. Its event in a final block confirms it, even if another account sent it. The end of its job in a final
 * block, and its deadline, end it for good; `endsAs` is its state then.
 */
export function lookAtSettlement(
  { deadline, attempts, transaction }: Pick<OpenSettlement, "deadline" | "attempts" | "transaction">,
  { event, end, final, codeChange }: SettlementSnapshot,
) {
  const isOver = end !== null && end.block <= final.number;
  const isLate = final.timestamp > BigInt(deadline);
  const late = isLate ? "it could not reach the evaluator before its deadline" : null;
  return {
    transaction,
    failures: Math.max(0, attempts - 1),
    shown: event === null ? null : event.block <= final.number ? "done" : "soon",
    ended: isOver ? `the job has ended otherwise: ${end.status} in block ${end.block}` : late,
    isHeld: codeChange !== null,
    event,
    endsAs: !isOver || end.status === "Expired" ? "expired" : "refused",
  } satisfies Evidence & { readonly event: IndexedVerdict | null; readonly endsAs: "expired" | "refused" };
}

const OF_EVALUATOR: ReadonlySet<string> = new Set(
  verdictEvaluatorAbi.flatMap((item) => (item.type === "error" ? [item.name] : [])),
);

/** Returns why a transaction failed or reverted: by the revert error, otherwise by the sender's message. */
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
