import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { takeChain } from "./chain-fence.ts";
import type { Database } from "./database.ts";
import { requeueDecisions } from "./settlement-queue.ts";

/**
 * Tables of ours whose rows speak of blocks: first the mark, which writers lock that go by its generation, then children
 * before parents.
 */
const CHAIN_TABLES = [
  "chain_mark",
  "account_fact",
  "agent_document",
  "contact",
  "enrich_approval",
  "enrich_block",
  "enrich_cursor",
  "enrich_transfer",
  "enrich_user_operation",
  "enrich_wallet",
  "enrolment",
  "feed_price",
  "kept_history",
  "own_call",
  "pending_fact",
  "probe",
  "probe_schedule",
  "publish_intent",
  "registry_agent",
  "registry_cursor",
  "sanctions_reading",
  "scan_grade",
  "scan_run",
  "sender_transaction",
  "stranger",
  "wallet_delegation",
  "current_score",
  "score",
  "epoch",
];

/** The chain of `ahs devnet`, the only one that is ever replaced by another of its id. */
const LOCAL_CHAIN_ID = 31_337;
/** What was signed for the jobs of a chain, which on any other must never be forgotten: a job gets one such signature. */
const JOB_TABLES = ["settlement", "settlement_check", "hold_clock"];

/**
 * Throws away everything derived from one chain: the index, its views, Ponder's cache and our scores of it.
 * Keys and whatever people paid for stay, verdicts among it; on the local chain they lose their jobs, which went with it.
 * What is being written from that chain meanwhile is waited for and goes too.
 */
export async function resetChain(db: Database, chainId: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local statement_timeout = 0`);
    await takeChain(tx, chainId);
    for (const table of CHAIN_TABLES) {
      await tx.execute(sql`delete from ahs.${sql.identifier(table)} where chain_id = ${chainId}`);
    }
    if (chainId === LOCAL_CHAIN_ID) await forgetJobs(tx, chainId);
    else await requeueDecisions(tx, chainId);
    for (const schema of await schemasOf(tx, chainId)) {
      await tx.execute(sql`drop schema ${sql.identifier(schema)} cascade`);
    }
  });
}

/** A verdict keeps its job on record, gives its slot to whoever posts for the new chain's job, and is never signed. */
async function forgetJobs(tx: NodePgDatabase, chainId: number): Promise<void> {
  for (const table of JOB_TABLES) {
    await tx.execute(sql`delete from ahs.${sql.identifier(table)} where chain_id = ${chainId}`);
  }
  await tx.execute(sql`
    update ahs.verdict set replaced_at = now(), updated_at = now()
    where job_chain_id = ${chainId} and replaced_at is null`);
  await tx.execute(sql`
    update ahs.job_spec set job_chain_id = null, job_escrow = null, job_id = null, registered_block = null
    where job_chain_id = ${chainId}`);
}

async function schemasOf(tx: NodePgDatabase, chainId: number): Promise<string[]> {
  const { rows } = await tx.execute<{ name: string }>(
    sql`select nspname as name from pg_namespace
        where nspname ~ ${`^(chain|index)_${chainId}(_|$)`} or nspname = 'ponder_sync'`,
  );
  return rows.map((row) => row.name);
}
