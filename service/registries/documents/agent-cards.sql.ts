import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";
import type { DeclaredService, DocumentState } from "../../db/tables/infrastructure.ts";

/** An agent's card as it is stored. */
export type CardRow = {
  readonly agentId: string;
  /** Lower-case; null for the registry that the index follows. */
  readonly registry: Address | null;
  readonly name: string | null;
  readonly description: string | null;
  readonly state: DocumentState | null;
  readonly registeredBlock: number;
  readonly seconds: number | null;
  readonly services: readonly DeclaredService[];
  readonly agents: number;
};

/** Agents counted of one kind of registry. */
const MAX_COUNTED = 100;

/**
 * Cards of a wallet's agents, and how many agents there are. No bench row measures it; the builder cannot number the rows of a union
 * in a further CTE.
 */
export function agentCards(of: {
  readonly chainId: number;
  readonly wallet: Address;
  readonly registries: readonly Address[];
  readonly limit: number;
}): SQL {
  const { agent, agentWallet, block } = indexOf(of.chainId);
  const [a, b] = [alias(agent, "a"), alias(block, "b")];
  return sql`
    with own as (
      (select ${agentWallet.agentId}, null::text as registry, null::bigint as block
       from ${agentWallet} where ${agentWallet.wallet} = ${of.wallet} and ${agentWallet.toBlock} is null limit ${MAX_COUNTED})
      union all
      (select agent_id, registry, registered_block from ahs.registry_agent
       where chain_id = ${of.chainId} and wallet = ${of.wallet} and registry = any(${sql.param(of.registries)}::text[])
       limit ${MAX_COUNTED})
    ), first as (
      select *, row_number() over (partition by registry order by agent_id) as place, (count(*) over ())::int as agents
      from own order by place, registry nulls first limit ${of.limit}
    )
    select f.agent_id::text as "agentId", f.registry, coalesce(d.name, r.name) as name, coalesce(d.description, r.description) as description,
           coalesce(d.state, r.document_state) as state,
           coalesce(f.block, ${a.registeredBlock})::float8 as "registeredBlock",
           coalesce(${a.registeredAt}, ${b.timestamp})::float8 as seconds,
           coalesce(d.services, r.services, '[]'::jsonb) as services, f.agents
    from first f
    left join ${agent} ${a} on f.registry is null and ${a.agentId} = f.agent_id
    left join ${block} ${b} on ${b.number} = f.block
    left join ahs.registry_agent r on r.chain_id = ${of.chainId} and r.registry = f.registry and r.agent_id = f.agent_id
    left join ahs.agent_document d on f.registry is null and d.chain_id = ${of.chainId} and d.agent_id = f.agent_id
    order by f.place, f.registry nulls first`;
}
