import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";
import type { agentDocument } from "../../db/tables/infrastructure.ts";

/** Places at the gateway of ipfs: one host for all agents, who wait only for those of their own lane. */
export const IPFS_LANES = 2;

/** An agent whose document is to be fetched. */
export type DueAgent = Pick<typeof agentDocument.$inferSelect, "agentId" | "uri"> & {
  /** Whose turn the fetch takes. */
  readonly account: Address;
  /** Whether the document was understood when it was last read, and has the same URI. */
  readonly isProven: boolean;
  /** Failures in a row of this very URI. */
  readonly failures: number;
  /** Whether a document of it was ever understood that declares services. */
  readonly hasServices: boolean;
};

/** Its row; that without an agent says whether any changed. */
export type DueRow = Omit<DueAgent, "agentId"> & {
  readonly agentId: string | null;
  readonly anyChanged: boolean;
};

export type DueQuery = {
  readonly chainId: number;
  readonly now: Date;
  /** Agents that did not change since this block need no comparison of their URIs. */
  readonly sinceBlock: number;
  /** Most agents of one account, and at one host. */
  readonly perAccount: number;
  readonly perHost: number;
  /** Most documents of one account in a UTC day. */
  readonly perAccountDay: number;
  /** Most of those that are new, changed or failed last: a crowd of them leaves room for the others. */
  readonly unproven: number;
  readonly limit: number;
};

/**
 * The host is read from the URI only where the agent is due, since URIs can be long. Hosts share the places of their last two
 * labels, so that the hosts of one domain do not crowd out others; a data: URI bothers no host, and those of ipfs take turns in
 * lanes, as at so many hosts.
 * No bench row measures it; the builder cannot join a row of constants.
 */
export function dueAgents(query: DueQuery): SQL {
  const { chainId } = query;
  const { agent } = indexOf(chainId);
  const a = alias(agent, "a");
  const account = agentAccount(chainId);
  return sql`
  with due as (
    select ${a.agentId}, ${a.agentUri}, true as changed, false as proven, 0 as failures, d.services,
           null::timestamptz as since, ${account} as account
    from ${agent} ${a}
    left join ahs.agent_document d on d.chain_id = ${chainId} and d.agent_id = ${a.agentId}
    where ${a.updatedBlock} >= ${query.sinceBlock} and (d.agent_id is null or d.uri <> ${a.agentUri})
    union all
    select ${a.agentId}, ${a.agentUri}, false, d.uri = ${a.agentUri} and d.state = 'current',
           case when d.uri = ${a.agentUri} then d.attempts else 0 end, d.services, d.not_before, ${account}
    from ahs.agent_document d
    join ${agent} ${a} on ${a.agentId} = d.agent_id
    where d.chain_id = ${chainId} and d.not_before <= ${query.now} and not (${a.updatedBlock} >= ${query.sinceBlock} and d.uri <> ${a.agentUri})
  ), turns as (
    select *, random() as lot, row_number() over (partition by account order by since nulls first, agent_id) as turn
    from due
  ), hosts as (
    select turns.*, lower(substring(agent_uri from '^[hH][tT]{2}[pP][sS]?://([^/?#:]*)')) as host
    from turns left join ahs.document_day t
      on t.chain_id = ${chainId} and t.day = (${query.now}::timestamptz at time zone 'UTC')::date and t.account = turns.account
    where turn <= least(${query.perAccount}::int, ${query.perAccountDay}::int - coalesce(t.documents, 0))
  ), places as (
    select *, row_number() over (
      partition by case when agent_uri ~* '^ipfs:' then 'ipfs ' || agent_id % ${IPFS_LANES}
        else coalesce(substring(host from '[^.]+[.][^.]*[a-z][^.]*[.]?$'), host, agent_id::text) end
      order by turn, not changed, lot
    ) as place from hosts
  ), ranks as (
    select *, row_number() over (partition by proven order by greatest(turn, place), not changed, lot) as rank
    from places where place <= ${query.perHost}
  )
  select agent_id::text as "agentId", agent_uri as uri, account, failures, proven as "isProven",
         coalesce(jsonb_array_length(services), 0) > 0 as "hasServices",
         (select coalesce(bool_or(changed), false) from due) as "anyChanged"
  from (values (1)) as one left join (
    select * from ranks where proven or rank <= ${query.unproven} order by greatest(turn, place), not changed, lot limit ${query.limit}
  ) as chosen on true order by greatest(turn, place), not changed, lot`;
}

/**
 * The account whose turns an agent `a` of the index uses: the owner if it was ever the agent's wallet, else the present wallet, else
 * the first one.
 * Only the wallet itself can become the wallet of an agent. A sender who transfers agents uses its own turns, not those
 * of the receiver.
 */
export function agentAccount(chainId: number): SQL {
  const { agent, agentWallet } = indexOf(chainId);
  const [a, w] = [alias(agent, "a"), alias(agentWallet, "w")];
  const itsWallets = sql`from ${agentWallet} ${w} where ${w.agentId} = ${a.agentId}`;
  return sql`case
    when exists (select ${itsWallets} and ${w.wallet} = ${a.owner}) then ${a.owner}
    else coalesce(
      ${a.wallet},
      (select ${w.wallet} ${itsWallets} order by ${w.fromBlock}, ${w.id} limit 1),
      ${a.owner}
    ) end`;
}
