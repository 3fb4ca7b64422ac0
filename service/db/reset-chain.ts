import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { takeChain } from "./chain-fence.ts";
import type { Database } from "./database.ts";

/** Tables built anew from the chain: first the mark, which writers lock that go by its generation, then children before parents. */
const DERIVED_TABLES = [
  "chain_mark",
  "account_fact",
  "contact",
  "enrich_approval",
  "enrich_block",
  "enrich_cursor",
  "enrich_death",
  "enrich_reading",
  "enrich_transfer",
  "enrich_user_operation",
  "enrich_wallet",
  "document_day",
  "feed_price",
  "own_call",
  "paid_feedback",
  "pending_fact",
  "quarantine",
  "registry_agent",
  "registry_cursor",
  "routing_promise",
  "sampled_contact",
  "sanctions_reading",
  "wallet_backing",
  "wallet_delegation",
  "current_score",
];

/** Records of a chain, deleted only when the chain itself is gone: children before parents. */
const RECORD_TABLES = [
  "agent_document",
  "enrolment",
  "feedback",
  "stored_history",
  "payment_channel",
  "probe",
  "probe_schedule",
  "publish_intent",
  "scan_grade",
  "scan_run",
  "sender_transaction",
  "validation_request",
  "score",
  "epoch",
];

/** The chain of `ahs devnet`, the only one that is ever replaced by another of its id. */
const LOCAL_CHAIN_ID = 31_337;
/** Signatures for the jobs of a chain. Only the local chain's are ever deleted, since a job gets one such signature. */
const JOB_TABLES = ["settlement", "settlement_check", "hold_clock", "appeal"];

/**
 * Throws away everything derived from one chain: the index, its views, Ponder's cache, enrichment and current scores. On the
 * local chain all records of it go too: history of scores, roots, transactions, documents, visits and scans. On any other
 * they stay, with the reports of history sources, and scores that wait to be published are taken back. Keys and whatever people
 * paid for stay, verdicts among it; on the local chain they lose their jobs, which went with it. It waits for
 * rows that are being written from that chain, and deletes them too.
 */
export async function resetChain(db: Database, chainId: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local statement_timeout = 0`);
    await takeChain(tx, chainId);
    const isReplaced = chainId === LOCAL_CHAIN_ID;
    for (const table of isReplaced ? [...DERIVED_TABLES, ...RECORD_TABLES] : DERIVED_TABLES) {
      // Calls that enrichment did not find come from a history source, and stay with its report.
      const found = table === "own_call" && !isReplaced ? sql`and source = 'enrich'` : sql``;
      await tx.execute(sql`delete from ahs.${sql.identifier(table)} where chain_id = ${chainId} ${found}`);
    }
    if (isReplaced) {
      await forgetJobs(tx, chainId);
    } else {
      // A publication that the sender has is followed to its end.
      await tx.execute(sql`
        update ahs.publish_intent set state = 'superseded', updated_at = now()
        where chain_id = ${chainId} and state = 'pending'`);
      // Unsigned decisions are checked anew, after what was found of them was thrown away.
      await tx.execute(sql`
        update ahs.settlement_check
        set status = 'waiting', reason = null, attempts = 0, not_before = now(), checked_at = now()
        where chain_id = ${chainId}`);
    }
    const { rows: schemas } = await tx.execute<{ name: string }>(
      sql`select nspname as name from pg_namespace
          where nspname ~ ${`^(chain|index)_${chainId}(_|$)`} or nspname = 'ponder_sync'`,
    );
    for (const { name } of schemas) await tx.execute(sql`drop schema ${sql.identifier(name)} cascade`);
  });
}

/** Names under which processes of ours are connected to this database, once for each connection; not those of this kind. */
export async function readConnected(db: Database, own: string): Promise<readonly string[]> {
  const { rows } = await db.$client.query<{ name: string }>(
    `select application_name as name from pg_stat_activity
     where datname = current_database() and application_name like 'ahs-%' and application_name <> $1 order by 1`,
    [own],
  );
  return rows.map(({ name }) => name);
}

/** A verdict keeps its job on record, gives its slot to the next output for the new chain's job, and is never signed. */
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
