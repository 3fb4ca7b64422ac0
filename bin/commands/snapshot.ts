import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { createZstdCompress, createZstdDecompress } from "node:zlib";
import { BlockNotFoundError } from "viem";
import { type Deployment, loadDeployment, samplingOf } from "../../service/chain/deployments.ts";
import {
  type Database,
  migrateDatabase,
  relationExists,
  requireMigrated,
} from "../../service/db/database.ts";
import {
  restoreSnapshot,
  type Snapshot,
  type SnapshotSubject,
  writeSnapshot,
} from "../../service/db/snapshot.ts";
import { AHS_2026_2 } from "../../service/model/score/policy.ts";
import { actionsOf, indexedDeployment, onlyOne, withDatabase } from "../command.ts";
import { type Config, type Invocation, requireChainSettings } from "../config.ts";
import { makeCache } from "../indexer/make-cache.ts";
import { readPonderVersion } from "../indexer/start-ponder.ts";
import { openChainClient } from "../process.ts";
import { writeWholeFile } from "../whole-file.ts";

/** Usage of `ahs snapshot`. */
export const USAGE = `Usage: ahs snapshot create FILE
       ahs snapshot restore FILE
create writes everything derived from the chain, and the scores with their files, into FILE while all processes go on: what
the indexer fetched, calls, transfers, facts of accounts, prices, reports of history sources. Nothing of callers is in it: no
key, payment, subscription, specification or verdict.
restore fills a migrated database that has indexed no chain, and asks the node (RPC_URL) for the block that FILE names. FILE
must be of the same version of this code, and of a deployment with the same chain, start block, identity registry, sanctions
list, market, entry points, bound of received transactions and sample of blocks; oracle and keys may be others.
Both take the owner's DATABASE_URL. Compare the digest that both print: a snapshot is trusted as its maker is.`;

/** `ahs snapshot create|restore` on the configured database. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  await runSnapshot(args, { config, out });
}

const runSnapshot = actionsOf<Pick<Invocation, "config" | "out">>(USAGE, { create, restore });

async function create(args: readonly string[], { config, out }: Pick<Invocation, "config" | "out">) {
  const file = resolve(fileIn(args));
  const subject = subjectOf(indexedDeployment(config));
  await withDatabase(config, "snapshot", async (db, { now }) => {
    await requireMigrated(db);
    const written: Snapshot[] = [];
    const bytes = async function* () {
      written.push(yield* writeSnapshot(db, { ...subject, now: now() }));
    };
    await writeWholeFile(file, bytes(), createZstdCompress());
    const { size } = await stat(file);
    for (const snapshot of written) for (const line of linesOf(snapshot)) out(line);
    out(`${size} bytes: ${file}`);
  });
}

async function restore(args: readonly string[], { config, out }: Pick<Invocation, "config" | "out">) {
  const file = fileIn(args);
  const { deploymentFile } = requireChainSettings(config);
  const subject = subjectOf(loadDeployment(deploymentFile));
  await withDatabase(config, "snapshot", async (db) => {
    await requireMigrated(db);
    const snapshot = await readSnapshotFile(file, { config, db, subject, out });
    for (const line of linesOf(snapshot)) out(line);
    if (snapshot.modelVersion !== subject.modelVersion) {
      out(
        `its scores are of ${snapshot.modelVersion}; this code computes them again as ${subject.modelVersion}`,
      );
    }
    out('start "ahs index" next: it builds the index from what was restored, then follows the node');
  });
}

function fileIn(args: readonly string[]): string {
  const { positionals } = parseArgs({ args: [...args], options: {}, allowPositionals: true });
  return onlyOne(positionals, "expected one FILE", USAGE);
}

/** The versions and the members of the deployment that a snapshot's rows depend on. */
function subjectOf(deployment: Deployment): SnapshotSubject {
  const { chainId, startBlock, identityRegistry, sanctionsList, market, accounts, receivedBound } =
    deployment;
  const { entryPoints } = accounts;
  const sample = samplingOf(deployment);
  return {
    chainId,
    deployment: { startBlock, identityRegistry, sanctionsList, market, entryPoints, receivedBound, sample },
    ponder: readPonderVersion(),
    modelVersion: AHS_2026_2.version,
  };
}

async function readSnapshotFile(
  file: string,
  given: Pick<Invocation, "out"> & {
    readonly config: Config;
    readonly db: Database;
    readonly subject: SnapshotSubject;
  },
): Promise<Snapshot> {
  const { config, db, subject, out } = given;
  const { rpcUrl, databaseUrl } = requireChainSettings(config);
  const read: Snapshot[] = [];
  const unpacked = createZstdDecompress();
  await pipeline(createReadStream(file), unpacked, async (bytes: AsyncIterable<Buffer>) => {
    const snapshot = await restoreSnapshot(db, bytes, {
      ...subject,
      blockHashAt: (blockNumber) => blockHashAt(rpcUrl, blockNumber),
      makeCache: async () => {
        if (!(await relationExists(db.$client, "ponder_sync.blocks"))) await makeCache(databaseUrl);
        // Hands the cache over to the indexer's role, where there is one.
        await migrateDatabase(db);
      },
      onTable: ({ table, rows }) => out(`${table}: ${rows} rows`),
    });
    read.push(snapshot);
  }).catch((error: unknown) => {
    throw isOfPacking(error) ? new Error(`${file} is no snapshot, or a broken one: ${error.message}`) : error;
  });
  const [snapshot] = read;
  if (snapshot === undefined) throw new Error(`${file} was not read to its end`);
  return snapshot;
}

async function blockHashAt(rpcUrl: string, blockNumber: number): Promise<string | null> {
  try {
    const { hash } = await openChainClient(rpcUrl).getBlock({ blockNumber: BigInt(blockNumber) });
    return hash;
  } catch (error) {
    if (error instanceof BlockNotFoundError) return null;
    throw error;
  }
}

function isOfPacking(error: unknown): error is Error {
  return error instanceof Error && "code" in error && /^(ZSTD|Z)_/.test(String(error.code));
}

function linesOf({ chainId, mark, takenAt, modelVersion, tables, sha256 }: Snapshot): readonly string[] {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return [
    `snapshot of chain ${chainId} at final block ${mark.blockNumber} (${mark.blockHash}), taken ${takenAt}`,
    `${rows} rows of ${tables.length} tables, scores of ${modelVersion}`,
    `digest ${sha256}`,
  ];
}
