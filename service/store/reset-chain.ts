import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { takeChain } from "./chain-fence.ts";
import type { Database } from "./database.ts";

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
  "sanctions_reading",
  "sender_transaction",
  "stranger",
  "wallet_delegation",
  "current_score",
  "score",
  "epoch",
];

/**
 * Throws away everything derived from one chain: the index, its views, Ponder's cache and our scores of it.
 * Keys and whatever people paid for stay. What is being written from that chain meanwhile is waited for and goes too.
 */
export async function resetChain(db: Database, chainId: number): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local statement_timeout = 0`);
    await takeChain(tx, chainId);
    for (const table of CHAIN_TABLES) {
      await tx.execute(sql`delete from ahs.${sql.identifier(table)} where chain_id = ${chainId}`);
    }
    for (const schema of await schemasOf(tx, chainId)) {
      await tx.execute(sql`drop schema ${sql.identifier(schema)} cascade`);
    }
  });
}

async function schemasOf(tx: NodePgDatabase, chainId: number): Promise<string[]> {
  const { rows } = await tx.execute<{ name: string }>(
    sql`select schema_name as name from information_schema.schemata
        where schema_name = ${`chain_${chainId}`} or schema_name like ${`index\\_${chainId}\\_%`}
          or schema_name = 'ponder_sync'`,
  );
  return rows.map((row) => row.name);
}
