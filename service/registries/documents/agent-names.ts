import { escapeIdentifier } from "pg";
import type { Address } from "viem";
import { type Deployment, type FurtherRegistry, registriesByAddress } from "../../chain/deployments.ts";
import { type Database, rowsInTime } from "../../db/database.ts";

/** An agent that an account is the wallet of. */
export type RegisteredAgent = {
  readonly agentId: bigint;
  /** As its registration document says, unchecked; null where that was never read or names none. */
  readonly name: string | null;
  /** Null for the registry that the index follows. */
  readonly registry: FurtherRegistry | null;
};

/** Agents shown of one wallet; a wallet may have registered thousands. */
const MAX_AGENTS = 3;

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
  const rows = await rowsInTime<NameRow>(db, {
    text: `
      select wanted.wallet, own.agent_id::text as "agentId", own.name, own.registry
      from unnest($2::text[]) as wanted (wallet)
      cross join lateral (
        select first.agent_id, d.name, null::text as registry from (
          select agent_id from ${escapeIdentifier(`chain_${chainId}`)}.agent_wallet a
          where a.wallet = wanted.wallet and a.to_block is null order by agent_id limit ${MAX_AGENTS}
        ) first
        left join ahs.agent_document d on d.chain_id = $1 and d.agent_id = first.agent_id
        union all (
          select agent_id, name, registry from ahs.registry_agent
          where chain_id = $1 and wallet = wanted.wallet and registry = any($3::text[])
          order by registry, agent_id limit ${MAX_AGENTS}
        )
        order by registry nulls first, agent_id limit ${MAX_AGENTS}
      ) own
      order by own.registry nulls first, own.agent_id`,
    values: [chainId, [...new Set(accounts)], [...registries.keys()]],
  });
  const agents = Map.groupBy(rows, ({ wallet }) => wallet);
  const agentOf = ({ agentId, name, registry }: NameRow) => ({
    agentId: BigInt(agentId),
    name,
    registry: registry === null ? null : (registries.get(registry) ?? null),
  });
  return new Map([...agents].map(([wallet, own]) => [wallet, own.map(agentOf)]));
}

type NameRow = {
  readonly wallet: Address;
  readonly agentId: string;
  readonly name: string | null;
  /** Lower-case. */
  readonly registry: Address | null;
};
