import type { Address } from "viem";
import { createLotQueue, type Lot, type LotQueue, type Taken } from "./pnl-lots.ts";

/** Lots of one token that left for nothing, kept for their return by where they went. */
export type Deposits = {
  put(contract: Address, taken: Taken): void;
  /** What of an amount comes back from there, at the cost that it left with, the oldest first; `uncovered` is new. */
  takeBack(contract: Address, amount: bigint): Taken;
};

/** Deposits before there is one. */
export function openDeposits(): Deposits {
  const byContract = new Map<Address, LotQueue>();
  return {
    put(contract, { parts, uncovered }) {
      const queue = byContract.get(contract) ?? createLotQueue();
      byContract.set(contract, queue);
      // What was never known to come has no known cost when it comes back.
      const unknown: readonly Lot[] = uncovered === 0n ? [] : [{ amount: uncovered, cost: null }];
      for (const lot of [...parts, ...unknown]) queue.add(lot);
    },
    takeBack: (contract, amount) =>
      byContract.get(contract)?.take(amount) ?? { parts: [], uncovered: amount },
  };
}
