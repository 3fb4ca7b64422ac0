import type { Address } from "viem";
import type { AsOf, OwnCall } from "../../model/features/types.ts";

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

/** A source's report on a wallet: all of its own calls in a range of blocks. */
export type CachedHistory = {
  readonly kind: "cached";
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

export type History = {
  readonly kind: "found";
  /** Own calls from the edge on, failed ones too, newest first. */
  readonly calls: readonly OwnCall[];
  readonly coverage: {
    readonly fromBlock: number;
    /** Unix seconds. */
    readonly fromTimestamp: number;
    readonly toBlock: number;
    /** Whether every own call from the edge to toBlock is there: no limit was hit, and no nonce is missing. */
    readonly complete: boolean;
    readonly source: string;
  };
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

function callsUpTo({ calls }: CachedHistory, asOf: AsOf): readonly NumberedCall[] {
  return calls.filter(({ call }) => call.blockNumber <= asOf.blockNumber);
}

/** Plans what to read: nothing, the blocks after the cached ones, or everything if those are of another chain or not deep enough. */
export function planHistory(
  cached: CachedHistory | null,
  { asOf, edge }: HistoryRequest,
): "answer" | "extend" | "read" {
  if (cached === null) return "read";
  if (cached.asOf.blockNumber > asOf.blockNumber && cached.fromBlock > asOf.blockNumber) return "read";
  if (cached.asOf.blockNumber === asOf.blockNumber && cached.asOf.blockHash !== asOf.blockHash) return "read";
  const [newest] = callsUpTo(cached, asOf);
  if (cached.fromTimestamp > edgeTimestamp(edge, newest) && !cached.limited) return "read";
  return cached.asOf.blockNumber >= asOf.blockNumber ? "answer" : "extend";
}

/** The answer that a kept history gives to a request that it reaches. */
export function answerFrom(cached: CachedHistory, { asOf, edge }: HistoryRequest, source: string): History {
  const known = callsUpTo(cached, asOf);
  const since = edgeTimestamp(edge, known[0]);
  const inside = known.filter(({ call }) => call.timestamp >= since);
  const next = known[inside.length];
  const isWhole = cached.fromBlock === 0 && next === undefined;
  return {
    kind: "found",
    calls: inside.map(({ call }) => call),
    coverage: {
      fromBlock: next === undefined ? cached.fromBlock : next.call.blockNumber + 1,
      fromTimestamp: Math.max(cached.fromTimestamp, since),
      toBlock: asOf.blockNumber,
      complete: cached.fromTimestamp <= Math.max(since, 0) && hasEveryNonce(inside, isWhole),
      source,
    },
  };
}

/** Whether own calls are missing from a source's report, by their nonces and, if known, by their number. */
export function missesCalls(cached: CachedHistory, sent: number | null): boolean {
  const isWhole = cached.fromBlock === 0;
  const [newest] = cached.calls;
  if (!hasEveryNonce(cached.calls, isWhole)) return true;
  if (sent === null) return false;
  return newest === undefined ? isWhole && sent > 0 : newest.nonce + 1 !== sent;
}

/** Whether the nonces run on without a gap, down to 0 for a whole history. An account with code may have gaps of its own. */
function hasEveryNonce(calls: readonly NumberedCall[], isWhole: boolean): boolean {
  const isUnbroken = calls.every(({ nonce }, at) => {
    const older = calls[at + 1];
    return older === undefined || older.nonce === nonce - 1;
  });
  const oldest = calls.at(-1);
  return isUnbroken && (!isWhole || oldest === undefined || oldest.nonce === 0);
}

/**
 * Why there is no history. `unavailable`, `timeout` and `rate_limited` may pass by themselves; `refused` needs the operator;
 * `malformed` and `inconsistent` mean that the source cannot be believed; `behind` that it does not know the block yet;
 * `busy` that too many wallets wait already; `crowded` that others' transactions hide the wallet's own.
 */
export type HistoryFailure = {
  readonly kind: "failed";
  readonly reason:
    | ("unavailable" | "timeout" | "rate_limited" | "refused" | "malformed" | "inconsistent")
    | ("behind" | "busy" | "crowded");
  /** For the log; holds no key and no URL. */
  readonly detail: string;
  /** Pause that the source asked for; null if it named none. */
  readonly retryAfterSeconds: number | null;
};

/** A call of the wallet's own, with the nonce by which a missing one is noticed. */
export type NumberedCall = { readonly nonce: number; readonly call: OwnCall };

/** A transaction that touches the wallet in any role. */
export type SourceRow = {
  readonly hash: string;
  readonly blockNumber: number;
  /** Unix seconds of its block. */
  readonly timestamp: number;
  /** Null where another account sent it. */
  readonly own: NumberedCall | null;
};

/** Progress of reading a wallet's transactions, newest first. */
export type PageRequest = {
  /** Lower-case. */
  readonly wallet: Address;
  /** Older blocks are of no use. */
  readonly fromBlock: number;
  /** Newer blocks must not be answered. */
  readonly toBlock: number;
  readonly pagesBefore: number;
  readonly rowsBefore: number;
  /** Block of the oldest row so far; null before the first. */
  readonly oldestBlock: number | null;
  /** Rows so far of that block. */
  readonly oldestHashes: readonly string[];
};

export type SourcePage = {
  readonly kind: "page";
  /** From newer to older blocks. */
  readonly rows: readonly SourceRow[];
  /** Whether nothing older is left. */
  readonly last: boolean;
};

/** Past transactions of any account, from outside our index. */
export type HistorySource = {
  /** As coverage names it. */
  readonly name: string;
  /** Whether the source knows the chain up to that block; null means yes. */
  readonly checkReach: (asOf: AsOf, signal: AbortSignal) => Promise<HistoryFailure | null>;
  readonly readPage: (request: PageRequest, signal: AbortSignal) => Promise<SourcePage | HistoryFailure>;
  /** How many transactions the wallet had sent by a block; null if the source does not know it for a past block. */
  readonly countSent: (
    account: Pick<HistoryRequest, "wallet" | "asOf">,
    signal: AbortSignal,
  ) => Promise<{ readonly count: number | null } | HistoryFailure>;
  /** Whether the account has code, its own or another's (EIP-7702): either uses up nonces without a transaction. */
  readonly checkCode: (
    account: Pick<HistoryRequest, "wallet" | "asOf">,
    signal: AbortSignal,
  ) => Promise<{ readonly hasCode: boolean } | HistoryFailure>;
};

/** A failure without a wish of the source about when to come back. */
export function historyFailure(reason: HistoryFailure["reason"], detail: string): HistoryFailure {
  return { kind: "failed", reason, detail, retryAfterSeconds: null };
}
