import { sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";
import { prepared, preparedByChain } from "../../db/statement.ts";

// No bench row measures these; the builder can neither unnest pairs of endpoint and kind nor name a prepared union.

/** More than one wallet has, but for hosts of many agents, whose first ones speak for them. */
const MAX_AGENTS = 50;

/**
 * An agent counts for its wallet, and for its owner where the owner has been its wallet: a stranger who hands an agent over
 * cannot make the receiver answer for its endpoints, since being the wallet takes the wallet's own act.
 */
export const walletAgents = preparedByChain<{ wallet: Address; registries: readonly Address[] }>(
  "wallet_agents",
  (chainId) => {
    const { agent, agentWallet } = indexOf(chainId);
    const a = alias(agent, "a");
    const wallet = sql.placeholder("wallet");
    return sql`
    select agent_id::text as "agentId", registry, state, detail, fetched_at as "fetchedAt", services from (
      (select ${a.agentId}, null::text as registry, d.state, d.detail, d.fetched_at, coalesce(d.services, '[]') as services
       from (select distinct ${agentWallet.agentId} from ${agentWallet} where ${agentWallet.wallet} = ${wallet}) as known
       join ${agent} ${a} on ${a.agentId} = known.agent_id and (${a.wallet} = ${wallet} or ${a.owner} = ${wallet})
       left join ahs.agent_document d on d.chain_id = ${chainId} and d.agent_id = ${a.agentId}
       order by ${a.agentId} limit ${MAX_AGENTS})
      union all
      (select agent_id, registry, document_state, document_detail, fetched_at, services from ahs.registry_agent
       where chain_id = ${chainId} and wallet = ${wallet} and registry = any(${sql.placeholder("registries")}::text[])
       order by registry, agent_id limit ${MAX_AGENTS})
    ) as acting order by registry nulls first, agent_id limit ${MAX_AGENTS}`;
  },
);

/** Declared endpoints with their kinds, in two lists of one order. */
type Declared = {
  readonly chainId: number;
  readonly endpoints: readonly string[];
  readonly kinds: readonly string[];
};

const chain = sql`chain_id = ${sql.placeholder("chainId")}`;
const pairs = sql`(select * from unnest(${sql.placeholder("endpoints")}::text[], ${sql.placeholder("kinds")}::text[]))`;
const visits = sql`${chain} and endpoint = any(${sql.placeholder("endpoints")}::text[])
  and (kind is null or (endpoint, kind) in ${pairs}) and at >= ${sql.placeholder("since")}`;

export const endpointProbes = prepared<Declared & { since: Date }>(
  "endpoint_probes",
  sql`select endpoint, at, outcome, status, latency_ms as "latencyMs", valid, detail, quarters
      from ahs.probe where ${visits} order by at, id`,
);

export const endpointPlaces = prepared<Declared>(
  "endpoint_places",
  sql`select endpoint, bool_and(place = 'kept') as "isRegular" from ahs.probe_schedule
      where ${chain} and (endpoint, kind) in ${pairs} group by endpoint`,
);

const longest = sql`${sql.placeholder("longestMs")}::int`;

export const endpointDays = prepared<Declared & { since: Date; longestMs: number }>(
  "endpoint_days",
  sql`
  select endpoint, to_char(at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::int as probes,
         (count(*) filter (where outcome = 'ok'))::int as alive,
         percentile_disc(0.5) within group (order by ms) as "latencyP50Ms",
         percentile_disc(0.95) within group (order by ms) as "latencyP95Ms"
  from (
    select endpoint, at, outcome, case when outcome = 'ok' then least(latency_ms, ${longest}) else ${longest} end as ms
    from ahs.probe cross join generate_series(1, quarters)
    where ${visits}
  ) as timed
  group by 1, 2 order by 2 desc`,
);
