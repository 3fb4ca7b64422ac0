import type { Address } from "viem";
import { type Deployment, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import { toQuery } from "../../db/statement.ts";
import { agentNames, type NameRow } from "./agent-names.sql.ts";
import type { RegisteredAgent } from "./registered-agent.ts";

/**
 * The agents that each of the accounts, lower-case, is the wallet of now: three, by their number, those of the followed registry
 * first; an account without one has no entry.
 */
export async function readAgentNames(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>> {
  if (accounts.length === 0) return new Map();
  const { chainId } = chain;
  const registries = registriesByAddress(chain);
  const names = agentNames(chainId, [...new Set(accounts)], [...registries.keys()]);
  const rows = await rowsInTime<NameRow>(db, toQuery(names));
  const agents = Map.groupBy(rows, ({ wallet }) => wallet);
  const agentOf = ({ agentId, name, registry }: NameRow) => ({
    agentId: BigInt(agentId),
    name,
    registry: registry === null ? null : (registries.get(registry) ?? null),
  });
  return new Map([...agents].map(([wallet, own]) => [wallet, own.map(agentOf)]));
}
