import type { Address } from "viem";
import type { FeatureLine, Pattern } from "../score/record.ts";
import type { Database } from "./database.ts";
import { loadInBatches } from "./load-in-batches.ts";
import { QUERY_DEADLINE } from "./query-deadline.ts";
import { IS_LISTED, sanctionsFlagsJoin } from "./sanctions.ts";

/** What a stored score says of itself. */
export type ScoreExplanation = {
  readonly patterns: readonly Pattern[];
  readonly features: readonly FeatureLine[];
};

/** Part of a wallet's contacts; the value in millionths of a US dollar. */
export type ContactSum = {
  readonly counterparties: number;
  readonly sentMicroUsd: number;
  /** Calls to those counterparties to whom nothing with a known price was sent. */
  readonly unpricedCalls: number;
};

/** Whom a wallet called and paid since it is followed, up to the newest enriched block. */
export type Exposure = {
  readonly asOfBlock: number;
  /** Unix seconds of the first contact. */
  readonly since: number;
  readonly counterparties: number;
  readonly calls: number;
  readonly sentMicroUsd: number;
  /** On a sanctions list at the newest indexed block, or a mixer. */
  readonly listed: ContactSum;
  /** Not listed, with F as the newest stored grade. */
  readonly failing: ContactSum;
};

export type RiskFacts = {
  /** Null where no score was asked for. */
  readonly explanation: ScoreExplanation | null;
  /** not_followed: the index reads no calls of the wallet. no_contacts: it is not known to have dealt with anybody. */
  readonly exposure: Exposure | "not_followed" | "no_contacts";
};

/** A wallet, lower-case, and the row of its score, if it has one. */
export type RiskKey = { readonly address: Address; readonly scoreId: number | null };

/** Reads what a risk answer needs besides the wallet's standing, many wallets in one statement. */
export function riskFactsLoader(
  db: Database,
  { chainId, mixers }: { readonly chainId: number; readonly mixers: readonly Address[] },
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
        ],
      });
      const found = new Map(rows.map((row) => [row.place, factsOf(row)]));
      return keys.map(({ address }, place) => {
        const facts = found.get(place);
        if (facts === undefined) throw new Error(`no risk facts read for ${address}`);
        return facts;
      });
    },
    { maxSize: 200, maxRunning: 2 },
  );
}

/** One index scan of the wallet's own contacts, and look-ups by key for each of them. */
function statement(schema: string): string {
  const sumOf = (kind: "listed" | "failing") => `
    count(*) filter (where kind = '${kind}')::float8 as ${kind}_counterparties,
    coalesce(sum(sent) filter (where kind = '${kind}'), 0)::float8 as ${kind}_sent,
    coalesce(sum(calls) filter (where kind = '${kind}' and sent = 0), 0)::float8 as ${kind}_unpriced_calls`;
  return `
    select wanted.place, scored.patterns, scored.features, read.wallet is not null as followed, cursor.block as as_of_block,
           reached.*
    from unnest($1::text[], $2::bigint[], $5::int[]) as wanted (address, score_id, place)
    left join ahs.score as scored on scored.id = wanted.score_id
    left join ahs.enrich_wallet as read on read.chain_id = $3 and read.wallet = wanted.address
    left join ahs.enrich_cursor as cursor on cursor.chain_id = $3
    left join lateral (
      select count(*)::float8 as counterparties, coalesce(sum(calls), 0)::float8 as calls,
             coalesce(sum(sent), 0)::float8 as sent, min(first_time)::float8 as since,
             ${sumOf("listed")}, ${sumOf("failing")}
      from (
        select contact.calls, contact.sent_micro_usd as sent, contact.first_time,
               case when contact.counterparty = any($4::text[]) or ${IS_LISTED} then 'listed'
                    when peer.grade = 'F' then 'failing' end as kind
        from ahs.contact
        left join ahs.current_score as peer on peer.chain_id = $3 and peer.wallet = contact.counterparty
        ${sanctionsFlagsJoin({ schema, address: "contact.counterparty", chainId: "$3" })}
        where contact.chain_id = $3 and contact.account = wanted.address and contact.counterparty <> wanted.address
      ) as dealt
    ) as reached on true`;
}

// As node-postgres reads them; int8 arrives as text.
type RiskRow = {
  readonly place: number;
  readonly followed: boolean;
  readonly as_of_block: string | null;
  readonly counterparties: number;
  readonly calls: number;
  readonly sent: number;
  readonly since: number | null;
} & ({ readonly [part in keyof ScoreExplanation]: ScoreExplanation[part] } | NoExplanation) &
  SumColumns<"listed"> &
  SumColumns<"failing">;
type NoExplanation = { readonly patterns: null; readonly features: null };
type SumColumns<Kind extends string> = {
  readonly [column in `${Kind}_counterparties` | `${Kind}_sent` | `${Kind}_unpriced_calls`]: number;
};

function factsOf(row: RiskRow): RiskFacts {
  return {
    explanation: row.patterns === null ? null : { patterns: row.patterns, features: row.features },
    exposure: exposureOf(row),
  };
}

function exposureOf(row: RiskRow): RiskFacts["exposure"] {
  if (!row.followed || row.as_of_block === null) return "not_followed";
  if (row.since === null) return "no_contacts";
  return {
    asOfBlock: Number(row.as_of_block),
    since: row.since,
    counterparties: row.counterparties,
    calls: row.calls,
    sentMicroUsd: row.sent,
    listed: {
      counterparties: row.listed_counterparties,
      sentMicroUsd: row.listed_sent,
      unpricedCalls: row.listed_unpriced_calls,
    },
    failing: {
      counterparties: row.failing_counterparties,
      sentMicroUsd: row.failing_sent,
      unpricedCalls: row.failing_unpriced_calls,
    },
  };
}
