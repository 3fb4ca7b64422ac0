import type { AsOf } from "../../model/features/types.ts";
import {
  type CachedHistory,
  edgeTimestamp,
  type HistoryFailure,
  type HistoryRequest,
  type HistorySource,
  historyFailure,
  missesCalls,
  type NumberedCall,
  type PageRequest,
  planHistory,
  type SourcePage,
  type SourceRow,
} from "./history.ts";

/** Of what the wallet itself did; what others sent it counts towards a bound ten times as wide. */
export type WalkLimits = {
  /** Pages that its own calls would fill alone: of a page that they share with others, their share counts. */
  readonly maxPages: number;
  readonly maxTransactions: number;
};

/** Any account may send to a wallet: so many times the limits may be read to find own calls among such transactions. */
const OTHERS_FACTOR = 10;
/** Asked again sooner, the same pages would be read again. */
const CROWDED_SECONDS = 600;

type ReadHistory = { source: HistorySource; limits: WalkLimits; signal: AbortSignal };

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

/** fromBlock: the first block that is not known yet; zero to go back as far as the edge. */
type WalkRequest = HistoryRequest & { readonly fromBlock: number };

/** Result of a walk: the own calls of a range of blocks that ends with the as-of block. */
type Walk = Omit<CachedHistory, "kind" | "asOf"> & { readonly kind: "walked" };

/**
 * Reads pages until the edge, the first wanted block, the end of the chain or a limit of own calls. Fails if a page contradicts
 * the request or the pages before it, or if transactions of others have used up the pages that may be read.
 */
async function walkSource(
  request: WalkRequest,
  { source, limits, signal }: ReadHistory,
): Promise<Walk | HistoryFailure> {
  let rows: readonly SourceRow[] = [];
  let ownPages = 0;
  for (let pages = 1; ; pages += 1) {
    const page = await source.readPage(pageRequest(rows, pages - 1, request), signal);
    if (page.kind === "failed") return page;
    const fault = faultOf(rows, page, request.asOf);
    if (fault !== null) return historyFailure("inconsistent", fault);
    rows = [...rows, ...page.rows];
    const edge = firstBeyond(rows, request);
    if (edge !== undefined) return walked(rows, edge, { request, limited: false });
    const oldest = rows.at(-1);
    if (page.last || oldest === undefined) {
      const { fromBlock } = request;
      return inOrder({ kind: "walked", calls: ownOf(rows), fromBlock, fromTimestamp: 0, limited: false });
    }
    ownPages += ownOf(page.rows).length / page.rows.length;
    const own = ownOf(rows).length;
    if (ownPages >= limits.maxPages || own >= limits.maxTransactions)
      return walked(rows, oldest, { request, limited: true });
    const isCrowded =
      pages >= OTHERS_FACTOR * limits.maxPages || rows.length - own >= OTHERS_FACTOR * limits.maxTransactions;
    if (!isCrowded) continue;
    // A history that others can cut short must not be scored: it would be theirs, not the wallet's.
    const detail = `${own} own calls among the newest ${rows.length} transactions`;
    return { ...historyFailure("crowded", detail), retryAfterSeconds: CROWDED_SECONDS };
  }
}

function pageRequest(
  rows: readonly SourceRow[],
  pagesBefore: number,
  { wallet, fromBlock, asOf }: WalkRequest,
): PageRequest {
  const oldest = rows.at(-1);
  const firstOfBlock = rows.findLastIndex(({ blockNumber }) => blockNumber !== oldest?.blockNumber) + 1;
  return {
    wallet,
    fromBlock,
    toBlock: asOf.blockNumber,
    pagesBefore,
    rowsBefore: rows.length,
    oldestBlock: oldest?.blockNumber ?? null,
    oldestHashes: rows.slice(firstOfBlock).map(({ hash }) => hash),
  };
}

/** Names the fault of a page after those before it; null without one. */
function faultOf(rows: readonly SourceRow[], page: SourcePage, asOf: AsOf): string | null {
  if (page.rows.length === 0 && !page.last) return "an empty page before the last one";
  const seen = new Set(rows.map(({ hash }) => hash));
  let newer = rows.at(-1);
  for (const row of page.rows) {
    if (row.blockNumber > asOf.blockNumber) return "a transaction after the last block asked for";
    if (seen.has(row.hash)) return "a transaction twice";
    if (newer !== undefined && !mayFollow(newer, row)) return "transactions out of order";
    seen.add(row.hash);
    newer = row;
  }
  return null;
}

/** Blocks go down, time goes not up, and one block has one time. */
function mayFollow(newer: SourceRow, older: SourceRow): boolean {
  if (newer.blockNumber === older.blockNumber) return newer.timestamp === older.timestamp;
  return newer.blockNumber > older.blockNumber && newer.timestamp >= older.timestamp;
}

/** The newest row that is not wanted any more. */
function firstBeyond(rows: readonly SourceRow[], { edge, fromBlock }: WalkRequest): SourceRow | undefined {
  const newest = ownOf(rows).sort(newestFirst)[0];
  const since = edgeTimestamp(edge, newest);
  return rows.find(({ blockNumber, timestamp }) => blockNumber < fromBlock || timestamp < since);
}

/** Everything after the block of the cut, which may not have been read whole. */
function walked(
  rows: readonly SourceRow[],
  cut: SourceRow,
  { request, limited }: { readonly request: WalkRequest; readonly limited: boolean },
): Walk | HistoryFailure {
  const fromBlock = Math.max(request.fromBlock, cut.blockNumber + 1);
  const calls = ownOf(rows.filter(({ blockNumber }) => blockNumber >= fromBlock));
  return inOrder({ kind: "walked", calls, fromBlock, fromTimestamp: cut.timestamp + 1, limited });
}

/** A later call of an account has a higher nonce, and nothing else mined in its place. */
function inOrder(walk: Walk): Walk | HistoryFailure {
  const calls = [...walk.calls].sort(newestFirst);
  const isOrdered = calls.every((newer, at) => {
    const older = calls[at + 1];
    return older === undefined || isAfter(newer, older);
  });
  return isOrdered ? { ...walk, calls } : historyFailure("inconsistent", "nonces out of order");
}

/** Whether an own call may come after another one: at a later place of the chain, with a higher nonce. */
function isAfter(newer: NumberedCall, older: NumberedCall): boolean {
  return newer.nonce > older.nonce && newestFirst(newer, older) < 0;
}

function newestFirst({ call: a }: NumberedCall, { call: b }: NumberedCall): number {
  return b.blockNumber - a.blockNumber || b.transactionIndex - a.transactionIndex;
}

function ownOf(rows: readonly SourceRow[]): NumberedCall[] {
  return rows.flatMap(({ own }) => (own === null ? [] : [own]));
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
  const [oldestNew, newestCached] = [calls.at(-1), cached.calls[0]];
  if (oldestNew !== undefined && newestCached !== undefined && !isAfter(oldestNew, newestCached)) {
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
