import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import { toQuery } from "../../db/statement.ts";
import type { DeclaredService, DocumentState } from "../../db/tables/infrastructure.ts";
import { agentCards, type CardRow } from "./agent-cards.sql.ts";
import type { RegisteredAgent } from "./registered-agent.ts";

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
  const cards = agentCards({ chainId, wallet, registries: [...registries.keys()], limit: MAX_CARDS });
  const rows = await rowsInTime<CardRow>(db, toQuery(cards));
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
