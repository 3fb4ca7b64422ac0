import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { verdictEvaluatorAbi } from "../chain/abi/verdict-evaluator.ts";
import { type VerdictMessage, verdictMessage } from "../chain/verdict-codec.ts";
import { enqueueTransaction } from "../store/sender-transactions.ts";
import type { NewSettlement } from "../store/settlements.ts";
import { DECISION_CODES } from "./types.ts";

/** Where signed verdicts go, and by whose transactions. */
export type RelayTarget = {
  readonly chainId: number;
  readonly evaluator: Address;
  readonly relayer: Address;
};

/** The struct of a signed verdict, or of one to be signed; throws on a value that no evaluator would take. */
export function messageOf(settlement: Omit<NewSettlement, "signature">): VerdictMessage {
  return verdictMessage({
    // Typed when they were read; text columns forget it.
    escrow: settlement.escrow as Address,
    jobId: settlement.jobId,
    deliverable: settlement.deliverable as Hex,
    specHash: settlement.specHash as Hex,
    decision: DECISION_CODES[settlement.decision],
    score: settlement.score,
    confidenceBps: settlement.confidenceBps,
    evidenceHash: settlement.evidenceHash as Hex,
    issuedAt: BigInt(settlement.issuedAt),
    deadline: BigInt(settlement.deadline),
  });
}

/** Queues the transaction that brings a signed verdict to the evaluator, and answers its id; each attempt is one of its own. */
export async function queueVerdict(
  tx: NodePgDatabase,
  target: RelayTarget,
  of: { readonly id: number; readonly attempt: number; readonly settlement: NewSettlement },
): Promise<number> {
  const { settlement } = of;
  const functionName = settlement.decision === "HOLD" ? "hold" : "settle";
  const message = messageOf(settlement);
  return enqueueTransaction(tx, {
    chainId: target.chainId,
    sender: target.relayer,
    reference: `verdict:${of.id}:${of.attempt}`,
    purpose: functionName,
    to: target.evaluator,
    data: encodeFunctionData({
      abi: verdictEvaluatorAbi,
      functionName,
      args: [message.escrow, message.jobId, message, settlement.signature as Hex],
    }),
    value: 0n,
  });
}
