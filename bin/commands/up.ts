import { once } from "node:events";
import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { announce } from "../../devnet/demo/announce.ts";
import { awaitIndexed, awaitPublished, awaitServing } from "../../devnet/demo/await-ready.ts";
import { claimDataDir, keepDemoKey, type LocalFiles, localFiles } from "../../devnet/demo/local-files.ts";
import { createProgress } from "../../devnet/demo/progress.ts";
import { simulatePast } from "../../devnet/demo/simulate-past.ts";
import { type Rising, type RunningChain, startChain, startDatabase } from "../../devnet/demo/start-chain.ts";
import {
  type ProcessUrls,
  sameUrlForAll,
  startServices,
  urlsOfLeastRights,
} from "../../devnet/demo/start-services.ts";
import { DEMO_LABELS } from "../../devnet/demo-services.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { type Database, migrateDatabase } from "../../service/db/database.ts";
import { openDatabaseClock } from "../../service/db/database-clock.ts";
import type { Config, Invocation } from "../config.ts";
import { createLogger, MACHINE_CLOCK, openProcessDatabase, shutdownSignal } from "../process.ts";
import { type Child, requireFreePort, startHost } from "../supervisor/child-process.ts";

const DEFAULT_SEED = "1";
const DEFAULT_WALLETS = "200";

/** Usage of `ahs up`. */
export const USAGE = `Usage: ahs up [--seed NUMBER] [--wallets NUMBER]
Keeps its data in --data-dir (.ahs) and writes the URLs, keys and addresses of the running service to up.json there.
  --seed NUMBER     what the simulated population is drawn from; default ${DEFAULT_SEED}
  --wallets NUMBER  wallets of the population; default ${DEFAULT_WALLETS}
--database-url and --rpc-url use a database or a local node that already runs.`;

/**
 * `ahs up`: everything on this machine, from nothing to served and published scores; it stays until SIGINT or SIGTERM and
 * leaves no process behind. It continues with the contents of its data directory.
 */
export async function run({ config, args, out }: Invocation): Promise<void> {
  const wanted = { config, out, population: populationOf(args) };
  await requireFreePort(config.host, config.port);
  const files = localFiles(config.dataDir);
  claimDataDir(files);
  rmSync(files.upFile, { force: true });
  const signal = shutdownSignal();
  const progress = createProgress(process.stderr, () => performance.now() / 1_000);
  const rising: Rising = { files, progress, children: [], deaths: [], signal };
  const aborted = once(signal, "abort").then(() => null);
  const risen = bringUp(wanted, rising);
  let past = Promise.resolve();
  try {
    const up = await Promise.race([risen, aborted]);
    if (up !== null) {
      past = givePast(wanted, up, signal);
      startJobs(wanted, rising);
    }
    const death = await Promise.race([aborted, ...rising.deaths]);
    if (death !== null) throw new Error(`${death}; everything is stopped, start again to go on`);
  } finally {
    out("stopping");
    progress.end();
    rmSync(files.upFile, { force: true });
    await stopAll(rising.children);
    // A service that was still starting fails now; processes that it started meanwhile are stopped as well.
    await risen.catch(() => undefined);
    await stopAll(rising.children);
    await past;
    rmSync(files.pidFile, { force: true });
  }
}

/** Newest first: nothing is taken away from a process that still needs it. */
async function stopAll(children: Child[]): Promise<void> {
  for (let child = children.pop(); child !== undefined; child = children.pop()) await child.stop();
}

function populationOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: DEFAULT_SEED },
      wallets: { type: "string", default: DEFAULT_WALLETS },
    },
  });
  return values;
}

type Up = { readonly databaseUrl: string; readonly deploymentFile: string };

/** Stores the simulated past, in the background: the service answers without it. A failure is reported and changes nothing. */
async function givePast(
  { config, out }: Pick<Invocation, "config" | "out">,
  { databaseUrl, deploymentFile }: Up,
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger({ ...config, logLevel: "silent" }, "up");
  const db = openProcessDatabase({ ...config, databaseUrl }, "ahs-up", logger);
  try {
    const deployment = loadDeployment(deploymentFile);
    const { now } = await openDatabaseClock(db, MACHINE_CLOCK);
    const isNew = await simulatePast({ db, deployment, now, signal });
    if (isNew) out("The simulated past is stored: weekly scores, 14 nightly scans and a day of probes.");
  } catch (error) {
    if (!signal.aborted)
      out(`the simulated past is not stored: ${error instanceof Error ? error.message : error}`);
  } finally {
    await db.$client.end();
  }
}

const JOBS_SCRIPT = new URL("../../devnet/demo/demo-jobs.ts", import.meta.url).pathname;

/** Has jobs of every state played in the background, and prints where they are once that is done. */
function startJobs(
  { out, population }: Pick<Invocation, "out"> & { population: ReturnType<typeof populationOf> },
  { files, children }: Rising,
): void {
  const { host, ready } = startHost({
    name: "jobs",
    script: JOBS_SCRIPT,
    args: ["--data-dir", files.dataDir, "--seed", population.seed],
    env: {},
    logFile: files.logFile("jobs"),
  });
  children.push(host);
  void ready.then(
    (message) => {
      const { lines } = message as { readonly lines: readonly string[] };
      if (lines.length > 0) out("Jobs and verdicts of every state, by the scripted model:");
      for (const line of lines) out(line);
    },
    // Stopped before its end, or with nothing to play: its log says more.
    () => undefined,
  );
}

async function bringUp(
  {
    config,
    out,
    population,
  }: Pick<Invocation, "config" | "out"> & { population: ReturnType<typeof populationOf> },
  rising: Rising,
): Promise<Up> {
  const databaseUrl = config.databaseUrl ?? (await startDatabase(rising));
  rising.signal.throwIfAborted();
  const logger = createLogger({ ...config, logLevel: "silent" }, "up");
  const db = openProcessDatabase({ ...config, databaseUrl }, "ahs-up", logger);
  try {
    // Before the chain, which takes a minute, so that an unusable database is reported at once.
    const urls = await prepareDatabase({
      db,
      files: rising.files,
      databaseUrl,
      isOurs: config.databaseUrl === null,
    });
    const apiKey = await keepDemoKey(db, rising.files);
    rising.signal.throwIfAborted();
    const chain = await startChain(rising, { rpcUrl: config.rpcUrl, ...population });
    rising.signal.throwIfAborted();
    const { rpcUrl, deploymentFile } = chain;
    const onChain = {
      ...config,
      rpcUrl,
      deploymentFile,
      labels: labelsOf(config, chain),
      // The documents of local services are at the demo's own gateway alone.
      ipfsGateway: new URL(chain.labelsUrl).origin,
    };
    const services = await startServices(rising, onChain, urls);
    const head = await awaitIndexed(rising, { db, chain, indexUrl: services.indexUrl });
    chain.live();
    await awaitPublished(rising, { db, chainId: chain.chainId, head });
    await awaitServing(rising, services.baseUrl);
    rising.progress.end();
    const { baseUrl, scriptedUrl } = services;
    announce({ files: rising.files, out, chain, databaseUrl, apiKey, baseUrl, scriptedUrl });
    if (config.databaseUrl !== null) {
      out(
        "Every process uses the user of the given database: docs/database.md describes how each gets its own.",
      );
    }
    return { databaseUrl, deploymentFile };
  } finally {
    await db.$client.end();
  }
}

/** The configured provider of labels, else the scripted one. */
function labelsOf({ labels }: Config, { labelsUrl }: RunningChain): Config["labels"] {
  return labels.url !== null ? labels : { url: labelsUrl, apiKey: null, provider: DEMO_LABELS };
}

async function prepareDatabase({
  db,
  files,
  databaseUrl,
  isOurs,
}: {
  db: Database;
  files: LocalFiles;
  databaseUrl: string;
  /** False if another party runs it. */
  isOurs: boolean;
}): Promise<ProcessUrls> {
  try {
    if (isOurs) return await urlsOfLeastRights(db, files, databaseUrl);
    await migrateDatabase(db);
    return sameUrlForAll(databaseUrl);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the database cannot be used: ${reason}`, { cause: error });
  }
}
