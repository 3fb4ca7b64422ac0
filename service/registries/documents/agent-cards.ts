import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Database, rowsInTime } from "../../db/database.ts";
import type { DeclaredService, DocumentState } from "../../db/tables/infrastructure.ts";
import type { RegisteredAgent } from "./agent-names.ts";

/** An agent by its registry entry and registration document; no text is verified. */
export type AgentCard = RegisteredAgent & {
  readonly description: string | null;
  readonly services: readonly DeclaredService[];
  readonly registeredAt: Date;
  /** Null until the document was read for the first time. */
  readonly state: DocumentState | null;
};

/** Cards of one wallet, which may have registered thousands of agents. */
const MAX_CARDS = 3;
/** Services of one card. */
const MAX_SERVICES = 8;

/** The first agents that a wallet (lower-case) acts for now, by their number, and how many it acts for, 100 at most. */
export async function readAgentCards(
  db: Database,
  chainId: number,
  wallet: Address,
): Promise<{ readonly cards: readonly AgentCard[]; readonly agents: number }> {
  const schema = escapeIdentifier(`chain_${chainId}`);
  const rows = await rowsInTime<CardRow>(db, {
    text: `
      with own as (
        select agent_id from ${schema}.agent_wallet where wallet = $2 and to_block is null limit 100
      )
      select a.agent_id::text as "agentId", a.registered_at::float8 as seconds, d.name, d.description, d.state,
             coalesce(d.services, '[]'::jsonb) as services, (select count(*)::int from own) as agents
      from own join ${schema}.agent a on a.agent_id = own.agent_id
      left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id
      order by a.agent_id limit ${MAX_CARDS}`,
    values: [chainId, wallet],
  });
  return {
    agents: rows[0]?.agents ?? 0,
    cards: rows.map(({ agentId, seconds, services, agents: _, ...card }) => ({
      ...card,
      agentId: BigInt(agentId),
      registeredAt: new Date(seconds * 1_000),
      services: services.slice(0, MAX_SERVICES),
    })),
  };
}

type CardRow = Pick<AgentCard, "name" | "description" | "state" | "services"> & {
  readonly agentId: string;
  readonly seconds: number;
  readonly agents: number;
};
