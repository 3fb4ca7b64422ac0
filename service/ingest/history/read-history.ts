import type { AsOf } from "../../model/features/types.ts";
import {
  type CachedHistory,
  type HistoryFailure,
  type HistoryRequest,
  type HistorySource,
  historyFailure,
  missesCalls,
  planHistory,
} from "./history.ts";
import {
  addPage,
  isAfter,
  nextPage,
  startOfWalk,
  type Walk,
  type WalkLimits,
  type WalkRequest,
} from "./walk-pages.ts";

type ReadHistory = {
  readonly source: HistorySource;
  readonly limits: WalkLimits;
  readonly signal: AbortSignal;
};

/** Reads what a request needs beyond the cached history and joins the two. Fails if own calls are missing from the report. */
export async function readHistory(
  cached: CachedHistory | null,
  request: HistoryRequest,
  reading: ReadHistory,
): Promise<CachedHistory | HistoryFailure> {
  const { source, limits, signal } = reading;
  const behind = await source.checkReach(request.asOf, signal);
  if (behind !== null) return behind;
  const base = await revalidate(cached, request, reading);
  if (base?.kind === "failed") return base;
  const fromBlock = base === null ? 0 : base.asOf.blockNumber + 1;
  const walk = await walkSource({ ...request, fromBlock }, reading);
  if (walk.kind === "failed") return walk;
  const joined = joinHistory(base, walk, { asOf: request.asOf, maxCalls: limits.maxTransactions });
  return joined.kind === "failed" ? joined : checkNonces(joined, request, reading);
}

/** The history, unless calls are missing from it that no code of the account explains. */
async function checkNonces(
  history: CachedHistory,
  account: HistoryRequest,
  { source, signal }: ReadHistory,
): Promise<CachedHistory | HistoryFailure> {
  const sent = await source.countSent(account, signal);
  if ("kind" in sent) return sent;
  if (!missesCalls(history, sent.count)) return history;
  const code = await source.checkCode(account, signal);
  if ("kind" in code) return code;
  return code.hasCode ? history : historyFailure("inconsistent", "own calls are missing, by their nonces");
}

/** The cached history if it is to be extended and its last block is still the source's. */
async function revalidate(
  cached: CachedHistory | null,
  request: HistoryRequest,
  { source, signal }: ReadHistory,
): Promise<CachedHistory | HistoryFailure | null> {
  if (cached === null || planHistory(cached, request) !== "extend") return null;
  const failure = await source.checkReach(cached.asOf, signal);
  if (failure === null) return cached;
  return failure.reason === "inconsistent" || failure.reason === "behind" ? null : failure;
}

async function walkSource(
  request: WalkRequest,
  { source, limits, signal }: ReadHistory,
): Promise<Walk | HistoryFailure> {
  let state = startOfWalk;
  for (;;) {
    const page = await source.readPage(nextPage(state, request), signal);
    if (page.kind === "failed") return page;
    const step = addPage(state, page, { request, limits });
    if (step.kind !== "walking") return step;
    state = step;
  }
}

/** A walk, with the cached history behind it where it reaches that: the newest calls. Fails where the two contradict each other. */
function joinHistory(
  cached: CachedHistory | null,
  walk: Walk,
  { asOf, maxCalls }: { readonly asOf: AsOf; readonly maxCalls: number },
): CachedHistory | HistoryFailure {
  const { calls, fromBlock, fromTimestamp, limited } = walk;
  if (cached === null || fromBlock > cached.asOf.blockNumber + 1) {
    return bounded({ kind: "cached", calls, fromBlock, fromTimestamp, limited, asOf }, maxCalls);
  }
  const [oldestNew, newestKept] = [calls.at(-1), cached.calls[0]];
  if (oldestNew !== undefined && newestKept !== undefined && !isAfter(oldestNew, newestKept)) {
    return historyFailure("inconsistent", "new calls do not follow those read before");
  }
  return bounded({ ...cached, calls: [...calls, ...cached.calls], asOf }, maxCalls);
}

function bounded(history: CachedHistory, maxCalls: number): CachedHistory {
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
