/**
 * Reads of wallets by key that a request waits for: rows "read: GET /ahs/route/{address}" and "read: GET /ahs/{address}" of
 * bench/results.md.
 */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { indexOf } from "../db/index-tables.ts";
import { prepared, preparedByChain } from "../db/statement.ts";
import { asOfSql } from "../ingest/read-as-of.sql.ts";
import { FLAGS_COLUMNS, sanctionsFlagsJoin } from "../sanctions/sanctions.sql.ts";

type Wanted = { readonly addresses: readonly string[] };

const ADDRESSES = sql`unnest(${sql.placeholder("addresses")}::text[]) as wanted (address)`;

/** Each wallet with the head of the index, its flags, its threats and its newest score. */
export const walletSnapshots = preparedByChain<Wanted>("wallet_snapshots", (chainId) => {
  const { block, wallet } = indexOf(chainId);
  return sql`
    select wanted.address, head.*, ${wallet.address} is not null as followed, ${FLAGS_COLUMNS}, threat.threats,
      current.score_id::float8 as "scoreId", current.as_of_block::float8 as "asOfBlock",
      current.ahs_score as "ahsScore", current.grade, current.confidence_micros as "confidenceMicros",
      current.confidence_level as "confidenceLevel", current.as_of_time as "asOfTime"
    from ${ADDRESSES}
    left join (
      select ${block.number}::float8 as "blockNumber", ${block.timestamp}::float8 as timestamp
      from ${block} order by ${block.number} desc limit 1
    ) as head on true
    left join ahs.current_score as current on current.chain_id = ${chainId} and current.wallet = wanted.address
    left join ${wallet} on ${wallet.address} = wanted.address
    ${sanctionsFlagsJoin(chainId, sql`wanted.address`)}
    left join lateral (
      select json_agg(json_build_object(
        'list', list.name, 'kind', list.kind, 'source', list.source,
        'listed_at', to_char(entry.listed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      ) order by list.name collate "C") as threats
      from ahs.threat_entry entry join ahs.threat_list list on list.name = entry.list
      where entry.address = wanted.address
    ) as threat on true`;
});

/** Whether each wallet is known at the newest finalized and enriched block. */
export const knownAtFinal = preparedByChain<Wanted>("wallet_at_final", (chainId) => {
  const { wallet } = indexOf(chainId);
  return sql`
    select wanted.address, case
      when as_of.number is null then 'no-block'
      when ${wallet.followedBlock} <= as_of.number or stored.from_block <= as_of.number then 'known'
      else 'unknown' end as status
    from ${ADDRESSES}
    left join (${asOfSql(chainId)}) as as_of (number, hash, timestamp) on true
    left join ${wallet} on ${wallet.address} = wanted.address
    left join ahs.stored_history as stored on stored.chain_id = ${chainId} and stored.wallet = wanted.address`;
});

/**
 * A `ScoreTrend` of a wallet since a moment. It counts one score per UTC day: the number of requests changes nothing, nor does a listing
 * that was withdrawn.
 */
export function trendQuery(of: {
  readonly chainId: SQLWrapper;
  readonly wallet: SQLWrapper;
  readonly since: SQLWrapper;
}): SQL {
  return sql`
    select count(*)::float8 as points, regr_slope(ahs_score, seconds) * (max(seconds) - min(seconds)) as change
    from (
      select distinct on (as_of_time::date) ahs_score, extract(epoch from as_of_time)::float8 as seconds
      from ahs.score
      where chain_id = ${of.chainId} and wallet = ${of.wallet} and as_of_time >= ${of.since} and ahs_score is not null and not sanctioned
      order by as_of_time::date, as_of_block desc, id desc
    ) as scored`;
}

export const scoreTrend = prepared<{ chainId: number; address: string; since: Date }>(
  "score_trend",
  trendQuery({
    chainId: sql`${sql.placeholder("chainId")}`,
    wallet: sql`${sql.placeholder("address")}`,
    since: sql`${sql.placeholder("since")}`,
  }),
);
