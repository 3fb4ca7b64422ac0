import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import type { ScoreTrend, StoredScore } from "./stored-score.ts";
import { type DetailRow, walletDetails } from "./wallet-details.sql.ts";

/** Facts about a wallet beside its snapshot. */
export type WalletDetails = {
  /** How its score was made; null without a score. */
  readonly score: Pick<StoredScore, "d1Score" | "d2Score" | "features" | "patterns"> | null;
  /** Of the 30 days before that score. */
  readonly trend: ScoreTrend;
  /** Own calls of any age, `MOST_CALLS` at most. */
  readonly calls: number;
  /** Null without an own call. */
  readonly lastCallAt: Date | null;
};

/** A wallet (lower-case), and the row of its score in the history; null without a score. */
type Wanted = { readonly address: Address; readonly scoreId: number | null };

/** Anyone may ask, and a busy wallet takes some 20 ms: two statements at once, whatever the number of requests. */
const BATCH = { maxSize: 20, maxRunning: 2 };

/** Reads the details of a wallet. */
export function createDetailReader(
  db: Database,
  chainId: number,
): (wanted: Wanted) => Promise<WalletDetails> {
  return loadInBatches(async (wanted: readonly Wanted[]) => {
    const addresses = wanted.map(({ address }) => address);
    const scoreIds = wanted.map(({ scoreId }) => scoreId);
    const rows = await rowsInTime<DetailRow>(db, walletDetails(chainId, { addresses, scoreIds }));
    return rows.map(detailsOf);
  }, BATCH);
}

function detailsOf({ features, patterns, d1Score, d2Score, ...row }: DetailRow): WalletDetails {
  return {
    score: features === null || patterns === null ? null : { d1Score, d2Score, features, patterns },
    trend: { points: row.points, change: row.change },
    calls: row.calls,
    lastCallAt: row.lastSeconds === null ? null : new Date(row.lastSeconds * 1_000),
  };
}
