import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import type { Logger } from "pino";
import { type Address, BlockNotFoundError, type PublicClient } from "viem";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { advanceChainMark, type ChainMark, readChainMark } from "../../service/db/chain-fence.ts";
import { type Database, withOwnNames } from "../../service/db/database.ts";
import { beginBuild } from "../../service/db/index-builds.ts";
import { resetChain } from "../../service/db/reset-chain.ts";
import { readFinalized } from "../../service/ingest/read-as-of.ts";
import { readUnfollowed } from "../../service/ingest/unfollowed.ts";
import { type Invocation, requireChainSettings } from "../config.ts";
import { indexSchemaName } from "../indexer/index-schema.ts";
import { startPonder } from "../indexer/start-ponder.ts";
import { dropLeftovers, takeOver } from "../indexer/take-over.ts";
import { createLogger, EXIT_RESTART, openChainClient, openMigratedDatabase } from "../process.ts";
import { createScrub, scrubOutput } from "../secrets/scrub.ts";
import { requireFreePort } from "../supervisor/child-process.ts";

const GUARD_INTERVAL_MS = 2_000;
const RPC_RETRY_MS = 1_000;
const ROOT = new URL("../..", import.meta.url).pathname;

/**
 * `ahs index`: runs the indexer of one chain in this process. It waits for the lock that makes it the only one, rebuilds
 * from a local chain that was lost or replaced, frees what a killed indexer left locked, and then follows the chain.
 */
export async function indexChain({ config }: Invocation): Promise<void> {
  const settings = requireChainSettings(config);
  const logger = createLogger(config, "index");
  process.once("exit", scrubOutput(createScrub(config.secrets), [process.stdout, process.stderr]));
  process.once("disconnect", () => process.kill(process.pid, "SIGINT"));
  // Ponder ends the process.
  const signal = AbortSignal.any([]);
  const { db, clock } = await openMigratedDatabase(config, "ahs-index", { logger, signal });
  const options = { db, logger, client: openChainClient(settings.rpcUrl) };
  const { chainId } = loadDeployment(settings.deploymentFile);
  const schema = indexSchemaName(ROOT, chainId, settings.deploymentFile);

  const lock = await holdIndexLock(options, schema);
  // Ponder would take the next port without a word, where no health check looks for it.
  await requireFreePort(config.metricsHost, config.indexPort);
  await ensureSameChain(options, chainId);
  await unlockSchema(lock, schema);
  await dropLeftovers(lock, schema);
  await beginBuild(lock, schema, clock.now());
  const unfollowed = (await readUnfollowed(db, chainId)).map(({ address }) => address);
  const guard = setInterval(() => {
    void guardChain(options, chainId);
    void guardUnfollowed(options, chainId, unfollowed);
  }, GUARD_INTERVAL_MS);
  guard.unref();
  void takeOver({ db, chainId, schema, logger, monotonicMs: clock.monotonicMs });
  await startPonder({
    root: ROOT,
    schema,
    // Ponder's own would lock readers out meanwhile, and show an old build again whenever that starts anew.
    viewsSchema: null,
    host: config.metricsHost,
    port: config.indexPort,
    logLevel: config.logLevel,
    // Named one by one: they go into an environment variable, and the whole configuration holds secrets.
    settings: {
      deploymentFile: settings.deploymentFile,
      rpcUrl: settings.rpcUrl,
      databaseUrl: withOwnNames(settings.databaseUrl),
      pollingIntervalMs: config.pollingIntervalMs,
      logsBlocks: config.logsBlocks,
      unfollowed,
    },
  });
}

/** The parts of the indexer that its guards use. */
type IndexParts = { readonly db: Database; readonly client: PublicClient; readonly logger: Logger };

/** One indexer per schema; PostgreSQL frees the lock with the connection of a process that dies. */
async function holdIndexLock({ db, logger }: IndexParts, schema: string): Promise<PoolClient> {
  const client = await db.$client.connect();
  client.on("error", (error) => {
    logger.fatal({ err: error }, "lost the index lock");
    process.exit(EXIT_RESTART);
  });
  await client.query("set statement_timeout = 0");
  const { rows } = await client.query("select pg_try_advisory_lock(hashtext($1)) as taken", [schema]);
  if (rows[0]?.taken === true) return client;
  logger.warn({ schema }, "another process indexes into this schema: waiting for it to end");
  await client.query("select pg_advisory_lock(hashtext($1))", [schema]);
  return client;
}

/** Ponder waits 25 s for the heartbeat of a killed indexer; the holder of our lock knows that it is gone. */
async function unlockSchema(lock: PoolClient, schema: string): Promise<void> {
  const { rows } = await lock.query("select to_regclass($1) as meta", [`${schema}._ponder_meta`]);
  if (rows[0]?.meta === null) return;
  await lock.query(
    `update ${lock.escapeIdentifier(schema)}._ponder_meta set value = jsonb_set(value::jsonb, '{is_locked}', '0')`,
  );
}

async function ensureSameChain(options: IndexParts, chainId: number): Promise<void> {
  const mark = await readChainMark(options.db, chainId);
  if (mark === null) return;
  if (await untilAnswered(options, () => servesMarkedChain(options.client, mark))) return;
  if (chainId !== LOCAL_CHAIN_ID) {
    throw new Error(
      `the node at the RPC URL does not serve block ${mark.blockNumber} with hash ${mark.blockHash}, which this database has indexed as final on chain ${chainId}: point it to a node of that chain; another chain of the same id takes another database`,
    );
  }
  options.logger.warn(
    { mark },
    "the local chain was lost or replaced: building everything derived from it anew",
  );
  await resetChain(options.db, chainId);
}

async function untilAnswered<T>(options: IndexParts, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      options.logger.warn({ err: error }, "the node does not answer, trying again");
      await new Promise((resolve) => setTimeout(resolve, RPC_RETRY_MS));
    }
  }
}

/** Follows the finalized block with the mark; a node that serves another chain ends this process, to start over. */
async function guardChain(options: IndexParts, chainId: number): Promise<void> {
  try {
    const mark = await readChainMark(options.db, chainId);
    if (mark !== null && !(await servesMarkedChain(options.client, mark))) {
      options.logger.fatal({ mark }, "the node serves another chain than the one indexed");
      process.exit(EXIT_RESTART);
    }
    const asOf = await readFinalized(options.db.$client, chainId);
    if (asOf === null || asOf.blockNumber === mark?.blockNumber) return;
    await advanceChainMark(options.db, chainId, {
      blockNumber: asOf.blockNumber,
      blockHash: asOf.blockHash,
      generation: mark?.generation ?? randomUUID(),
    });
  } catch (error) {
    options.logger.warn({ err: error }, "could not compare the chain with its mark");
  }
}

/** The list is read once, at the start: another one ends this process, to start over. */
async function guardUnfollowed(
  { db, logger }: IndexParts,
  chainId: number,
  unfollowed: readonly Address[],
): Promise<void> {
  try {
    const now = (await readUnfollowed(db, chainId)).map(({ address }) => address);
    if (now.length === unfollowed.length && now.every((address) => unfollowed.includes(address))) return;
    logger.warn(
      { before: unfollowed.length, now: now.length },
      "other addresses are unfollowed: starting again",
    );
    process.exit(EXIT_RESTART);
  } catch (error) {
    logger.warn({ err: error }, "could not read which addresses are unfollowed");
  }
}

/** Whether the node still serves the chain that the mark was taken from. Raises the node's error when it is out of reach. */
async function servesMarkedChain(client: PublicClient, mark: ChainMark): Promise<boolean> {
  try {
    const block = await client.getBlock({ blockNumber: BigInt(mark.blockNumber) });
    return block.hash === mark.blockHash;
  } catch (error) {
    if (error instanceof BlockNotFoundError) return false;
    throw error;
  }
}
