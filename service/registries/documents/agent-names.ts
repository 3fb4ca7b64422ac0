import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Database, rowsInTime } from "../../db/database.ts";

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
  const rows = await rowsInTime<{ wallet: Address; agentId: string; name: string | null }>(db, {
    text: `
      select wanted.wallet, first.agent_id::text as "agentId", d.name
      from unnest($2::text[]) as wanted (wallet)
      cross join lateral (
        select agent_id from ${escapeIdentifier(`chain_${chainId}`)}.agent_wallet a
        where a.wallet = wanted.wallet and a.to_block is null order by agent_id limit ${MAX_AGENTS}
      ) first
      left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = first.agent_id
      order by first.agent_id`,
    values: [chainId, [...new Set(accounts)]],
  });
  const agents = Map.groupBy(rows, ({ wallet }) => wallet);
  const agentOf = ({ agentId, name }: (typeof rows)[number]) => ({ agentId: BigInt(agentId), name });
  return new Map([...agents].map(([wallet, own]) => [wallet, own.map(agentOf)]));
}
