import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import type { DeclaredService, DocumentState } from "../../db/tables/infrastructure.ts";
import type { RegisteredAgent } from "./agent-names.ts";

/** An agent by its registry entry and registration document; no text is verified. */
export type AgentCard = RegisteredAgent & {
  readonly description: string | null;
  readonly services: readonly DeclaredService[];
  readonly registeredBlock: number;
  /** Null where the index does not hold the block. */
  readonly registeredAt: Date | null;
  /** Null until the document was read for the first time, and without one. */
  readonly state: DocumentState | null;
};

/** Cards of one wallet, which may have registered thousands of agents. */
const MAX_CARDS = 3;
/** Services of one card. */
const MAX_SERVICES = 8;
/** Agents counted of one kind of registry. */
const MAX_COUNTED = 100;

/**
 * Agents that a wallet (lower-case) acts for now: the first of each registry by their number, then the second; and how many it acts
 * for, at most 100 in the followed registry and 100 in the others.
 */
export async function readAgentCards(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
  wallet: Address,
): Promise<{ readonly cards: readonly AgentCard[]; readonly agents: number }> {
  const { chainId } = chain;
  const registries = registriesByAddress(chain);
  const schema = escapeIdentifier(`chain_${chainId}`);
  const rows = await rowsInTime<CardRow>(db, {
    text: `
      with own as (
        (select agent_id, null::text as registry, null::bigint as block
         from ${schema}.agent_wallet where wallet = $2 and to_block is null limit ${MAX_COUNTED})
        union all
        (select agent_id, registry, registered_block
         from ahs.registry_agent where chain_id = $1 and wallet = $2 and registry = any($3::text[]) limit ${MAX_COUNTED})
      ), first as (
        select *, row_number() over (partition by registry order by agent_id) as place, (count(*) over ())::int as agents
        from own order by place, registry nulls first limit ${MAX_CARDS}
      )
      select f.agent_id::text as "agentId", f.registry, coalesce(d.name, r.name) as name, coalesce(d.description, r.description) as description,
             coalesce(d.state, r.document_state) as state,
             coalesce(f.block, a.registered_block)::float8 as "registeredBlock",
             coalesce(a.registered_at, b.timestamp)::float8 as seconds,
             coalesce(d.services, r.services, '[]'::jsonb) as services, f.agents
      from first f
      left join ${schema}.agent a on f.registry is null and a.agent_id = f.agent_id
      left join ${schema}.block b on b.number = f.block
      left join ahs.registry_agent r on r.chain_id = $1 and r.registry = f.registry and r.agent_id = f.agent_id
      left join ahs.agent_document d on f.registry is null and d.chain_id = $1 and d.agent_id = f.agent_id
      order by f.place, f.registry nulls first`,
    values: [chainId, wallet, [...registries.keys()]],
  });
  return {
    agents: rows[0]?.agents ?? 0,
    cards: rows.map(({ agentId, registry, seconds, services, agents: _, ...card }) => ({
      ...card,
      agentId: BigInt(agentId),
      registry: registry === null ? null : (registries.get(registry) ?? null),
      registeredAt: seconds === null ? null : new Date(seconds * 1_000),
      services: services.slice(0, MAX_SERVICES),
    })),
  };
}

type CardRow = Pick<AgentCard, "name" | "description" | "state" | "services" | "registeredBlock"> & {
  readonly agentId: string;
  /** Lower-case. */
  readonly registry: Address | null;
  readonly seconds: number | null;
  readonly agents: number;
};
