import type { Recovery } from "./open-recovery.ts";
import type { RecoveryNode } from "./recovery-node.ts";
import type { UnsignedTransaction } from "./unsigned-transaction.ts";

/** Every rehearsal that finds a fault is followed by a plan without it, until this many were made. */
export const MAX_REHEARSALS = 4;

/**
 * Simulates transactions of the wallet one after the other at the block of the recovery: for each why it fails then, null
 * where it passes; null where the node cannot do that. A lone one was simulated before it was planned. Throws a NodeFailure.
 */
export async function rehearseInOrder(
  node: RecoveryNode,
  { wallet, block }: Pick<Recovery, "wallet" | "block">,
  transactions: readonly UnsignedTransaction[],
): Promise<readonly (string | null)[] | null> {
  if (transactions.length < 2) return transactions.map(() => null);
  return node.rehearse(
    transactions.map(({ to, data, value, gas }) => ({ from: wallet, to, data, value, gas })),
    block,
  );
}
