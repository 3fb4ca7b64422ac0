import { createHash, type Hash } from "node:crypto";
import { drizzle } from "drizzle-orm/node-postgres";
import type { ClientBase } from "pg";
import { z } from "zod";
import { takeChain } from "./chain-fence.ts";
import { type Database, readApplied, relationExists } from "./database.ts";
import {
  countSchema,
  decodeFrames,
  encodeFrame,
  encodeJson,
  type Frames,
  nameOf,
  nextFrame,
  type Place,
  parseFrame,
  readColumns,
  readTable,
  requireEqual,
  requireSameTables,
  type TableCount,
  tableSchema,
  takeEmpty,
  writeTable,
} from "./table-file.ts";

/** Tables of the schema `ahs` whose rows are derived from a chain, and its scores with their files: parents before children. */
export const SNAPSHOT_TABLES = [
  "chain_mark",
  "enrich_cursor",
  "enrich_wallet",
  "own_call",
  "enrich_block",
  "enrich_transfer",
  "enrich_approval",
  "enrich_user_operation",
  "contact",
  "sampled_contact",
  "account_fact",
  "pending_fact",
  "feed_price",
  "wallet_delegation",
  "stored_history",
  "registry_agent",
  "registry_cursor",
  "sanctions_reading",
  "wallet_backing",
  "paid_feedback",
  "input_file",
  "score",
  "current_score",
] as const;

/** The indexer's cache of the chain, from which it builds an index without asking the node again. */
const CACHE_TABLES = [
  "blocks",
  "transactions",
  "transaction_receipts",
  "logs",
  "traces",
  "rpc_request_results",
  "intervals",
  "factories",
  "factory_addresses",
] as const;

const PLACES: readonly Place[] = [
  ...CACHE_TABLES.map((table) => ({ schema: "ponder_sync", table })),
  ...SNAPSHOT_TABLES.map((table) => ({ schema: "ahs", table })),
];

const FORMAT = "agent-health-snapshot";
const VERSION = 1;

/** The first frame of a snapshot. */
const headerSchema = z.object({
  format: z.literal(FORMAT),
  version: z.literal(VERSION),
  /** ISO time of the snapshot. */
  takenAt: z.iso.datetime(),
  chainId: z.int().positive(),
  /** The members of the deployment file that the rows depend on. */
  deployment: z.record(z.string(), z.unknown()),
  /** Hashes of the migrations that the database had, oldest first. */
  migrations: z.array(z.string()),
  /** Version of the indexer whose cache it is. */
  ponder: z.string(),
  /** Of the newest policy of the code that made it. */
  modelVersion: z.string(),
  /** The block by which the database knew its chain. */
  mark: z.object({ blockNumber: z.int().nonnegative(), blockHash: z.string() }),
});
type SnapshotHeader = z.infer<typeof headerSchema>;

/** The last frame: all tables, and the SHA-256 of all frames before it, hexadecimal. */
const manifestSchema = z.object({ tables: z.array(countSchema), sha256: z.string() });
export type Snapshot = SnapshotHeader & z.infer<typeof manifestSchema>;

/** The members of a header that decide whether a snapshot fits, and the version of its scores. */
export type SnapshotSubject = Pick<SnapshotHeader, "chainId" | "deployment" | "ponder" | "modelVersion">;

/**
 * Everything derived from one chain as of one moment, while others write: yields its bytes as they are read, some kilobytes at
 * a time. Nothing of callers, keys or payments is in it. Throws while the database has no final block of the chain.
 */
export async function* writeSnapshot(
  db: Database,
  subject: SnapshotSubject & { readonly now: Date },
): AsyncGenerator<Buffer, Snapshot> {
  const client = await db.$client.connect();
  try {
    // A table takes as long as it is large.
    await client.query("set statement_timeout = 0");
    await client.query("begin isolation level repeatable read read only");
    const content = writeContent(client, subject);
    const hash = createHash("sha256");
    for (;;) {
      const { value, done } = await content.next();
      if (done === true) {
        const manifest = { tables: value.tables, sha256: hash.digest("hex") };
        yield encodeJson("whole", manifest);
        return { ...value.header, ...manifest };
      }
      hash.update(value);
      yield value;
    }
  } finally {
    // A reader that went away leaves a COPY open.
    client.release(true);
  }
}

async function* writeContent(client: ClientBase, subject: Parameters<typeof writeSnapshot>[1]) {
  const header = await readHeader(client, subject);
  yield encodeJson("begin", header);
  const tables: TableCount[] = [];
  for (const place of PLACES) tables.push(yield* writeTable(client, place, ofChain(place, header.chainId)));
  return { header, tables };
}

async function readHeader(
  client: ClientBase,
  { now, ...subject }: Parameters<typeof writeSnapshot>[1],
): Promise<SnapshotHeader> {
  const mark = await readMark(client, subject.chainId);
  if (mark === null || !(await relationExists(client, "ponder_sync.blocks"))) {
    throw new Error(`the database has no final block of chain ${subject.chainId}: let "ahs index" run first`);
  }
  const migrations = [...(await readApplied(client))];
  return { format: FORMAT, version: VERSION, takenAt: now.toISOString(), ...subject, migrations, mark };
}

async function readMark(client: ClientBase, chainId: number): Promise<SnapshotHeader["mark"] | null> {
  const { rows } = await client.query<SnapshotHeader["mark"]>(
    `select block_number::float8 as "blockNumber", block_hash as "blockHash" from ahs.chain_mark where chain_id = $1`,
    [chainId],
  );
  return rows[0] ?? null;
}

/** SQL that selects the rows of a chain. */
function ofChain({ table }: Place, chainId: number): string {
  // Files are found by their hash, whatever chain they are of.
  if (table === "input_file") return "true";
  return `${chainOf(table)} = ${chainId}`;
}

function chainOf(table: string): string {
  return table === "factories" ? "(factory ->> 'chainId')::bigint" : "chain_id";
}

/** The database and the node that a snapshot must fit, and what the command knows of them. */
export type SnapshotTarget = SnapshotSubject & {
  /** The hash of the node's block at a height; null where it has none. */
  readonly blockHashAt: (blockNumber: number) => Promise<string | null>;
  /** Makes the tables of the indexer's cache, where they are not there. */
  readonly makeCache: () => Promise<void>;
  readonly onTable: (count: TableCount) => void;
};

/**
 * Fills a migrated database that has indexed no chain from a snapshot, all of it or nothing, under a new generation of the chain.
 * Throws with the given and the expected value when the snapshot is of another chain, deployment, schema or indexer; when the
 * node has another block at its mark; when the database has rows; and when the file is broken or cut off.
 */
export async function restoreSnapshot(
  db: Database,
  bytes: AsyncIterable<Buffer>,
  target: SnapshotTarget,
): Promise<Snapshot> {
  const hash = createHash("sha256");
  const frames = hashing(decodeFrames(bytes), hash);
  const header = readBegin(parseFrame(await nextFrame(frames), "begin", z.unknown()));
  requireFitting(header, target, await readApplied(db.$client));
  await requireNode(header.mark, target);
  await requireNoIndex(db);
  await target.makeCache();
  const client = await db.$client.connect();
  try {
    await client.query("set statement_timeout = 0");
    await client.query("begin");
    await takeChain(drizzle(client), header.chainId);
    for (const place of PLACES) await takeEmpty(client, place);
    const manifest = await copyAll(client, { frames, hash, header, onTable: target.onTable });
    await client.query("update ahs.chain_mark set generation = gen_random_uuid()::text, updated_at = now()");
    await client.query("commit");
    return { ...header, ...manifest };
  } finally {
    // Closing the connection undoes what is not committed.
    client.release(true);
  }
}

/** The same frames; the hash covers each of them but the last. */
async function* hashing(frames: Frames, hash: Hash): Frames {
  for await (const frame of frames) {
    if (frame.kind !== "whole") hash.update(encodeFrame(frame.kind, frame.payload));
    yield frame;
  }
}

/** Another format or version is named before anything else that does not fit. */
function readBegin(begin: unknown): SnapshotHeader {
  const kind = z.object({ format: z.unknown(), version: z.unknown() }).safeParse(begin).data;
  if (kind?.format !== FORMAT || kind.version !== VERSION) {
    const given = `${short(kind?.format)} ${short(kind?.version)}`;
    throw new Error(`the file is ${given}, and this version reads "${FORMAT}" ${VERSION}`);
  }
  const header = headerSchema.safeParse(begin);
  if (!header.success) throw new Error(`the file is broken: begin: ${z.prettifyError(header.error)}`);
  return header.data;
}

function requireFitting(
  given: SnapshotHeader,
  expected: SnapshotSubject,
  migrations: readonly string[],
): void {
  const faults = [
    differing("chain", given.chainId, expected.chainId),
    ...Object.keys(expected.deployment).map((member) =>
      differing(`deployment's ${member}`, given.deployment[member], expected.deployment[member]),
    ),
    differing("schema", versionOf(given.migrations), versionOf(migrations)),
    differing("indexer", given.ponder, expected.ponder),
  ].filter((fault) => fault !== null);
  if (faults.length > 0) throw new Error(`the snapshot does not fit: ${faults.join("; ")}`);
}

/** Addresses are the same in any case. */
function differing(what: string, given: unknown, expected: unknown): string | null {
  const [found, wanted] = [given, expected].map((value) => JSON.stringify(value)?.toLowerCase());
  return found === wanted ? null : `its ${what} is ${short(given)}, expected ${short(expected)}`;
}

const MAX_SHOWN = 200;

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

/** Migrations by their number and the beginning of the hash of all of them. */
function versionOf(migrations: readonly string[]): string {
  const hash = createHash("sha256").update(migrations.join()).digest("hex");
  return `${migrations.length} migrations, ${hash.slice(0, 12)}`;
}

async function requireNode({ blockNumber, blockHash }: SnapshotHeader["mark"], target: SnapshotTarget) {
  const found = await target.blockHashAt(blockNumber);
  if (found === blockHash) return;
  throw new Error(
    `the snapshot is of a chain whose block ${blockNumber} is ${short(blockHash)}; the node's is ${found ?? "not there yet"}`,
  );
}

async function requireNoIndex({ $client }: Database): Promise<void> {
  const { rows } = await $client.query<{ name: string }>(
    "select nspname as name from pg_namespace where nspname ~ '^(index|chain)_[0-9]+(_|$)' order by 1 limit 1",
  );
  if (rows[0] === undefined) return;
  throw new Error(
    `the database has the index ${rows[0].name}: expected a database that has indexed no chain`,
  );
}

async function copyAll(
  client: ClientBase,
  {
    frames,
    hash,
    header,
    onTable,
  }: Pick<SnapshotTarget, "onTable"> & {
    readonly frames: Frames;
    readonly hash: Hash;
    readonly header: SnapshotHeader;
  },
): Promise<z.infer<typeof manifestSchema>> {
  const restored: TableCount[] = [];
  for (const place of PLACES) {
    const begun = parseFrame(await nextFrame(frames), "table", tableSchema);
    requireEqual("table", place.table, begun.table);
    requireEqual(
      `columns of ${place.table}`,
      (await readColumns(client, place)).join(),
      begun.columns.join(),
    );
    const count = await readTable(client, place, { begun, frames });
    await requireOneChain(client, place, header.chainId);
    // Without figures of the rows, the first statements on a large table take the wrong plans.
    await client.query(`analyze ${nameOf(client, place)}`);
    restored.push(count);
    onTable(count);
  }
  const manifest = parseFrame(await nextFrame(frames), "whole", manifestSchema);
  requireSameTables(manifest.tables, restored);
  requireEqual("digest", manifest.sha256, hash.digest("hex"));
  const mark = await readMark(client, header.chainId);
  requireEqual("mark", JSON.stringify(header.mark), JSON.stringify(mark));
  if ((await frames.next()).done !== true) throw new Error("the file is broken: it goes on after its end");
  return manifest;
}

async function requireOneChain(client: ClientBase, place: Place, chainId: number): Promise<void> {
  if (place.table === "input_file") return;
  const chain = chainOf(place.table);
  const { rows } = await client.query<{ least: string | null; most: string | null }>(
    `select min(${chain})::text as least, max(${chain})::text as most from ${nameOf(client, place)}`,
  );
  for (const { least, most } of rows) {
    for (const found of [least, most]) {
      if (found !== null) requireEqual(`chain of ${place.table}`, String(chainId), found);
    }
  }
}
