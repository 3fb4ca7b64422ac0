import type { ScoreReader } from "../../scores/stored-score.ts";
import type { AgentNeeds } from "../kit/registered-agent.ts";
import { agentParams, findAgent, requireAgent } from "../kit/registered-agent.ts";
import { defineScore } from "../kit/score-endpoint.ts";
import type { WalletNeeds } from "../kit/wallet-report.ts";
import { requireFresh } from "../kit/wallet-report.ts";
import type { ContractNeeds } from "../schemas/agents.ts";
import { renderAgent } from "../schemas/agents.ts";

/** Services that find the agent. */
type Needs = AgentNeeds & ContractNeeds & WalletNeeds & { readonly scores: Pick<ScoreReader, "head"> };

/** GET /ahs/agent/{registry}/{agent_id}. */
export const getAhsAgent = defineScore<Needs>()({
  path: "/ahs/agent/{registry}/{agent_id}",
  operationId: "score_agent",
  tool: "Returns the Agent Health Score of an agent's wallet, by the agent's registry and number there. Use it if you know an ERC-8004 agent but not its wallet; otherwise it is score_wallet.",
  summary: "Agent Health Score of a registered agent",
  description:
    "Answers what `GET /ahs/{address}` answers for the agent's wallet, at the same price and with the same options and refusals, and names the agent in `agent`. The registry is the ERC-8004 identity registry of the deployment or one of its further registries. A registry that is not followed, an agent that is unknown and an agent without a verified wallet are 404, uncharged. The wallet of an agent can change: `address` is the one that was scored.",
  params: agentParams,
  problems: ["registry-not-followed", "agent-unknown", "agent-without-wallet"],
  async find(params, { deps, now }) {
    const search = await findAgent(params, deps);
    const isMissing = search.kind === "unknown" || (search.kind === "found" && search.agent.wallet === null);
    // An index that is behind may not have it yet.
    if (isMissing) requireFresh({ head: await deps.scores.head() }, deps, now);
    const { wallet, ...agent } = requireAgent(params, search);
    return { address: wallet, named: { agent: renderAgent(agent, deps.discovery.contracts) } };
  },
});
