import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { verdictEvaluatorAbi } from "../../chain/abi/verdict-evaluator.ts";
import { type VerdictMessage, verdictMessage } from "../../chain/verdict-codec.ts";
import { enqueueTransaction } from "../../sender/sender-transactions.ts";
import type { NewSettlement } from "./settlements.ts";
import { DECISION_CODES } from "./types.ts";

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

/**
 * Queues the relayer's transaction that brings a signed verdict to its evaluator, and answers its id; each attempt with each
 * signature is one of its own.
 */
export async function queueVerdict(
  tx: NodePgDatabase,
  relayer: Address,
  of: { readonly id: number; readonly attempt: number; readonly settlement: NewSettlement },
): Promise<number> {
  const { settlement } = of;
  const functionName = settlement.decision === "HOLD" ? "hold" : "settle";
  const message = messageOf(settlement);
  return enqueueTransaction(tx, {
    chainId: settlement.chainId,
    sender: relayer,
    reference: `verdict:${of.id}:${settlement.issuedAt}:${of.attempt}`,
    purpose: functionName,
    // Typed when it was signed; text columns forget it.
    to: settlement.evaluator as Address,
    data: encodeFunctionData({
      abi: verdictEvaluatorAbi,
      functionName,
      args: [message.escrow, message.jobId, message, settlement.signature as Hex],
    }),
    value: 0n,
  });
}
