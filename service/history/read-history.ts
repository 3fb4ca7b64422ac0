import { type HistoryRequest, type KeptHistory, planHistory } from "./history.ts";
import type { HistoryFailure, HistorySource } from "./history-source.ts";
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
 * know any more is read anew.
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
  return joinHistory(base, walk, { asOf: request.asOf, maxCalls: limits.maxTransactions });
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
