import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Database, QUERY_DEADLINE } from "../../db/database.ts";

/** An agent that an account is the wallet of. */
export type RegisteredAgent = {
  readonly agentId: bigint;
  /** As its registration document says, unchecked; null where that was never read or names none. */
  readonly name: string | null;
};

/** Agents shown of one wallet; a wallet may have registered thousands. */
const MAX_AGENTS = 3;

/** The agents that each of the accounts, lower-case, is the wallet of now: the first three by their number; an account without one has no entry. */
export async function readAgentNames(
  db: Database,
  chainId: number,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, readonly RegisteredAgent[]>> {
  if (accounts.length === 0) return new Map();
  const { rows } = await db.$client.query<{ wallet: Address; agent_id: string; name: string | null }>({
    ...QUERY_DEADLINE,
    text: `
      select wanted.wallet, first.agent_id::text, d.name
      from unnest($2::text[]) as wanted (wallet)
      cross join lateral (
        select agent_id from ${escapeIdentifier(`chain_${chainId}`)}.agent_wallet a
        where a.wallet = wanted.wallet and a.to_block is null order by agent_id limit ${MAX_AGENTS}
      ) first
      left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = first.agent_id
      order by first.agent_id`,
    values: [chainId, [...new Set(accounts)]],
  });
  const agents = new Map<Address, RegisteredAgent[]>();
  for (const { wallet, agent_id, name } of rows) {
    const known = agents.get(wallet) ?? [];
    agents.set(wallet, [...known, { agentId: BigInt(agent_id), name }]);
  }
  return agents;
}
