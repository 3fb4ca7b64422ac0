import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, toEventSelector } from "viem";
import { getAbiItem } from "viem/utils";
import { reputationRegistryAbi } from "../../chain/abi/reputation-registry.ts";
import { decodeEvent } from "../../chain/bounded-abi.ts";
import type { RawLog } from "../../chain/node/rpc-answers.ts";
import { lowerCase } from "../../db/columns.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import { type RegistryLogSource, readRegistryLogs } from "../../oracle/read-registry-logs.ts";
import {
  deleteBeyond,
  deleteEntries,
  type EntryName,
  type GivenEntry,
  insertPaid,
} from "./paid-feedback-round.sql.ts";

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
    block,
    logIndex,
    value: `${value * 10n ** BigInt(VALUE_DECIMALS - valueDecimals)}`,
    tag: shown.trim().toLowerCase(),
  };
}

/** Entries of one statement, so that each stays below its time limit. */
const ENTRIES = 200;
/** Stores the entries of clients that paid the wallet that the agent had then, and returns their agents. */
async function storePaid(
  tx: NodePgDatabase,
  { chainId, registry, usdc }: PaidFeedbackDeps,
  given: readonly GivenEntry[],
): Promise<readonly string[]> {
  const entries = { chainId, registry: lowerCase(registry), usdc: lowerCase(usdc), given };
  const { rows } = await tx.execute<{ agentId: string }>(insertPaid(entries));
  return [...new Set(rows.map(({ agentId }) => agentId))];
}

async function deleteRevoked(
  tx: NodePgDatabase,
  { chainId, registry }: PaidFeedbackDeps,
  revoked: readonly EntryName[],
): Promise<void> {
  if (revoked.length === 0) return;
  await tx.execute(deleteEntries({ chainId, registry: lowerCase(registry), revoked }));
}

/** An entry of a small payer never takes the place of one by a client that paid more. */
async function trim(
  tx: NodePgDatabase,
  { chainId, registry }: PaidFeedbackDeps,
  agents: readonly string[],
): Promise<void> {
  if (agents.length === 0) return;
  await tx.execute(deleteBeyond({ chainId, registry: lowerCase(registry), agents }));
}
