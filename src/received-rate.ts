import type { ReceivedBound } from "../service/chain/deployments.ts";

/** About a day of an OP-stack chain: tokens and routers receive many times as many, an agent's wallet some hundreds at most. */
export const RECEIVED_BOUND: ReceivedBound = { transactions: 20_000, blocks: 43_200 };

/** Columns of a wallet's row that count received transactions. */
type ReceivedCount = {
  readonly receivedWindow: bigint | null;
  readonly received: number;
  readonly busyUntil: bigint | null;
};

/**
 * Counts one more transaction to a wallet: the row's new values, null where it counts no further in this window, and whether
 * the transaction is stored. A wallet without own calls that went over the bound stores none until a whole window stays below.
 */
export function countReceived(
  wallet: ReceivedCount & { readonly ownCalls: number },
  blockNumber: bigint,
  bound: ReceivedBound,
): { readonly count: ReceivedCount | null; readonly isStored: boolean } {
  const blocks = BigInt(bound.blocks);
  const receivedWindow = blockNumber / blocks;
  const before = wallet.receivedWindow === receivedWindow ? wallet.received : 0;
  if (before > bound.transactions) return { count: null, isStored: false };
  const received = before + 1;
  const isOver = received > bound.transactions;
  const busyUntil = isOver ? (receivedWindow + 2n) * blocks - 1n : wallet.busyUntil;
  const isBusy = wallet.ownCalls === 0 && busyUntil !== null && blockNumber <= busyUntil;
  return { count: { receivedWindow, received, busyUntil }, isStored: !isOver && !isBusy };
}
