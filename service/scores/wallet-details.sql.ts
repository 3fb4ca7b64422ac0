/** Details of wallets by key, of which a page asks for several: the builder has no unnest of parallel arrays, and no place in it. */
import { sql } from "drizzle-orm";
import { preparedByChain } from "../db/statement.ts";
import { trendQuery } from "./scores.sql.ts";
import type { ScoreTrend, StoredScore } from "./stored-score.ts";
import { MOST_CALLS } from "./wallet-activity.ts";

export type DetailRow = ScoreTrend &
  Pick<StoredScore, "d1Score" | "d2Score"> & {
    readonly calls: number;
    /** Null without a score, as are the patterns. */
    readonly features: StoredScore["features"] | null;
    readonly patterns: StoredScore["patterns"] | null;
    /** Unix seconds. */
    readonly lastSeconds: number | null;
  };

/** In the order of the wallets, each with the row of its score. Own calls are counted in their primary key alone. */
export const walletDetails = preparedByChain<{
  readonly addresses: readonly string[];
  readonly scoreIds: readonly (number | null)[];
}>("wallet_details", (id) => {
  const chainId = sql.raw(String(id));
  const since = sql`made.as_of_time - interval '30 days'`;
  return sql`
    select made.features, made.patterns, made.d1_score as "d1Score", made.d2_score as "d2Score", trend.points, trend.change,
      (select count(*)::int from (
        select from ahs.own_call where chain_id = ${chainId} and wallet = wanted.wallet limit ${sql.raw(String(MOST_CALLS))}
      ) as counted) as calls,
      (select timestamp::float8 from ahs.own_call where chain_id = ${chainId} and wallet = wanted.wallet
        order by block desc, transaction_index desc, position desc limit 1) as "lastSeconds"
    from unnest(${sql.placeholder("addresses")}::text[], ${sql.placeholder("scoreIds")}::bigint[])
      with ordinality as wanted (wallet, score_id, place)
    left join ahs.score as made on made.id = wanted.score_id
    cross join lateral (${trendQuery({ chainId, wallet: sql`wanted.wallet`, since })}) as trend
    order by wanted.place`;
});
