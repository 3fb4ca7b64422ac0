import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { Problem } from "../../access/problems.ts";
import type { AgentSearch, AgentWallet, createAgentFinder } from "../../registries/readers/find-agent.ts";
import { registrySchema, toEip55 } from "../schemas/values.ts";

/** Services of endpoints that find an agent. */
export type AgentNeeds = { readonly findAgent: ReturnType<typeof createAgentFinder> };

/** The path parameters of an agent. */
export const agentParams = z.object({
  registry: registrySchema,
  agent_id: z
    .string()
    .regex(/^[0-9]{1,78}$/)
    .transform((digits) => BigInt(digits).toString())
    .openapi({
      type: "string",
      pattern: "^[0-9]{1,78}$",
      description: "Number of the agent in the registry",
      example: "142",
    }),
});

export type AgentParams = z.infer<typeof agentParams>;

export function findAgent(
  { registry, agent_id }: AgentParams,
  { findAgent }: AgentNeeds,
): Promise<AgentSearch> {
  const { chainId, address } = registry;
  return findAgent({ chainId, registry: address, agentId: BigInt(agent_id) });
}

/** The agent with its wallet. Throws the 404 of a registry that is not followed, and of an agent that is unknown or has no wallet. */
export function requireAgent(
  { registry, agent_id }: AgentParams,
  search: AgentSearch,
): AgentWallet & { readonly wallet: Address } {
  const agent = `Agent ${agent_id} of registry ${toEip55(registry.address)}`;
  switch (search.kind) {
    case "not-followed":
      throw new Problem("registry-not-followed", notFollowed(registry, search.registries));
    case "unknown":
      throw new Problem(
        "agent-unknown",
        `${agent} is not known. Check its number; a new agent is known once the index has its registration, and in a further registry after the next nightly scan.`,
      );
    case "found": {
      const { wallet } = search.agent;
      if (wallet !== null) return { ...search.agent, wallet };
      throw new Problem(
        "agent-without-wallet",
        `${agent} has no verified wallet now, so there is nothing to score. Its owner can set one in the registry.`,
      );
    }
  }
}

function notFollowed({ chainId, address }: AgentParams["registry"], registries: readonly Address[]): string {
  const given = chainId === null ? toEip55(address) : `eip155:${chainId}:${toEip55(address)}`;
  return `This deployment does not follow the registry ${given}. It follows ${registries.map(toEip55).join(", ")}.`;
}
