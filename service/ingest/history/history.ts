import type { Address } from "viem";
import type { AsOf, OwnCall } from "../../model/features/types.ts";
import type { NumberedCall } from "./history-source.ts";

/** How far back a history must go: to a moment, or so long before the wallet's newest own call. */
export type HistoryEdge =
  | { readonly kind: "since" /** Unix seconds. */; readonly timestamp: number }
  | { readonly kind: "before_last_call"; readonly seconds: number };

export type HistoryRequest = {
  /** Lower-case. */
  readonly wallet: Address;
  /** A finalized block: what is kept up to it is never asked for again. */
  readonly asOf: AsOf;
  readonly edge: HistoryEdge;
};

/** What a source has told of a wallet: all of its own calls in a range of blocks. */
export type KeptHistory = {
  readonly kind: "kept";
  /** Newest first. */
  readonly calls: readonly NumberedCall[];
  /** Zero where it reaches back to the beginning of the chain. */
  readonly fromBlock: number;
  /** No own call at or after this time, up to asOf, is missing from the range. Unix seconds. */
  readonly fromTimestamp: number;
  readonly asOf: AsOf;
  /** Whether a limit, and not the edge, ended the search. */
  readonly limited: boolean;
};

type HistoryCoverage = {
  readonly fromBlock: number;
  /** Unix seconds. */
  readonly fromTimestamp: number;
  readonly toBlock: number;
  /** Whether every own call from the edge to toBlock is there: no limit was hit, and no nonce is missing. */
  readonly complete: boolean;
  readonly source: string;
};

export type History = {
  readonly kind: "found";
  /** Own calls from the edge on, failed ones too, newest first. */
  readonly calls: readonly OwnCall[];
  readonly coverage: HistoryCoverage;
};

/** Unix seconds of the edge; the beginning of the chain while no own call is known to count from. */
export function edgeTimestamp(edge: HistoryEdge, newest: NumberedCall | undefined): number {
  switch (edge.kind) {
    case "since":
      return edge.timestamp;
    case "before_last_call":
      return newest === undefined ? 0 : newest.call.timestamp - edge.seconds;
  }
}

/** The part of a kept history up to a block that it reaches. */
function upTo(kept: KeptHistory, asOf: AsOf): KeptHistory {
  return { ...kept, asOf, calls: kept.calls.filter(({ call }) => call.blockNumber <= asOf.blockNumber) };
}

/** What is to be read for a request: nothing, the blocks after the kept ones, or everything. */
export type HistoryPlan = "answer" | "extend" | "read";

/** Decides what is to be read; a kept history of another chain, or one that was not read deep enough, is of no use. */
export function planHistory(kept: KeptHistory | null, { asOf, edge }: HistoryRequest): HistoryPlan {
  if (kept === null) return "read";
  if (kept.asOf.blockNumber > asOf.blockNumber && kept.fromBlock > asOf.blockNumber) return "read";
  if (kept.asOf.blockNumber === asOf.blockNumber && kept.asOf.blockHash !== asOf.blockHash) return "read";
  const { calls } = upTo(kept, asOf);
  if (kept.fromTimestamp > edgeTimestamp(edge, calls[0]) && !kept.limited) return "read";
  return kept.asOf.blockNumber >= asOf.blockNumber ? "answer" : "extend";
}

/** The answer that a kept history gives to a request that it reaches. */
export function answerFrom(kept: KeptHistory, { asOf, edge }: HistoryRequest, source: string): History {
  const known = upTo(kept, asOf);
  const since = edgeTimestamp(edge, known.calls[0]);
  const inside = known.calls.filter(({ call }) => call.timestamp >= since);
  const next = known.calls[inside.length];
  const isWhole = known.fromBlock === 0 && next === undefined;
  return {
    kind: "found",
    calls: inside.map(({ call }) => call),
    coverage: {
      fromBlock: next === undefined ? known.fromBlock : next.call.blockNumber + 1,
      fromTimestamp: Math.max(known.fromTimestamp, since),
      toBlock: asOf.blockNumber,
      complete: known.fromTimestamp <= Math.max(since, 0) && hasEveryNonce(inside, isWhole),
      source,
    },
  };
}

/** Whether a source that told this has kept own calls from us, by their nonces and, where it is known, by their number. */
export function missesCalls(kept: KeptHistory, sent: number | null): boolean {
  const isWhole = kept.fromBlock === 0;
  const [newest] = kept.calls;
  if (!hasEveryNonce(kept.calls, isWhole)) return true;
  if (sent === null) return false;
  return newest === undefined ? isWhole && sent > 0 : newest.nonce + 1 !== sent;
}

/**
 * Whether the nonces run on without a gap, down to 0 where the history reaches the beginning. An account with code
 * may have gaps of its own making; nothing tells them from missing calls.
 */
function hasEveryNonce(calls: readonly NumberedCall[], isWhole: boolean): boolean {
  const isUnbroken = calls.every(({ nonce }, at) => {
    const older = calls[at + 1];
    return older === undefined || older.nonce === nonce - 1;
  });
  const oldest = calls.at(-1);
  return isUnbroken && (!isWhole || oldest === undefined || oldest.nonce === 0);
}
