import type { AsOf } from "../../model/features/types.ts";
import type { KeptHistory } from "./history.ts";
import { type HistoryFailure, historyFailure } from "./history-source.ts";
import { isAfter, type Walk } from "./walk-pages.ts";

/**
 * A walk, with the kept history behind it where it reaches that; failing where the two contradict each other. At most so
 * many calls are held, the newest.
 */
export function joinHistory(
  kept: KeptHistory | null,
  walk: Walk,
  { asOf, maxCalls }: { readonly asOf: AsOf; readonly maxCalls: number },
): KeptHistory | HistoryFailure {
  const { calls, fromBlock, fromTimestamp, limited } = walk;
  if (kept === null || fromBlock > kept.asOf.blockNumber + 1) {
    return bounded({ kind: "kept", calls, fromBlock, fromTimestamp, limited, asOf }, maxCalls);
  }
  const [oldestNew, newestKept] = [calls.at(-1), kept.calls[0]];
  if (oldestNew !== undefined && newestKept !== undefined && !isAfter(oldestNew, newestKept)) {
    return historyFailure("inconsistent", "new calls do not follow those read before");
  }
  return bounded({ ...kept, calls: [...calls, ...kept.calls], asOf }, maxCalls);
}

function bounded(history: KeptHistory, maxCalls: number): KeptHistory {
  const first = history.calls[maxCalls];
  if (first === undefined) return history;
  // The block of the first call that is left out may have more of them.
  const { blockNumber, timestamp } = first.call;
  return {
    ...history,
    calls: history.calls.filter(({ call }) => call.blockNumber > blockNumber),
    fromBlock: blockNumber + 1,
    fromTimestamp: timestamp + 1,
    limited: true,
  };
}
