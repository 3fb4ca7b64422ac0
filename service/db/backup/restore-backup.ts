import { createHash } from "node:crypto";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import type { PoolClient } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { type Database, migrateDatabase, migrateThrough } from "../database.ts";
import { decodeFrames, type Frame } from "./frames.ts";
import { tablesInOrder } from "./tables-in-order.ts";
import type { BackupBegin, BackupCount, BackupManifest, BackupTable } from "./types.ts";

export type RestoredBackup = BackupBegin & BackupManifest;

/**
 * Fills an empty database from a backup, all of it or nothing: the schema `ahs` is made as the backup's was, filled, and
 * then brought to the newest version. Throws when a table has rows, when the schema is of another version than the backup,
 * and when the backup is broken, cut off or of a newer version than this code.
 */
export async function restoreBackup(db: Database, bytes: AsyncIterable<Buffer>): Promise<RestoredBackup> {
  const frames = decodeFrames(bytes);
  const begin = parse<BackupBegin>(await next(frames), "begin");
  if (begin.format !== "agent-health-backup" || begin.version !== 1) {
    throw new Error("this is no backup that this version can read");
  }
  await migrateThrough(db, begin.migrations);
  const manifest = await fill(db, frames);
  await migrateDatabase(db);
  return { ...begin, ...manifest };
}

async function fill(db: Database, frames: AsyncGenerator<Frame>): Promise<BackupManifest> {
  const client = await db.$client.connect();
  try {
    await client.query("set statement_timeout = 0");
    await client.query("begin");
    await requireEmpty(client);
    const manifest = await copyAll(client, frames);
    await client.query("commit");
    return manifest;
  } finally {
    // Closing the connection undoes what is not committed.
    client.release(true);
  }
}

async function requireEmpty(client: PoolClient): Promise<void> {
  for (const table of await tablesInOrder(client)) {
    const name = `ahs.${client.escapeIdentifier(table)}`;
    // Nobody writes it before this is over.
    await client.query(`lock table ${name} in exclusive mode`);
    const { rowCount } = await client.query(`select 1 from ${name} limit 1`);
    if (rowCount !== 0) throw new Error(`a backup is restored into an empty database: ahs.${table} has rows`);
  }
}

async function copyAll(client: PoolClient, frames: AsyncGenerator<Frame>): Promise<BackupManifest> {
  const restored: BackupCount[] = [];
  for (let frame = await next(frames); ; frame = await next(frames)) {
    if (frame.kind === "whole") {
      const manifest = parse<BackupManifest>(frame, "whole");
      requireEqual("tables", manifest.tables.length, restored.length);
      manifest.tables.forEach((table, index) => {
        requireSame(table, restored[index]);
      });
      return manifest;
    }
    restored.push(await copyTable(client, parse<BackupTable>(frame, "table"), frames));
  }
}

async function copyTable(
  client: PoolClient,
  table: BackupTable,
  frames: AsyncGenerator<Frame>,
): Promise<BackupCount> {
  const columns = table.columns.map((column) => client.escapeIdentifier(column)).join(", ");
  const name = `ahs.${client.escapeIdentifier(table.table)}`;
  const copy = client.query(copyFrom(`copy ${name} (${columns}) from stdin`));
  const done = finished(copy);
  // Awaited below; it must not count as unhandled when a frame fails first.
  done.catch(() => undefined);
  const hash = createHash("sha256");
  let frame = await next(frames);
  for (; frame.kind === "rows"; frame = await next(frames)) {
    hash.update(frame.payload);
    if (!copy.write(frame.payload)) await Promise.race([once(copy, "drain"), done]);
  }
  copy.end();
  await done;
  const count: BackupCount = { table: table.table, rows: copy.rowCount, sha256: hash.digest("hex") };
  requireSame(parse<BackupCount>(frame, "end"), count);
  if (table.identity !== null) await setIdentity(client, table.table, table.identity);
  return count;
}

/** The next row gets a number that none had before, deleted ones among them. */
async function setIdentity(
  client: PoolClient,
  table: string,
  { column, last }: NonNullable<BackupTable["identity"]>,
): Promise<void> {
  await client.query("select setval(pg_get_serial_sequence($1, $2), $3::bigint)", [
    `ahs.${table}`,
    column,
    last,
  ]);
}

async function next(frames: AsyncGenerator<Frame>): Promise<Frame> {
  const { value, done } = await frames.next();
  if (done === true) throw new Error("the backup ends in the middle: it was cut off");
  return value;
}

function parse<Content>(frame: Frame, kind: Frame["kind"]): Content {
  if (frame.kind !== kind) throw new Error(`the backup is broken: expected ${kind}, got ${frame.kind}`);
  return JSON.parse(frame.payload.toString("utf8")) as Content;
}

function requireSame(said: BackupCount, found: BackupCount | undefined): void {
  requireEqual("table", said.table, found?.table);
  requireEqual(`rows of ${said.table}`, said.rows, found?.rows);
  requireEqual(`digest of ${said.table}`, said.sha256, found?.sha256);
}

function requireEqual(what: string, said: string | number, found: string | number | undefined): void {
  if (said !== found) throw new Error(`the backup is broken: ${what} should be ${said}, and is ${found}`);
}
