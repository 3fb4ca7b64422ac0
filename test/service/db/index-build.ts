import { Client, type Pool } from "pg";
import { beginBuild } from "../../../service/db/index-builds.ts";

/**
 * A build of the index as Ponder leaves it, owned by the connection's role.
 * It has blocks 1 to `newest`; those up to `finalized` are final.
 */
export async function createIndexBuild(
  db: Pool,
  build: { schema: string; chainId: number; newest: number; finalized: number; at: Date },
): Promise<void> {
  const { schema, chainId, newest, finalized, at } = build;
  const client = await db.connect();
  await beginBuild(client, schema, at);
  const checkpoint = (block: number) =>
    `${"1".repeat(10)}${String(chainId).padStart(16, "0")}${String(block).padStart(16, "0")}${"0".repeat(33)}`;
  await client.query(`
    create table ${schema}._ponder_meta (key text primary key, value jsonb not null);
    insert into ${schema}._ponder_meta values ('app', '{"is_ready": 1, "is_locked": 1}');
    create table ${schema}._ponder_checkpoint (chain_name text primary key, finalized_checkpoint varchar(75) not null);
    insert into ${schema}._ponder_checkpoint values ('scored', '${checkpoint(finalized)}');
    create table ${schema}.block (number numeric(78) primary key, hash text not null);
    insert into ${schema}.block select n, 'of ${schema}' from generate_series(1, ${newest}) n;
    create table ${schema}.wallet (address text primary key);
    create table ${schema}._reorg__wallet (address text, operation_id integer)`);
  client.release();
}

/** A connection of its own, which the caller ends. */
export async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
