import type { Address } from "viem";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";
import { loadInBatches } from "../../db/load-in-batches.ts";
import type { ScoreRecord } from "../../model/score/record.ts";
import { IS_LISTED, sanctionsFlagsJoin } from "../../sanctions/sanctions.ts";

export type ScoreExplanation = Pick<ScoreRecord, "patterns" | "features">;

/**
 * Counterparties since the wallet is followed, up to the newest enriched block. Above the limit, those with the lowest
 * addresses.
 */
export type Exposure = {
  readonly asOfBlock: number;
  /** Unix seconds of the first contact. */
  readonly since: number;
  readonly counterparties: number;
  readonly calls: number;
  readonly sentMicroUsd: number;
  /** Whether there are more than the limit. */
  readonly truncated: boolean;
  /** On a sanctions list at the newest indexed block, or a mixer. */
  readonly listed: readonly Address[];
  /** Not listed, with F as the newest stored grade. */
  readonly failing: {
    readonly counterparties: number;
    readonly sentMicroUsd: number;
    /** Calls to counterparties without priced payments. */
    readonly unpricedCalls: number;
  };
};

export type RiskFacts = {
  /** Null where no score was asked for. */
  readonly explanation: ScoreExplanation | null;
  /** not_followed: the index does not read the wallet's calls. no_contacts: no dealings are known. */
  readonly exposure: Exposure | "not_followed" | "no_contacts";
};

/** A wallet, lower-case, and the id of its score, if any. */
export type RiskKey = { readonly address: Address; readonly scoreId: number | null };

/** Reads the facts of a risk answer besides the current score; concurrent wallets share a statement. */
export function riskFactsLoader(
  db: Database,
  {
    chainId,
    mixers,
    mostContacts = MOST_CONTACTS,
  }: { chainId: number; mixers: readonly Address[]; mostContacts?: number },
): (key: RiskKey) => Promise<RiskFacts> {
  const lowerMixers = mixers.map((mixer) => mixer.toLowerCase());
  const text = statement(`chain_${chainId}`);
  return loadInBatches(
    async (keys: readonly RiskKey[]) => {
      const { rows } = await db.$client.query<RiskRow>({
        ...QUERY_DEADLINE,
        name: "wallet_risk",
        text,
        values: [
          keys.map(({ address }) => address),
          keys.map(({ scoreId }) => scoreId),
          chainId,
          lowerMixers,
          keys.map((_key, place) => place),
          mostContacts + 1,
        ],
      });
      const found = new Map(rows.map((row) => [row.place, factsOf(row, mostContacts)]));
      return keys.map(({ address }, place) => {
        const facts = found.get(place);
        if (facts === undefined) throw new Error(`no risk facts read for ${address}`);
        return facts;
      });
    },
    { maxSize: 200, maxRunning: 2 },
  );
}

/** Most contacts per answer, which costs a tenth of a cent: each needs several lookups. */
const MOST_CONTACTS = 10_000;

/**
 * One bounded index scan of the wallet's own contacts, with primary-key lookups for each. Contacts without calls and
 * payments are skipped: third parties can log them in the wallet's name.
 */
function statement(schema: string): string {
  return `
    select wanted.place, scored.patterns, scored.features, read.wallet is not null as followed, cursor.block::float8 as "asOfBlock",
           reached.*
    from unnest($1::text[], $2::bigint[], $5::int[]) as wanted (address, score_id, place)
    left join ahs.score as scored on scored.id = wanted.score_id
    left join ahs.enrich_wallet as read on read.chain_id = $3 and read.wallet = wanted.address
    left join ahs.enrich_cursor as cursor on cursor.chain_id = $3
    left join lateral (
      select count(*)::float8 as counterparties, coalesce(sum(calls), 0)::float8 as calls,
             coalesce(sum(sent), 0)::float8 as "sentMicroUsd", min(first_time)::float8 as since,
             coalesce(array_agg(counterparty) filter (where kind = 'listed'), '{}') as listed,
             count(*) filter (where kind = 'failing')::float8 as "failingCounterparties",
             coalesce(sum(sent) filter (where kind = 'failing'), 0)::float8 as "failingSent",
             coalesce(sum(calls) filter (where kind = 'failing' and sent = 0), 0)::float8 as "failingUnpriced"
      from (
        select contact.*,
               case when contact.counterparty = any($4::text[]) or ${IS_LISTED} then 'listed'
                    when peer.grade = 'F' then 'failing' end as kind
        from (
          select counterparty, calls, sent_micro_usd as sent, first_time
          from ahs.contact
          where chain_id = $3 and account = wanted.address and counterparty <> wanted.address
            and (calls > 0 or sent_micro_usd > 0)
          order by counterparty
          limit $6
        ) as contact
        left join ahs.current_score as peer on peer.chain_id = $3 and peer.wallet = contact.counterparty
        ${sanctionsFlagsJoin({ schema, address: "contact.counterparty", chainId: "$3" })}
      ) as dealt
    ) as reached on true`;
}

type RiskRow = Pick<Exposure, "counterparties" | "calls" | "sentMicroUsd" | "listed"> & {
  readonly place: number;
  readonly followed: boolean;
  readonly asOfBlock: number | null;
  readonly since: number | null;
  readonly failingCounterparties: number;
  readonly failingSent: number;
  readonly failingUnpriced: number;
} & (ScoreExplanation | { readonly patterns: null; readonly features: null });

function factsOf(row: RiskRow, mostContacts: number): RiskFacts {
  return {
    explanation: row.patterns === null ? null : { patterns: row.patterns, features: row.features },
    exposure: exposureOf(row, mostContacts),
  };
}

function exposureOf(row: RiskRow, mostContacts: number): RiskFacts["exposure"] {
  const { followed, asOfBlock, since, counterparties } = row;
  if (!followed || asOfBlock === null) return "not_followed";
  if (since === null) return "no_contacts";
  return {
    asOfBlock,
    since,
    counterparties: Math.min(counterparties, mostContacts),
    calls: row.calls,
    sentMicroUsd: row.sentMicroUsd,
    truncated: counterparties > mostContacts,
    listed: row.listed,
    failing: {
      counterparties: row.failingCounterparties,
      sentMicroUsd: row.failingSent,
      unpricedCalls: row.failingUnpriced,
    },
  };
}
