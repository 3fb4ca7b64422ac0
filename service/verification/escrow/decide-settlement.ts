import { isHex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { decodeError } from "../../chain/bounded-abi.ts";
import { readRevert } from "../../chain/revert-reason.ts";
import { pauseAfter } from "../../sender/send-policy.ts";
import type { IndexedEnd, IndexedVerdict } from "./escrow-jobs.ts";
import type { OpenSettlement, SettlementCarrier } from "./settlements.ts";

/** What the index shows of a signed verdict, and how far it can be believed. */
export type SettlementSight = {
  /** The evaluator's event of this very verdict; null where there is none. */
  readonly event: IndexedVerdict | null;
  /** How its job ended, by this verdict or otherwise; null while it has not. */
  readonly end: Pick<IndexedEnd, "status" | "block"> | null;
  readonly indexedBlock: bigint;
  /** Newest indexed block that cannot be reorged; its time in Unix seconds. */
  readonly final: { readonly number: bigint; readonly timestamp: bigint };
  /** What changed of the escrow's code since it was reviewed: nothing more is sent then. Null where nothing did. */
  readonly codeChange: string | null;
  readonly now: Date;
};

/** What to do about a signed verdict. */
export type SettlementStep =
  | { readonly kind: "wait" }
  | { readonly kind: "confirm"; readonly event: IndexedVerdict }
  /** Queue it anew, its last transaction having come to nothing. */
  | { readonly kind: "send"; readonly cause: string | null }
  | { readonly kind: "refuse"; readonly reason: string }
  | { readonly kind: "expire"; readonly reason: string };

/** Pauses between two transactions of one verdict, from the first failure to the longest. */
const RETRY_MS = { first: 3_000, longest: 600_000 };
/**
 * What becomes of a signed verdict, whoever brought it to the evaluator: its event in a final block confirms it; else its job or
 * its deadline may have ended; else its transaction is waited for, and repeated until the deadline when it came to nothing.
 */
export function decideSettlement(
  settlement: Pick<OpenSettlement, "deadline" | "attempts" | "carrier">,
  sight: SettlementSight,
): SettlementStep {
  const { event, end, final } = sight;
  if (event !== null) return event.block <= final.number ? { kind: "confirm", event } : { kind: "wait" };
  if (end !== null && end.block <= final.number) {
    const reason = `the job has ended otherwise: ${end.status} in block ${end.block}`;
    return { kind: end.status === "Expired" ? "expire" : "refuse", reason };
  }
  if (final.timestamp > BigInt(settlement.deadline))
    return { kind: "expire", reason: "nobody could bring it to the evaluator before its deadline" };
  const step = stepOfCarrier(settlement, sight);
  return step.kind === "send" && sight.codeChange !== null ? { kind: "wait" } : step;
}

function stepOfCarrier(
  { attempts, carrier }: Pick<OpenSettlement, "attempts" | "carrier">,
  { indexedBlock, now }: SettlementSight,
): SettlementStep {
  if (carrier === null) return { kind: "send", cause: null };
  switch (carrier.state) {
    case "queued":
    case "prepared":
    case "broadcast":
      return { kind: "wait" };
    case "mined": {
      // Not final and not shown: the index lags, or a reorg took it out and the sender brings it back.
      const isLost =
        carrier.final && carrier.minedBlock !== null && indexedBlock >= BigInt(carrier.minedBlock);
      return isLost
        ? { kind: "send", cause: "its transaction is final without its event" }
        : { kind: "wait" };
    }
    case "failed":
    case "reverted": {
      const refusal = readRefusal(carrier);
      if (refusal.isForGood) return { kind: "refuse", reason: refusal.cause };
      const dueAt = carrier.updatedAt.getTime() + pauseAfter(Math.max(0, attempts - 1), RETRY_MS);
      return now.getTime() < dueAt ? { kind: "wait" } : { kind: "send", cause: refusal.cause };
    }
  }
}

/** Errors of the evaluator that no waiting changes: what was signed is not what it takes. */
const FOR_GOOD: ReadonlySet<string> = new Set([
  "OtherEvaluator",
  "OtherJob",
  "WrongDecision",
  "DeadlineTooLate",
  "JobOver",
  "HoldNotNewer",
]);

const OF_EVALUATOR: ReadonlySet<string> = new Set(
  verdictEvaluatorAbi.flatMap((item) => (item.type === "error" ? [item.name] : [])),
);

/** Why a transaction of a signed verdict came to nothing. */
type Refusal = { readonly cause: string; readonly isForGood: boolean };

/** Reads why a transaction failed or reverted: by the error that the call reverted with, else by the sender's words. */
export function readRefusal(
  carrier: Pick<SettlementCarrier, "state" | "failure" | "error" | "revertData">,
): Refusal {
  if (carrier.state === "reverted")
    return { cause: "its transaction was mined and reverted", isForGood: false };
  const cause = carrier.error ?? carrier.failure ?? "its transaction failed";
  if (!isHex(carrier.revertData)) return { cause, isForGood: false };
  const name = decodeError(verdictEvaluatorAbi, carrier.revertData)?.errorName;
  if (name !== undefined && OF_EVALUATOR.has(name))
    return { cause: `the evaluator refuses it: ${name}`, isForGood: FOR_GOOD.has(name) };
  // Any other error is the escrow's, a token's or a hook's, which may pass.
  const { reason } = readRevert(carrier.revertData);
  return { cause: reason === null ? cause : `the escrow refuses it: ${reason}`, isForGood: false };
}
