import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import type { RegisteredAgent } from "../documents/agent-names.ts";

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
  return async ({ chainId: asked, registry: address, agentId }) => {
    const registry = further.get(address) ?? null;
    if ((asked !== null && asked !== chainId) || (address !== indexed && registry === null))
      return { kind: "not-followed", registries: [indexed, ...further.keys()] };
    const values = [chainId, agentId.toString()];
    const [row] = await rowsInTime<Pick<AgentWallet, "name" | "wallet">>(
      db,
      address === indexed
        ? { name: `indexed_agent_${chainId}`, text: indexedAgent(chainId), values }
        : { name: "registry_agent", text: REGISTRY_AGENT, values: [...values, address] },
    );
    return row === undefined ? { kind: "unknown" } : { kind: "found", agent: { agentId, registry, ...row } };
  };
}

function indexedAgent(chainId: number): string {
  return `
  select d.name, a.wallet from "chain_${chainId}".agent a
  left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = a.agent_id
  where a.agent_id = $2`;
}

const REGISTRY_AGENT = `
  select name, wallet from ahs.registry_agent where chain_id = $1 and registry = $3 and agent_id = $2`;

// A deployment's addresses are checked when it is loaded.
function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}
