import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";

/** Agents shown of one wallet; a wallet may have registered thousands. */
const MAX_AGENTS = 3;

export type NameRow = {
  readonly wallet: Address;
  readonly agentId: string;
  readonly name: string | null;
  /** Lower-case. */
  readonly registry: Address | null;
};

/** The first agents of each wallet. No bench row measures it; the builder cannot unnest wallets into a lateral join. */
export function agentNames(
  chainId: number,
  wallets: readonly Address[],
  registries: readonly Address[],
): SQL {
  const { agentWallet } = indexOf(chainId);
  const a = alias(agentWallet, "a");
  return sql`
    select wanted.wallet, own.agent_id::text as "agentId", own.name, own.registry
    from unnest(${sql.param(wallets)}::text[]) as wanted (wallet)
    cross join lateral (
      select first.agent_id, d.name, null::text as registry from (
        select ${a.agentId} from ${agentWallet} ${a}
        where ${a.wallet} = wanted.wallet and ${a.toBlock} is null order by ${a.agentId} limit ${MAX_AGENTS}
      ) first
      left join ahs.agent_document d on d.chain_id = ${chainId} and d.agent_id = first.agent_id
      union all (
        select agent_id, name, registry from ahs.registry_agent
        where chain_id = ${chainId} and wallet = wanted.wallet and registry = any(${sql.param(registries)}::text[])
        order by registry, agent_id limit ${MAX_AGENTS}
      )
      order by registry nulls first, agent_id limit ${MAX_AGENTS}
    ) own
    order by own.registry nulls first, own.agent_id`;
}
