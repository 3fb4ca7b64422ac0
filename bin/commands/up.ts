import { once } from "node:events";
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { migrateDatabase } from "../../service/store/database.ts";
import type { Invocation } from "../ahs.ts";
import { createLogger, openProcessDatabase, shutdownSignal } from "../process.ts";
import type { Child } from "../supervisor/child-process.ts";
import { announce } from "../up/announce.ts";
import { awaitIndexed, awaitPublished, awaitServing } from "../up/await-ready.ts";
import { keepDemoKey } from "../up/demo-key.ts";
import { claimDataDir, type LocalFiles, localFiles } from "../up/local-files.ts";
import { createProgress, type Progress } from "../up/progress.ts";
import { startChain } from "../up/start-chain.ts";
import { startDatabase } from "../up/start-database.ts";
import { startServices } from "../up/start-services.ts";

const DEFAULT_SEED = "1";
const DEFAULT_WALLETS = "200";

/**
 * `ahs up`: everything on this machine, from nothing to served and published scores; it stays until SIGINT or SIGTERM and
 * leaves no process behind. What it finds in its data directory it goes on with.
 */
export async function up(invocation: Invocation): Promise<void> {
  const files = localFiles(invocation.config.dataDir);
  claimDataDir(files);
  rmSync(files.upFile, { force: true });
  const signal = shutdownSignal();
  const progress = createProgress(process.stderr);
  const children: Child[] = [];
  const deaths: Promise<string>[] = [];
  try {
    await bringUp(invocation, { files, progress, children, deaths, signal });
    const stopped = signal.aborted ? Promise.resolve() : once(signal, "abort");
    const death = await Promise.race([stopped.then(() => null), ...deaths]);
    invocation.out("stopping");
    if (death !== null) throw new Error(`${death}; everything is stopped, start again to go on`);
  } catch (error) {
    // Whatever fails while it is being stopped fails because of that.
    if (!signal.aborted) throw error;
  } finally {
    progress.end();
    rmSync(files.upFile, { force: true });
    for (const child of children.reverse()) await child.stop();
    rmSync(files.pidFile, { force: true });
  }
}

export type Rising = {
  readonly files: LocalFiles;
  readonly progress: Progress;
  /** Every process started so far, oldest first: they are stopped from the end. */
  readonly children: Child[];
  /** Each resolves when a process dies that nothing can go on without. */
  readonly deaths: Promise<string>[];
  readonly signal: AbortSignal;
};

async function bringUp({ config, args, out }: Invocation, rising: Rising): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: DEFAULT_SEED },
      wallets: { type: "string", default: DEFAULT_WALLETS },
    },
  });
  const databaseUrl = config.databaseUrl ?? (await startDatabase(rising));
  const chain = await startChain(rising, {
    rpcUrl: config.rpcUrl,
    seed: values.seed,
    wallets: values.wallets,
  });
  const local = { ...config, databaseUrl, rpcUrl: chain.rpcUrl, deploymentFile: chain.deploymentFile };
  const db = openProcessDatabase(local, "ahs-up", createLogger({ ...config, logLevel: "silent" }, "up"));
  try {
    await migrateDatabase(db);
    const apiKey = await keepDemoKey(db, rising.files);
    const services = await startServices(rising, local);
    await awaitIndexed(rising, { db, chain, indexUrl: services.indexUrl });
    chain.live();
    await awaitPublished(rising, db, chain.chainId);
    await awaitServing(rising, services.baseUrl);
    announce({ files: rising.files, out, chain, databaseUrl, apiKey, baseUrl: services.baseUrl });
  } finally {
    await db.$client.end();
  }
}
