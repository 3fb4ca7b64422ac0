import {
  type CachedHistory,
  edgeTimestamp,
  type HistoryFailure,
  type HistoryRequest,
  historyFailure,
  type NumberedCall,
  type PageRequest,
  type SourcePage,
  type SourceRow,
} from "./history.ts";

/** fromBlock: the first block that is not known yet; zero to go back as far as the edge. */
export type WalkRequest = HistoryRequest & { readonly fromBlock: number };

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

/** Pages read so far, as one list from newer to older blocks. */
type WalkState = {
  readonly kind: "walking";
  readonly pages: number;
  /** Pages that own calls took. */
  readonly ownPages: number;
  readonly rows: readonly SourceRow[];
};

/** What a walk found: the own calls of a range of blocks that ends with the as-of block. */
export type Walk = Omit<CachedHistory, "kind" | "asOf"> & { readonly kind: "walked" };

export const startOfWalk: WalkState = { kind: "walking", pages: 0, ownPages: 0, rows: [] };

/** The question for the next page. */
export function nextPage({ pages, rows }: WalkState, { wallet, fromBlock, asOf }: WalkRequest): PageRequest {
  const oldest = rows.at(-1);
  const firstOfBlock = rows.findLastIndex(({ blockNumber }) => blockNumber !== oldest?.blockNumber) + 1;
  return {
    wallet,
    fromBlock,
    toBlock: asOf.blockNumber,
    pagesBefore: pages,
    rowsBefore: rows.length,
    oldestBlock: oldest?.blockNumber ?? null,
    oldestHashes: rows.slice(firstOfBlock).map(({ hash }) => hash),
  };
}

/** Adds a page: the walk goes on, is over, or fails since the page contradicts the others or others' transactions crowd it. */
export function addPage(
  state: WalkState,
  page: SourcePage,
  { request, limits }: { readonly request: WalkRequest; readonly limits: WalkLimits },
): WalkState | Walk | HistoryFailure {
  if (page.rows.length === 0 && !page.last) {
    return historyFailure("inconsistent", "an empty page before the last one");
  }
  const fault = faultOf(state, page, request);
  if (fault !== null) return historyFailure("inconsistent", fault);
  const rows = [...state.rows, ...page.rows];
  const edge = firstBeyond(rows, request);
  if (edge !== undefined) return walked(rows, edge, { request, limited: false });
  const oldest = rows.at(-1);
  if (page.last || oldest === undefined) {
    const { fromBlock } = request;
    return inOrder({ kind: "walked", calls: ownOf(rows), fromBlock, fromTimestamp: 0, limited: false });
  }
  const ownPages = state.ownPages + ownOf(page.rows).length / page.rows.length;
  const own = ownOf(rows).length;
  if (ownPages >= limits.maxPages || own >= limits.maxTransactions) {
    return walked(rows, oldest, { request, limited: true });
  }
  const pages = state.pages + 1;
  const isCrowded =
    pages >= OTHERS_FACTOR * limits.maxPages || rows.length - own >= OTHERS_FACTOR * limits.maxTransactions;
  if (!isCrowded) return { kind: "walking", pages, ownPages, rows };
  // A history that others can cut short must not be scored: it would be theirs, not the wallet's.
  const detail = `${own} own calls among the newest ${rows.length} transactions`;
  return { ...historyFailure("crowded", detail), retryAfterSeconds: CROWDED_SECONDS };
}

/** What is wrong with a page after those before it; null if nothing is. */
function faultOf({ rows }: WalkState, page: SourcePage, { asOf }: WalkRequest): string | null {
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
export function isAfter(newer: NumberedCall, older: NumberedCall): boolean {
  return newer.nonce > older.nonce && newestFirst(newer, older) < 0;
}

function newestFirst({ call: a }: NumberedCall, { call: b }: NumberedCall): number {
  return b.blockNumber - a.blockNumber || b.transactionIndex - a.transactionIndex;
}

function ownOf(rows: readonly SourceRow[]): NumberedCall[] {
  return rows.flatMap(({ own }) => (own === null ? [] : [own]));
}
