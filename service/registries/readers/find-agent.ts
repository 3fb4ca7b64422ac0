import { and, eq, sql } from "drizzle-orm";
import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import { type Database, underDeadline } from "../../db/database.ts";
import { indexOf } from "../../db/index-tables.ts";
import { agentDocument } from "../../db/tables/infrastructure.ts";
import { registryAgent } from "../../db/tables/scan.ts";
import type { RegisteredAgent } from "../documents/registered-agent.ts";

/** An agent by its registry and its number there. */
export type AgentPlace = {
  /** Null for the chain of the deployment. */
  readonly chainId: number | null;
  /** Lower-case. */
  readonly registry: Address;
  readonly agentId: bigint;
};

/** An agent and its wallet, lower-case; the wallet is null while the agent has none. */
export type AgentWallet = RegisteredAgent & { readonly wallet: Address | null };

/** The agent; or that its registry does not have it; or the registries of the deployment, among which its registry is not. */
export type AgentSearch =
  | { readonly kind: "found"; readonly agent: AgentWallet }
  | { readonly kind: "unknown" }
  | { readonly kind: "not-followed"; readonly registries: readonly Address[] };

/**
 * Finds agents of a deployment's registries by primary key: those of the registry that the index follows as of its newest block,
 * those of the others as of the last nightly scan.
 */
export function createAgentFinder(
  db: Database,
  { chainId, identityRegistry, registries }: Pick<Deployment, "chainId" | "identityRegistry" | "registries">,
): (place: AgentPlace) => Promise<AgentSearch> {
  const indexed = lowerCase(identityRegistry.address);
  const further = registriesByAddress({ registries });
  const reads = underDeadline(db);
  const { agent } = indexOf(chainId);
  const id = sql.placeholder("agentId");
  const indexedAgent = reads
    .select({ name: agentDocument.name, wallet: agent.wallet })
    .from(agent)
    .leftJoin(
      agentDocument,
      and(eq(agentDocument.chainId, chainId), eq(agentDocument.agentId, agent.agentId)),
    )
    .where(eq(agent.agentId, id))
    .prepare(`indexed_agent_${chainId}`);
  const { name, wallet } = registryAgent;
  const furtherAgent = reads
    .select({ name, wallet })
    .from(registryAgent)
    .where(
      and(
        eq(registryAgent.chainId, chainId),
        eq(registryAgent.registry, sql.placeholder("registry")),
        eq(registryAgent.agentId, id),
      ),
    )
    .prepare(`registry_agent_${chainId}`);
  return async ({ chainId: asked, registry: address, agentId }) => {
    const registry = further.get(address) ?? null;
    if ((asked !== null && asked !== chainId) || (address !== indexed && registry === null))
      return { kind: "not-followed", registries: [indexed, ...further.keys()] };
    const search = address === indexed ? indexedAgent : furtherAgent;
    const [row] = await search.execute({ agentId, registry: address });
    return row === undefined ? { kind: "unknown" } : { kind: "found", agent: { agentId, registry, ...row } };
  };
}
