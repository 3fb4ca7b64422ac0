/** Entries of feedback beside what their clients paid: the builder has no lateral reads for each of many new rows. */
import { type SQL, sql } from "drizzle-orm";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";

export type EntryName = {
  readonly agentId: string;
  readonly client: Address;
  readonly feedbackIndex: string;
};
export type GivenEntry = EntryName & {
  readonly block: number;
  readonly logIndex: number;
  readonly value: string;
  readonly tag: string;
};

type Registry = { readonly chainId: number; readonly registry: Address };

/** Transfers by a client that are looked at for an entry, the newest: it can make any number, of any token. */
const MOST_TRANSFERS = 10_000;

/** Stores the entries of clients that paid the wallet that the agent had then; returns their agents. */
export function insertPaid({
  chainId,
  registry,
  usdc,
  given,
}: Registry & { readonly usdc: Address; readonly given: readonly GivenEntry[] }): SQL {
  const { agentWallet } = indexOf(chainId);
  return sql`
    insert into ahs.paid_feedback (chain_id, registry, agent_id, client, feedback_index, wallet, block, value, tag, paid)
    select ${chainId}, ${registry}, g."agentId", g.client, g."feedbackIndex", w.wallet, g.block, g.value, g.tag, p.paid
    from json_to_recordset(${JSON.stringify(given)}::json) as g ("agentId" numeric, client text, "feedbackIndex" numeric,
      block bigint, "logIndex" integer, value numeric, tag text)
    cross join lateral (
      select ${agentWallet.wallet} from ${agentWallet}
      where ${agentWallet.agentId} = g."agentId" and ${agentWallet.fromBlock} <= g.block
        and (${agentWallet.toBlock} is null or ${agentWallet.toBlock} > g.block)
      order by ${agentWallet.fromBlock} desc, ${agentWallet.id} limit 1
    ) w
    cross join lateral (
      select sum(amount) as paid from (
        select "to", token, standard, amount from ahs.enrich_transfer
        where chain_id = ${chainId} and "from" = g.client and (block, log_index) < (g.block, g."logIndex")
        order by block desc limit ${MOST_TRANSFERS}
      ) as newest
      where "to" = w.wallet and token = ${usdc} and standard = 'erc20' and amount > 0
    ) p
    where p.paid > 0 and g.client <> w.wallet
    on conflict do nothing returning agent_id::text as "agentId"`;
}

export function deleteEntries({
  chainId,
  registry,
  revoked,
}: Registry & { readonly revoked: readonly EntryName[] }): SQL {
  return sql`
    delete from ahs.paid_feedback f
    using json_to_recordset(${JSON.stringify(revoked)}::json) as r ("agentId" numeric, client text, "feedbackIndex" numeric)
    where f.chain_id = ${chainId} and f.registry = ${registry} and f.agent_id = r."agentId"
      and f.client = r.client and f.feedback_index = r."feedbackIndex"`;
}

/** Entries of one client for one agent, the newest, and of one agent: those of the clients that paid most. */
const [MOST_OF_CLIENT, MOST_OF_AGENT] = [4, 200];

export function deleteBeyond({
  chainId,
  registry,
  agents,
}: Registry & { readonly agents: readonly string[] }): SQL {
  return sql`
    with ranked as (
      select agent_id, client, feedback_index, paid, block,
        row_number() over (partition by agent_id, client order by feedback_index desc) as of_client
      from ahs.paid_feedback
      where chain_id = ${chainId} and registry = ${registry} and agent_id = any(${sql.param(agents)}::numeric[])
    ), placed as (
      select *, row_number() over (
        partition by agent_id, of_client <= ${MOST_OF_CLIENT} order by paid desc, block, client, feedback_index desc) as of_agent
      from ranked
    )
    delete from ahs.paid_feedback f using placed p
    where f.chain_id = ${chainId} and f.registry = ${registry} and f.agent_id = p.agent_id
      and f.client = p.client and f.feedback_index = p.feedback_index
      and (p.of_client > ${MOST_OF_CLIENT} or p.of_agent > ${MOST_OF_AGENT})`;
}
