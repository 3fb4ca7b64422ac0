import type { AsOf } from "../../model/features/types.ts";
import {
  type HistoryFailure,
  type HistoryRequest,
  type HistorySource,
  historyFailure,
  type KeptHistory,
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

/**
 * Reads what a request needs beyond the kept history and joins the two; a kept history of a chain that the source does not
 * know any more is read anew. Fails where own calls are missing from what the source told.
 */
export async function readHistory(
  kept: KeptHistory | null,
  request: HistoryRequest,
  reading: ReadHistory,
): Promise<KeptHistory | HistoryFailure> {
  const { source, limits, signal } = reading;
  const behind = await source.checkReach(request.asOf, signal);
  if (behind !== null) return behind;
  const base = await stillTrue(kept, request, reading);
  if (base?.kind === "failed") return base;
  const fromBlock = base === null ? 0 : base.asOf.blockNumber + 1;
  const walk = await walkSource({ ...request, fromBlock }, reading);
  if (walk.kind === "failed") return walk;
  const joined = joinHistory(base, walk, { asOf: request.asOf, maxCalls: limits.maxTransactions });
  return joined.kind === "failed" ? joined : believed(joined, request, reading);
}

/** The history, unless calls are missing from it that no code of the account explains. */
async function believed(
  history: KeptHistory,
  account: HistoryRequest,
  { source, signal }: ReadHistory,
): Promise<KeptHistory | HistoryFailure> {
  const sent = await source.countSent(account, signal);
  if ("kind" in sent) return sent;
  if (!missesCalls(history, sent.count)) return history;
  const code = await source.checkCode(account, signal);
  if ("kind" in code) return code;
  return code.hasCode ? history : historyFailure("inconsistent", "own calls are missing, by their nonces");
}

/** The kept history if it is to be extended and its last block is still the source's. */
async function stillTrue(
  kept: KeptHistory | null,
  request: HistoryRequest,
  { source, signal }: ReadHistory,
): Promise<KeptHistory | HistoryFailure | null> {
  if (kept === null || planHistory(kept, request) !== "extend") return null;
  const failure = await source.checkReach(kept.asOf, signal);
  if (failure === null) return kept;
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

/**
 * A walk, with the kept history behind it where it reaches that; failing where the two contradict each other. At most so
 * many calls are held, the newest.
 */
function joinHistory(
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
