import type { Address } from "viem";
import type { KeptHistory } from "./history.ts";

export type KeptHistories = {
  /** Null where none is kept. */
  readonly get: (wallet: Address) => KeptHistory | null;
  readonly set: (wallet: Address, history: KeptHistory) => void;
};

/** A history weighs at least this many calls, so that empty ones are not kept without end. */
const LEAST_WEIGHT = 10;

/** Keeps histories in memory up to a number of calls in all, forgetting those unused for longest. */
export function keepNewest(maxCalls: number): KeptHistories {
  /** In the order of their last use. */
  const histories = new Map<Address, KeptHistory>();
  let weight = 0;
  const remove = (wallet: Address): KeptHistory | null => {
    const history = histories.get(wallet);
    if (history === undefined) return null;
    histories.delete(wallet);
    weight -= weightOf(history);
    return history;
  };
  const add = (wallet: Address, history: KeptHistory): void => {
    histories.set(wallet, history);
    weight += weightOf(history);
  };
  return {
    get: (wallet) => {
      const history = remove(wallet);
      if (history !== null) add(wallet, history);
      return history;
    },
    set: (wallet, history) => {
      remove(wallet);
      add(wallet, history);
      for (const [oldest] of histories) {
        if (weight <= maxCalls || oldest === wallet) break;
        remove(oldest);
      }
    },
  };
}

function weightOf({ calls }: KeptHistory): number {
  return Math.max(LEAST_WEIGHT, calls.length);
}
