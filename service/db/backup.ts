import { createHash } from "node:crypto";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import type { ClientBase, PoolClient } from "pg";
import { from as copyFrom, to as copyTo } from "pg-copy-streams";
import { type Database, migrateDatabase, migrateThrough } from "./database.ts";

/**
 * Fills an empty database from a backup, all of it or nothing: the schema `ahs` is made as the backup's was, filled, and
 * then brought to the newest version. Throws when a table has rows, when the schema is of another version than the backup,
 * and when the backup is broken, cut off or of a newer version than this code.
 */
export async function restoreBackup(
  db: Database,
  bytes: AsyncIterable<Buffer>,
): Promise<BackupBegin & BackupManifest> {
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
    // No process writes it before this ends.
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
  const name = `ahs.${table.table}`;
  const copy = client.query(
    copyFrom(`copy ahs.${client.escapeIdentifier(table.table)} (${columns}) from stdin`),
  );
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
  if (table.identity !== null) {
    const { column, last } = table.identity;
    // The next row gets a number that none had before, deleted ones among them.
    await client.query("select setval(pg_get_serial_sequence($1, $2), $3::bigint)", [name, column, last]);
  }
  return count;
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

function requireSame(given: BackupCount, found: BackupCount | undefined): void {
  requireEqual("table", given.table, found?.table);
  requireEqual(`rows of ${given.table}`, given.rows, found?.rows);
  requireEqual(`digest of ${given.table}`, given.sha256, found?.sha256);
}

function requireEqual(what: string, given: string | number, found: string | number | undefined): void {
  if (given !== found) throw new Error(`the backup is broken: ${what} should be ${given}, and is ${found}`);
}

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
    // A reader that went away leaves a COPY open.
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

function json(kind: FrameKind, value: BackupBegin | BackupTable | BackupCount | BackupManifest) {
  return encodeFrame(kind, Buffer.from(JSON.stringify(value)));
}

/** begin: what the file is. table and end: of one table, around its rows as COPY text. whole: the last, which proves that none is missing. */
export type FrameKind = "begin" | "table" | "rows" | "end" | "whole";
export type Frame = { readonly kind: FrameKind; readonly payload: Buffer };

const KINDS: readonly FrameKind[] = ["begin", "table", "rows", "end", "whole"];
const HEAD_BYTES = 5;
/** No writer makes one as long: a longer one is a broken file, not a reason to take memory. */
const MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;

/** One byte of kind, four of length, then the payload. */
export function encodeFrame(kind: FrameKind, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(KINDS.indexOf(kind), 0);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

/** Yields frames as they come; throws if the bytes are malformed or end within a frame. */
export async function* decodeFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (let frame = firstFrame(held); frame !== null; frame = firstFrame(held)) {
      held = held.subarray(HEAD_BYTES + frame.payload.length);
      yield frame;
    }
  }
  if (held.length > 0) throw new Error("the backup ends in the middle: it was cut off");
}

function firstFrame(bytes: Buffer): Frame | null {
  if (bytes.length < HEAD_BYTES) return null;
  const kind = KINDS[bytes.readUInt8(0)];
  const length = bytes.readUInt32BE(1);
  if (kind === undefined || length > MAX_PAYLOAD_BYTES)
    throw new Error("this is no backup of ours, or a broken one");
  if (bytes.length < HEAD_BYTES + length) return null;
  return { kind, payload: bytes.subarray(HEAD_BYTES, HEAD_BYTES + length) };
}

/**
 * Tables of the schema `ahs` but for the list of migrations, each after those that its rows refer to. Throws where tables
 * refer to each other in a circle: no order restores them.
 */
async function tablesInOrder(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string; parents: string[] }>(
    `select c.relname as name, array(
       select distinct p.relname::text from pg_constraint k join pg_class p on p.oid = k.confrelid
       where k.conrelid = c.oid and k.contype = 'f' and p.oid <> c.oid) as parents
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'ahs' and c.relkind in ('r', 'p') and c.relname <> 'migration' order by c.relname`,
  );
  const ordered: string[] = [];
  let waiting = rows;
  while (waiting.length > 0) {
    const ready = waiting.filter(({ parents }) => parents.every((parent) => ordered.includes(parent)));
    if (ready.length === 0) throw new Error(`tables refer to each other: ${waiting.map(({ name }) => name)}`);
    ordered.push(...ready.map(({ name }) => name));
    waiting = waiting.filter((table) => !ready.includes(table));
  }
  return ordered;
}

/** The first frame of a backup. */
type BackupBegin = {
  readonly format: "agent-health-backup";
  readonly version: 1;
  /** ISO time of the snapshot. */
  readonly takenAt: string;
  /** Hashes of the migrations that the database had, oldest first. */
  readonly migrations: readonly string[];
  readonly chainIds: readonly number[];
};

/** Before the rows of a table. */
type BackupTable = {
  readonly table: string;
  readonly columns: readonly string[];
  /** The column that counts by itself, with the number it gave out last; null without such a column or number. */
  readonly identity: { readonly column: string; readonly last: string } | null;
};

/** Of one table, as its rows were written. */
type BackupCount = {
  readonly table: string;
  readonly rows: number;
  /** SHA-256 of the rows as COPY text, hexadecimal. */
  readonly sha256: string;
};

/** The last frame: all tables with what the file holds of them. */
type BackupManifest = { readonly tables: readonly BackupCount[] };
