import type { Hex } from "viem";
import type { AskNode } from "./ask-node.ts";
import { NodeFailure } from "./ask-node.ts";
import type { SentCall } from "./failed-calls.ts";
import { countAnswer, fullBlockAnswer } from "./node-answers.ts";

/** A transaction as a node has it. */
export type MinedTransaction = Pick<SentCall, "hash" | "to" | "nonce" | "input" | "value"> & {
  /** Lower-case. */
  readonly from: string;
  /** Null while it is pending. */
  readonly block: number | null;
};

const transactionAnswer = fullBlockAnswer.shape.transactions.element
  .extend({ blockNumber: countAnswer.nullish() })
  .nullable();

/** Asks by hash; null for one that the node does not know, or does not keep any more. Throws a NodeFailure without an answer. */
export async function readTransaction(ask: AskNode, hash: Hex): Promise<MinedTransaction | null> {
  const answer = await ask(transactionAnswer, "eth_getTransactionByHash", [hash]);
  if (answer.kind === "refused" || answer.value === null) return null;
  const { to, blockNumber, ...same } = answer.value;
  if (same.hash !== hash)
    throw new NodeFailure("garbage", `transaction ${same.hash} came instead of ${hash}`);
  return { ...same, to: to ?? null, block: blockNumber ?? null };
}
