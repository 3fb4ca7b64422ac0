import { type HistoryRequest, type KeptHistory, missesCalls, planHistory } from "./history.ts";
import { type HistoryFailure, type HistorySource, historyFailure } from "./history-source.ts";
import { joinHistory } from "./join-history.ts";
import {
  addPage,
  nextPage,
  startOfWalk,
  type Walk,
  type WalkLimits,
  type WalkRequest,
} from "./walk-pages.ts";

export type ReadHistory = {
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
