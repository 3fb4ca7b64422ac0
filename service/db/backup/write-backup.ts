import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { to as copyTo } from "pg-copy-streams";
import type { Database } from "../database.ts";
import { encodeFrame } from "./frames.ts";
import { tablesInOrder } from "./tables-in-order.ts";
import type { BackupBegin, BackupCount, BackupManifest, BackupTable } from "./types.ts";

/**
 * The schema `ahs` as one backup, of one moment, while others write: yields its bytes as they are read, some kilobytes at a
 * time. Throws when the schema is not there, and with the database's error.
 */
export async function* writeBackup(db: Database, now: Date): AsyncGenerator<Buffer, BackupManifest> {
  const client = await db.$client.connect();
  try {
    // A table takes as long as it is large.
    await client.query("set statement_timeout = 0");
    await client.query("begin isolation level repeatable read read only");
    yield json("begin", await readBegin(client, now));
    const tables: BackupCount[] = [];
    for (const table of await tablesInOrder(client)) tables.push(yield* writeTable(client, table));
    const manifest: BackupManifest = { tables };
    yield json("whole", manifest);
    return manifest;
  } finally {
    // Whatever state it is in: a reader that went away leaves a COPY open.
    client.release(true);
  }
}

async function readBegin(client: ClientBase, now: Date): Promise<BackupBegin> {
  const { rows: migrations } = await client.query<{ hash: string }>(
    "select hash from ahs.migration order by id",
  );
  const { rows: chains } = await client.query<{ id: number }>(
    "select chain_id as id from ahs.chain_mark order by 1",
  );
  return {
    format: "agent-health-backup",
    version: 1,
    takenAt: now.toISOString(),
    migrations: migrations.map(({ hash }) => hash),
    chainIds: chains.map(({ id }) => id),
  };
}

async function* writeTable(client: ClientBase, table: string): AsyncGenerator<Buffer, BackupCount> {
  const columns = await columnsOf(client, table);
  yield json("table", { table, columns, identity: await identityOf(client, table) });
  const names = columns.map((column) => client.escapeIdentifier(column)).join(", ");
  const copy = client.query(copyTo(`copy ahs.${client.escapeIdentifier(table)} (${names}) to stdout`));
  const hash = createHash("sha256");
  for await (const chunk of copy as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield encodeFrame("rows", chunk);
  }
  const count: BackupCount = { table, rows: copy.rowCount, sha256: hash.digest("hex") };
  yield json("end", count);
  return count;
}

async function columnsOf(client: ClientBase, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [`ahs.${table}`],
  );
  return rows.map(({ name }) => name);
}

async function identityOf(client: ClientBase, table: string): Promise<BackupTable["identity"]> {
  const { rows } = await client.query<{ column: string; last: string | null }>(
    `select a.attname as column, pg_sequence_last_value(pg_get_serial_sequence($1, a.attname)::regclass)::text as last
     from pg_attribute a where a.attrelid = $1::regclass and a.attidentity <> ''`,
    [`ahs.${table}`],
  );
  const [row] = rows;
  return row === undefined || row.last === null ? null : { column: row.column, last: row.last };
}

function json(
  kind: "begin" | "table" | "end" | "whole",
  value: BackupBegin | BackupTable | BackupCount | BackupManifest,
) {
  return encodeFrame(kind, Buffer.from(JSON.stringify(value)));
}
