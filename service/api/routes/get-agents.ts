import { z } from "@hono/zod-openapi";
import type { createLeaderboardReader, FoundNames } from "../../scores/leaderboard.ts";
import { answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { ValidationFailed, valueFault } from "../kit/validation-failed.ts";
import type { ContractNeeds } from "../schemas/agents.ts";
import { agentShape, renderAgent } from "../schemas/agents.ts";
import { flag, text, toEip55 } from "../schemas/values.ts";
import { filledTextSchema } from "../verification/body-schema.ts";

/** Services of the endpoint. */
type Needs = ContractNeeds & {
  /** Agents of all registries by number or by a part of their name. */
  readonly agents: Agents;
};

type Agents = Pick<ReturnType<typeof createLeaderboardReader>, "byAgentId" | "byName">;

const MAX_FOUND = 20;
const MAX_NAME = 64;

const query = z.object({
  name: filledTextSchema(MAX_NAME).optional().openapi({
    type: "string",
    minLength: 1,
    maxLength: MAX_NAME,
    description:
      "Part of the agent's name, in any case; without three letters or digits in a row it matches the beginning only",
    example: "keeper",
  }),
  agent_id: z
    .string()
    .regex(/^[0-9]{1,78}$/)
    .optional()
    .openapi({
      description: "Number of the agent in its registry; registries number their agents by themselves",
    }),
});

const foundSchema = z
  .object({
    agents: z.array(
      z.object({
        ...agentShape,
        address: text(
          "The agent's wallet, EIP-55; null if it has none",
          "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
        ).nullable(),
        grade: z.enum(["A", "B", "C", "D", "E", "F"]).nullable().openapi({
          description: "Grade of the wallet's newest score; null without a score",
          example: "B",
        }),
      }),
    ),
    is_cut: flag("Whether more agents match than are listed"),
  })
  .openapi("FoundAgents");

/** GET /agents. */
export const getAgents = defineFree<Needs>()({
  method: "get",
  path: "/agents",
  operationId: "find_agent",
  tool: "Finds registered agents by a part of their name, or by their number in a registry, and returns their registries, wallets and grades. Use it if you know an agent but not its wallet address. Names are chosen by the agents and are unverified.",
  tag: "Scores",
  summary: "Find an agent by name or number",
  description: `Returns up to ${MAX_FOUND} agents with their registries and wallets, best scores first. Give either \`name\` or \`agent_id\`. Besides the ERC-8004 identity registry, the agents of the deployment's further registries are found, as of the nightly scan. Anyone can register any name: check the number or the wallet before you pay.`,
  request: { params: z.object({}), query, body: null },
  answer: { schema: foundSchema, description: "The agents; an empty list if none matches" },
  problems: ["database-unavailable"],
  async respond(context, { query: { name, agent_id } }, { deps }) {
    const { agents, total } = await find(name, agent_id, deps.agents);
    const body = {
      agents: agents.map(({ wallet, ranked, ...agent }) => ({
        ...renderAgent(agent, deps.discovery.contracts),
        address: wallet === null ? null : toEip55(wallet),
        grade: ranked?.grade ?? null,
      })),
      is_cut: total > agents.length,
    };
    return answerJson(context, body, { headers: { "cache-control": "public, max-age=30" } });
  },
});

async function find(
  name: string | undefined,
  agentId: string | undefined,
  agents: Agents,
): Promise<Pick<FoundNames, "agents" | "total">> {
  if (name !== undefined && agentId === undefined) {
    const { isCut, ...found } = await agents.byName(name, { offset: 0, limit: MAX_FOUND });
    return isCut ? { ...found, total: found.total + 1 } : found;
  }
  if (name === undefined && agentId !== undefined) {
    const numbered = await agents.byAgentId(BigInt(agentId));
    return { agents: numbered.slice(0, MAX_FOUND), total: numbered.length };
  }
  throw new ValidationFailed([valueFault(["query", "name"], name ?? null, "give either name or agent_id")]);
}
