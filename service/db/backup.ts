import type { ClientBase, PoolClient } from "pg";
import { z } from "zod";
import { type Database, migrateDatabase, migrateThrough } from "./database.ts";
import {
  countSchema,
  decodeFrames,
  encodeJson,
  type Frames,
  nextFrame,
  parseFrame,
  readTable,
  requireSameTables,
  type TableCount,
  tableSchema,
  takeEmpty,
  writeTable,
} from "./table-file.ts";

/** The first frame of a backup. */
const beginSchema = z.object({
  format: z.string(),
  version: z.number(),
  /** ISO time of the snapshot. */
  takenAt: z.string(),
  /** Hashes of the migrations that the database had, oldest first. */
  migrations: z.array(z.string()).readonly(),
  chainIds: z.array(z.number()).readonly(),
});
type BackupBegin = z.infer<typeof beginSchema>;

/** The last frame: all tables with what the file holds of them. */
const manifestSchema = z.object({ tables: z.array(countSchema).readonly() });
type BackupManifest = z.infer<typeof manifestSchema>;

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
  const begin = parseFrame(await nextFrame(frames), "begin", beginSchema);
  if (begin.format !== "agent-health-backup" || begin.version !== 1) {
    throw new Error("this is no backup that this version can read");
  }
  await migrateThrough(db, begin.migrations);
  const manifest = await fill(db, frames);
  await migrateDatabase(db);
  return { ...begin, ...manifest };
}

async function fill(db: Database, frames: Frames): Promise<BackupManifest> {
  const client = await db.$client.connect();
  try {
    await client.query("set statement_timeout = 0");
    await client.query("begin");
    // No process writes them before this ends.
    for (const table of await tablesInOrder(client)) await takeEmpty(client, { schema: "ahs", table });
    const manifest = await copyAll(client, frames);
    await client.query("commit");
    return manifest;
  } finally {
    // Closing the connection undoes what is not committed.
    client.release(true);
  }
}

async function copyAll(client: PoolClient, frames: Frames): Promise<BackupManifest> {
  const restored: TableCount[] = [];
  for (let frame = await nextFrame(frames); ; frame = await nextFrame(frames)) {
    if (frame.kind === "whole") {
      const manifest = parseFrame(frame, "whole", manifestSchema);
      requireSameTables(manifest.tables, restored);
      return manifest;
    }
    const begun = parseFrame(frame, "table", tableSchema);
    restored.push(await readTable(client, { schema: "ahs", table: begun.table }, { begun, frames }));
  }
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
    yield encodeJson("begin", await readBegin(client, now));
    const tables: TableCount[] = [];
    for (const table of await tablesInOrder(client)) {
      tables.push(yield* writeTable(client, { schema: "ahs", table }));
    }
    const manifest: BackupManifest = { tables };
    yield encodeJson("whole", manifest);
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
