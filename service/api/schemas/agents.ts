import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { RegisteredAgent } from "../../registries/documents/registered-agent.ts";
import { text, toEip55 } from "./values.ts";

/** Services of answers that name an agent's registry. */
export type ContractNeeds = {
  readonly discovery: {
    /** Addresses of the deployment's contracts by name, in EIP-55; null for one that it does not have. */
    readonly contracts: Readonly<Record<string, Address | null>>;
  };
};

/** Name of the registry that the index follows. */
export const IDENTITY_REGISTRY = "ERC-8004 identity registry";

/** Members of an agent in answers. */
export const agentShape = {
  agent_id: text("Number in its registry", "142"),
  registry: z
    .object({
      name: text("As the service calls it", IDENTITY_REGISTRY),
      address: text("Contract, EIP-55", "0x8004A818BFB912233c491871b3d84c89A494BD9e").nullable(),
    })
    .openapi({ description: "The registry that numbers the agent" }),
  name: text(
    "From the agent's own registration document, unverified; null if none was read",
    "keeper 1",
  ).nullable(),
} as const;

/** The members of an agent; `contracts` are those of the deployment, by name. */
export function renderAgent(
  { agentId, registry, name }: RegisteredAgent,
  contracts: Readonly<Record<string, Address | null>>,
): z.infer<z.ZodObject<typeof agentShape>> {
  return {
    agent_id: agentId.toString(),
    registry:
      registry === null
        ? { name: IDENTITY_REGISTRY, address: contracts.identity_registry ?? null }
        : { name: registry.name, address: toEip55(registry.address) },
    name,
  };
}
