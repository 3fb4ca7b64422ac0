import type { PoolClient } from "pg";
import type { Database } from "./database.ts";

/** Tables of ours whose rows speak of blocks, children before parents. */
const CHAIN_TABLES = [
  "publish_intent",
  "sender_transaction",
  "current_score",
  "score",
  "epoch",
  "chain_mark",
];

/**
 * Throws away everything derived from one chain: the index, its views, Ponder's cache and our scores of it.
 * Keys and whatever people paid for stay.
 */
export async function resetChain(db: Database, chainId: number): Promise<void> {
  const client = await db.$client.connect();
  try {
    await client.query("begin");
    await client.query("set local statement_timeout = 0");
    for (const table of CHAIN_TABLES) {
      await client.query(`delete from ahs.${table} where chain_id = $1`, [chainId]);
    }
    for (const schema of await schemasOf(client, chainId)) {
      await client.query(`drop schema ${client.escapeIdentifier(schema)} cascade`);
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  } finally {
    client.release();
  }
}

async function schemasOf(client: PoolClient, chainId: number): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select schema_name as name from information_schema.schemata
     where schema_name = $1 or schema_name like $2 or schema_name = 'ponder_sync'`,
    [`chain_${chainId}`, `index\\_${chainId}\\_%`],
  );
  return rows.map((row) => row.name);
}
