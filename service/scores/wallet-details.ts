import type { Address } from "viem";
import { type Database, rowsInTime } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { type ScoreTrend, type StoredScore, trendQuery } from "./scores.ts";
import { MOST_CALLS } from "./wallet-activity.ts";

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
    const rows = await rowsInTime<DetailRow>(db, {
      name: "wallet_details",
      text: DETAILS,
      values: [chainId, wanted.map(({ address }) => address), wanted.map(({ scoreId }) => scoreId)],
    });
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

type DetailRow = ScoreTrend &
  Pick<StoredScore, "d1Score" | "d2Score"> &
  Pick<WalletDetails, "calls"> & {
    /** Null without a score, as are the patterns. */
    readonly features: StoredScore["features"] | null;
    readonly patterns: StoredScore["patterns"] | null;
    /** Unix seconds. */
    readonly lastSeconds: number | null;
  };

/** Own calls are counted in their primary key alone. */
const DETAILS = `
  select made.features, made.patterns, made.d1_score as "d1Score", made.d2_score as "d2Score", trend.points, trend.change,
    (select count(*)::int from (
       select from ahs.own_call where chain_id = $1 and wallet = wanted.wallet limit ${MOST_CALLS}
     ) as counted) as calls,
    (select timestamp::float8 from ahs.own_call where chain_id = $1 and wallet = wanted.wallet
     order by block desc, transaction_index desc, position desc limit 1) as "lastSeconds"
  from unnest($2::text[], $3::bigint[]) with ordinality as wanted (wallet, score_id, place)
  left join ahs.score as made on made.id = wanted.score_id
  cross join lateral (${trendQuery({ wallet: "wanted.wallet", since: "made.as_of_time - interval '30 days'" })}) as trend
  order by wanted.place`;
