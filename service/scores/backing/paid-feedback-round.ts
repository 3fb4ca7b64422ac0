import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, toEventSelector } from "viem";
import { getAbiItem } from "viem/utils";
import { reputationRegistryAbi } from "../../chain/abi/reputation-registry.ts";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import type { RawLog } from "../../chain/node/rpc-answers.ts";
import { lowerCase } from "../../db/columns.ts";
import { viewOf } from "../../db/index-snapshot.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import { type RegistryLogSource, readRegistryLogs } from "../../oracle/read-registry-logs.ts";

type PaidFeedbackDeps = RegistryLogSource & { readonly usdc: Address };

const TOPICS = ["NewFeedback" as const, "FeedbackRevoked" as const].map((name) =>
  toEventSelector(getAbiItem({ abi: reputationRegistryAbi, name })),
);

/**
 * Reads what others left in the reputation registry, up to the newest enriched block, and stores the entries of clients that paid the
 * agent's wallet before. Entries of others cost one look at their transfers, and no row.
 */
export async function paidFeedbackRound(deps: PaidFeedbackDeps): Promise<void> {
  const { db, chainId } = deps;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return;
  await readRegistryLogs(deps, { finalBlock: asOf.blockNumber, topics: [TOPICS] }, async (tx, logs) => {
    const { given, revoked } = readEntries(logs);
    const agents: string[] = [];
    for (let from = 0; from < given.length; from += ENTRIES)
      agents.push(...(await storePaid(tx, deps, given.slice(from, from + ENTRIES))));
    await deleteRevoked(tx, deps, revoked);
    await trim(tx, deps, agents);
  });
}

type EntryName = { readonly agentId: string; readonly client: Address; readonly feedbackIndex: string };
type GivenEntry = EntryName & {
  readonly block: number;
  readonly logIndex: number;
  readonly value: string;
  readonly tag: string;
};

const VALUE_DECIMALS = 18;
const MOST_TAG_CHARACTERS = 32;

function readEntries(logs: readonly RawLog[]) {
  const given: GivenEntry[] = [];
  const revoked: EntryName[] = [];
  for (const log of logs) {
    const event = decodeEvent(reputationRegistryAbi, log);
    if (event === null) continue;
    const { agentId, clientAddress, feedbackIndex } = event.args;
    const name = {
      agentId: `${agentId}`,
      client: lowerCase(clientAddress),
      feedbackIndex: `${feedbackIndex}`,
    };
    if (event.eventName === "FeedbackRevoked") revoked.push(name);
    else if (event.args.valueDecimals <= VALUE_DECIMALS)
      given.push({ ...name, ...contentOf(event.args, log) });
  }
  return { given, revoked };
}

function contentOf(
  { value, valueDecimals, tag1 }: { value: bigint; valueDecimals: number; tag1: string },
  { blockNumber: block, logIndex }: RawLog,
) {
  // Without what PostgreSQL cannot hold, and what does not show.
  const shown = tag1.slice(0, MOST_TAG_CHARACTERS).replaceAll(/[\p{C}\s]+/gu, " ");
  return {
    ...{ block, logIndex },
    value: `${value * 10n ** BigInt(VALUE_DECIMALS - valueDecimals)}`,
    tag: shown.trim().toLowerCase(),
  };
}

/** Entries of one statement, so that each stays below its time limit. */
const ENTRIES = 200;
/** Transfers by a client that are looked at for an entry, the newest: it can make any number, of any token. */
const MOST_TRANSFERS = 10_000;

/** Stores the entries of clients that paid the wallet that the agent had then, and returns their agents. */
async function storePaid(
  tx: NodePgDatabase,
  { chainId, registry, usdc }: PaidFeedbackDeps,
  given: readonly GivenEntry[],
): Promise<readonly string[]> {
  const { rows } = await tx.execute<{ agentId: string }>(sql`
    insert into ahs.paid_feedback (chain_id, registry, agent_id, client, feedback_index, wallet, block, value, tag, paid)
    select ${chainId}, ${lowerCase(registry)}, g."agentId", g.client, g."feedbackIndex", w.wallet, g.block, g.value, g.tag, p.paid
    from json_to_recordset(${JSON.stringify(given)}::json) as g ("agentId" numeric, client text, "feedbackIndex" numeric,
      block bigint, "logIndex" integer, value numeric, tag text)
    cross join lateral (
      select wallet from ${viewOf(chainId, "agent_wallet")}
      where agent_id = g."agentId" and from_block <= g.block and (to_block is null or to_block > g.block)
      order by from_block desc, id limit 1
    ) w
    cross join lateral (
      select sum(amount) as paid from (
        select "to", token, standard, amount from ahs.enrich_transfer
        where chain_id = ${chainId} and "from" = g.client and (block, log_index) < (g.block, g."logIndex")
        order by block desc limit ${MOST_TRANSFERS}
      ) as newest
      where "to" = w.wallet and token = ${lowerCase(usdc)} and standard = 'erc20' and amount > 0
    ) p
    where p.paid > 0 and g.client <> w.wallet
    on conflict do nothing returning agent_id::text as "agentId"`);
  return [...new Set(rows.map(({ agentId }) => agentId))];
}

async function deleteRevoked(
  tx: NodePgDatabase,
  { chainId, registry }: PaidFeedbackDeps,
  revoked: readonly EntryName[],
): Promise<void> {
  if (revoked.length === 0) return;
  await tx.execute(sql`
    delete from ahs.paid_feedback f
    using json_to_recordset(${JSON.stringify(revoked)}::json) as r ("agentId" numeric, client text, "feedbackIndex" numeric)
    where f.chain_id = ${chainId} and f.registry = ${lowerCase(registry)} and f.agent_id = r."agentId"
      and f.client = r.client and f.feedback_index = r."feedbackIndex"`);
}

/** Entries of one client for one agent, the newest, and of one agent: those of the clients that paid most. */
const [MOST_OF_CLIENT, MOST_OF_AGENT] = [4, 200];

/** An entry of a small payer never takes the place of one by a client that paid more. */
async function trim(
  tx: NodePgDatabase,
  { chainId, registry }: PaidFeedbackDeps,
  agents: readonly string[],
): Promise<void> {
  if (agents.length === 0) return;
  await tx.execute(sql`
    with ranked as (
      select agent_id, client, feedback_index, paid, block,
        row_number() over (partition by agent_id, client order by feedback_index desc) as of_client
      from ahs.paid_feedback
      where chain_id = ${chainId} and registry = ${lowerCase(registry)} and agent_id = any(${sql.param(agents)}::numeric[])
    ), placed as (
      select *, row_number() over (
        partition by agent_id, of_client <= ${MOST_OF_CLIENT} order by paid desc, block, client, feedback_index desc) as of_agent
      from ranked
    )
    delete from ahs.paid_feedback f using placed p
    where f.chain_id = ${chainId} and f.registry = ${lowerCase(registry)} and f.agent_id = p.agent_id
      and f.client = p.client and f.feedback_index = p.feedback_index
      and (p.of_client > ${MOST_OF_CLIENT} or p.of_agent > ${MOST_OF_AGENT})`);
}
