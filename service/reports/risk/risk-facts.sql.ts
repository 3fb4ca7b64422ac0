/** Facts of a risk answer: rows "read: GET /risk/{address}" of bench/results.md. */
import { sql } from "drizzle-orm";
import type { Address } from "viem";
import { preparedByChain } from "../../db/statement.ts";
import type { ScoreRecord } from "../../model/score/record.ts";
import { IS_LISTED, sanctionsFlagsJoin } from "../../sanctions/sanctions.sql.ts";

type Explanation = Pick<ScoreRecord, "patterns" | "features">;

export type RiskRow = {
  readonly counterparties: number;
  readonly calls: number;
  readonly sentMicroUsd: number;
  readonly listed: readonly Address[];
  readonly place: number;
  readonly followed: boolean;
  readonly asOfBlock: number | null;
  readonly since: number | null;
  readonly failingCounterparties: number;
  readonly failingSent: number;
  readonly failingUnpriced: number;
} & (Explanation | { readonly patterns: null; readonly features: null });

/**
 * One bounded index scan of the wallet's own contacts, with primary-key lookups for each. Contacts without calls and
 * payments are skipped: third parties can log them in the wallet's name.
 */
export const walletRisks = preparedByChain<{
  readonly addresses: readonly Address[];
  readonly scoreIds: readonly (number | null)[];
  readonly places: readonly number[];
  readonly mixers: readonly string[];
  readonly limit: number;
}>("wallet_risks", (chainId) => {
  const { placeholder } = sql;
  return sql`
    select wanted.place, scored.patterns, scored.features, read.wallet is not null as followed, cursor.block::float8 as "asOfBlock",
           reached.*
    from unnest(${placeholder("addresses")}::text[], ${placeholder("scoreIds")}::bigint[], ${placeholder("places")}::int[])
      as wanted (address, score_id, place)
    left join ahs.score as scored on scored.id = wanted.score_id
    left join ahs.enrich_wallet as read on read.chain_id = ${chainId} and read.wallet = wanted.address
    left join ahs.enrich_cursor as cursor on cursor.chain_id = ${chainId}
    left join lateral (
      select count(*)::float8 as counterparties, coalesce(sum(calls), 0)::float8 as calls,
             coalesce(sum(sent), 0)::float8 as "sentMicroUsd", min(first_time)::float8 as since,
             coalesce(array_agg(counterparty) filter (where kind = 'listed'), '{}') as listed,
             count(*) filter (where kind = 'failing')::float8 as "failingCounterparties",
             coalesce(sum(sent) filter (where kind = 'failing'), 0)::float8 as "failingSent",
             coalesce(sum(calls) filter (where kind = 'failing' and sent = 0), 0)::float8 as "failingUnpriced"
      from (
        select contact.*,
               case when contact.counterparty = any(${placeholder("mixers")}::text[]) or ${IS_LISTED} then 'listed'
                    when peer.grade = 'F' then 'failing' end as kind
        from (
          select counterparty, calls, sent_micro_usd as sent, first_time
          from ahs.contact
          where chain_id = ${chainId} and account = wanted.address and counterparty <> wanted.address
            and (calls > 0 or sent_micro_usd > 0)
          order by counterparty
          limit ${placeholder("limit")}
        ) as contact
        left join ahs.current_score as peer on peer.chain_id = ${chainId} and peer.wallet = contact.counterparty
        ${sanctionsFlagsJoin(chainId, sql`contact.counterparty`)}
      ) as dealt
    ) as reached on true`;
});
