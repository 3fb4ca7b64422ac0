import { Problem } from "../../access/problems.ts";
import { agentParams, findAgent, requireAgent } from "../kit/registered-agent.ts";
import { toEip55 } from "../schemas/values.ts";
import { type Page, type PageHandler, redirectTo } from "./page.ts";

/** GET /agent/{registry}/{agent_id}: leads to the page of the agent's wallet, which may change. */
export const agentPage: Page = {
  path: "/agent/{registry}/{agent_id}",
  needs: "/ahs/agent/{registry}/{agent_id}",
  get: lead,
};

async function lead(...[context, { ports }]: Parameters<PageHandler>): Promise<Response> {
  const parsed = agentParams.safeParse(context.req.param());
  if (!parsed.success)
    throw new Problem(
      "not-found",
      "Not an agent: expected the address of a registry, as `0x…` or `eip155:CHAIN:0x…`, and the agent's number.",
    );
  const { wallet } = requireAgent(parsed.data, await findAgent(parsed.data, ports));
  return redirectTo(context, `/wallet/${toEip55(wallet)}`, { status: 307 });
}
