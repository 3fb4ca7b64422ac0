import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { Logger } from "pino";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Deployment } from "../service/chain/deployments.ts";
import type { Database } from "../service/db/database.ts";
import type { DatabaseClock } from "../service/db/database-clock.ts";
import { fromIndex, readIndexHead } from "../service/db/index-snapshot.ts";
import {
  countCallers,
  readChainQueues,
  readDatabaseUse,
  readFeedPrice,
  readScoreAges,
} from "../service/db/operation-facts.ts";
import { readQuarantineFacts } from "../service/db/quarantine.ts";
import { QUARANTINE_KINDS } from "../service/db/tables/quarantine.ts";
import { watchSanctionsSources } from "../service/sanctions/metrics.ts";
import { createSourceWatch, readSanctionsSources, type SourceWatch } from "../service/sanctions/sources.ts";
import { readBackingAsOf } from "../service/scores/backing/store-backing.ts";
import type { Config } from "./config.ts";
import type { DropReason } from "./serve/connection-limits.ts";

type Watched = {
  readonly db: Database;
  readonly deployment: Pick<Deployment, "chainId" | "market">;
  readonly logger: Logger;
  readonly clock: DatabaseClock;
};

/** Scrapes come every few seconds, and from several places. */
const KEEP_MS = 5_000;
/** All scores are read for their ages, which change by no more than the time that passes, and all files for the database's size. */
const KEEP_LONG_MS = 60_000;

/** Registers what build a process runs, always 1; once per registry. */
function addBuildInfo(registry: Registry, processName: string): void {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const info = new Gauge({
    name: "ahs_build_info",
    help: "1, with the version, the Node and the kind of the process",
    labelNames: ["version", "node", "process"],
    registers: [registry],
  });
  info.set({ version, node: process.version, process: processName }, 1);
}

/** Registers how far this machine's date is ahead of the database's time; once per registry. */
function watchClock(registry: Registry, { clock }: Pick<Watched, "clock">): void {
  addGauge(
    registry,
    "ahs_clock_ahead_seconds",
    "Seconds by which the machine's clock is ahead of the database's",
    async () => clock.aheadSeconds(),
  );
}

/** Registers how old the index is, read from the database when the registry is; once per registry. */
function watchIndex(registry: Registry, watched: Watched): void {
  const { db, deployment, clock } = watched;
  const head = remembering(watched, () => fromIndex(readIndexHead(db, deployment.chainId)));
  addGauge(registry, "ahs_index_block", "Newest indexed block", async () => (await head())?.blockNumber);
  addGauge(registry, "ahs_index_age_seconds", "Age of the newest indexed block", async () => {
    const known = await head();
    return known == null ? undefined : clock.now().getTime() / 1_000 - known.timestamp;
  });
}

/** Registers how old scores are and what waits for the chain, read from the database when the registry is; once per registry. */
export function watchScores(registry: Registry, watched: Watched): void {
  const { db, deployment, clock } = watched;
  const { chainId, market } = deployment;
  const asOf = () => ({ chainId, now: clock.now() });
  const ages = remembering(watched, () => readScoreAges(db.$client, asOf()), KEEP_LONG_MS);
  const backing = remembering(watched, () => readBackingAsOf(db, chainId));
  const queues = remembering(watched, () => readChainQueues(db.$client, asOf()));
  const add = (name: string, help: string, read: () => Promise<number | null | undefined>) =>
    addGauge(registry, name, help, read);
  add("ahs_score_wallets", "Wallets that have a score", async () => (await ages())?.wallets);
  add(
    "ahs_score_cut_wallets",
    "Wallets whose score covers their newest calls alone, since they made more than are read",
    async () => (await ages())?.cut,
  );
  add(
    "ahs_score_postponed_wallets",
    "Followed wallets with too little history whose last score is older than 30 hours, since a night scores 20,000 idle ones",
    async () => (await ages())?.postponed,
  );
  add("ahs_backing_age_seconds", "Age of the block that all backing is of", async () => {
    const known = await backing();
    return known == null ? undefined : (clock.now().getTime() - known.asOfTime.getTime()) / 1_000;
  });
  add("ahs_score_age_median_seconds", "Median age of current scores", async () => (await ages())?.median);
  add("ahs_score_age_max_seconds", "Age of the oldest current score", async () => (await ages())?.oldest);
  add(
    "ahs_publish_overdue_seconds",
    "How long the longest waiting publication has been due",
    async () => (await queues())?.publish.overdueSeconds,
  );
  add(
    "ahs_sender_pending",
    "Transactions that are in no block yet",
    async () => (await queues())?.sender.waiting,
  );
  add(
    "ahs_sender_overdue_seconds",
    "How long the longest waiting transaction has been due",
    async () => (await queues())?.sender.overdueSeconds,
  );
  const { feed } = market.native;
  if (feed === null) return;
  const price = remembering(watched, () => readFeedPrice(db.$client, { chainId, feed }));
  add("ahs_native_price_usd", "Last stored price of the native coin in US dollars", price);
}

/** Registers how much of PostgreSQL is used and how many callers are refused for their rates; once per registry. */
function watchDatabase(registry: Registry, watched: Watched): void {
  const { db } = watched;
  const use = remembering(watched, () => readDatabaseUse(db.$client), KEEP_LONG_MS);
  addGauge(registry, "ahs_database_bytes", "Size of the database", async () => (await use())?.bytes);
  addGauge(
    registry,
    "ahs_database_connections",
    "Open connections to PostgreSQL",
    async () => (await use())?.connections,
  );
  addGauge(
    registry,
    "ahs_database_connections_max",
    "Connections that PostgreSQL allows",
    async () => (await use())?.maxConnections,
  );
  const callers = remembering(watched, () => countCallers(db.$client));
  addGauge(
    registry,
    "ahs_callers_active",
    "Keys and wallets that called within a minute",
    async () => (await callers())?.active,
  );
  addGauge(
    registry,
    "ahs_callers_limited",
    "Those of them whose last call was refused for their rate",
    async () => (await callers())?.limited,
  );
}

/** Registers how many items are quarantined by kind of work, read from the database when the registry is; once per registry. */
function watchQuarantine(registry: Registry, watched: Watched): void {
  const { db, deployment } = watched;
  const read = remembering(watched, () => readQuarantineFacts(db.$client, deployment.chainId));
  new Gauge({
    name: "ahs_quarantined",
    help: "Items whose work fails while that on others succeeds, by kind of work; each is tried again later",
    labelNames: ["kind"],
    registers: [registry],
    async collect() {
      const facts = await read();
      this.reset();
      if (facts === undefined) return;
      const counts = new Map(facts.map(({ kind, count }) => [kind, count]));
      for (const kind of QUARANTINE_KINDS) this.set({ kind }, counts.get(kind) ?? 0);
    },
  });
}

function addGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => Promise<number | null | undefined>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      // An unknown metric has no value: neither the last one nor zero.
      this.remove();
      if (value !== null && value !== undefined) this.set(value);
    },
  });
}

/** Reads once in so many milliseconds, however many ask; undefined where it cannot be read: the other metrics are worth reading all the same. */
function remembering<Value>(
  { logger }: Watched,
  read: () => Promise<Value>,
  keepMs = KEEP_MS,
): () => Promise<Value | undefined> {
  let readAt = Number.NEGATIVE_INFINITY;
  let known: Promise<Value | undefined> | null = null;
  return () => {
    if (known !== null && performance.now() - readAt < keepMs) return known;
    readAt = performance.now();
    known = read().catch((error: unknown) => {
      logger.warn({ err: error }, "a metric cannot be read");
      return undefined;
    });
    return known;
  };
}

/** Metrics of a server, of the index and of the sanctions sources, and the watch of those sources for readiness. */
export function serverMetrics({
  db,
  deployment,
  logger,
  clock,
}: Watched & { readonly deployment: Deployment }): {
  readonly registry: Registry;
  readonly sanctionsSources: SourceWatch;
} {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addBuildInfo(registry, "serve");
  watchClock(registry, { clock });
  watchIndex(registry, { db, deployment, logger, clock });
  const sanctionsSources = createSourceWatch({ ...clock, read: () => readSanctionsSources(db, deployment) });
  watchSanctionsSources(registry, { sources: sanctionsSources, now: clock.now, logger });
  return { registry, sanctionsSources };
}

/** Counts the connections that a server ends. */
export function countDrops(registry: Registry): (reason: DropReason) => void {
  const drops = new Counter({
    name: "ahs_http_connections_dropped_total",
    help: "Connections ended for what their client did, by reason",
    labelNames: ["reason"],
    registers: [registry],
  });
  return (reason) => drops.inc({ reason });
}

/** Metrics of a worker, of the index, the scores and the sanctions sources, served at METRICS_PORT if it is set. */
export function workerMetrics(
  config: Pick<Config, "metricsPort" | "metricsHost">,
  watched: Watched & { readonly deployment: Deployment },
  signal: AbortSignal,
): Registry {
  const { db, deployment, logger, clock } = watched;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addBuildInfo(registry, "work");
  watchClock(registry, watched);
  watchIndex(registry, watched);
  watchScores(registry, watched);
  watchQuarantine(registry, watched);
  watchDatabase(registry, watched);
  const sources = createSourceWatch({
    read: () => readSanctionsSources(db, deployment),
    monotonicMs: clock.monotonicMs,
  });
  watchSanctionsSources(registry, { sources, logger, now: clock.now });
  serveMetrics(registry, config, signal);
  return registry;
}

/** Serves the registry at /metrics of a port of its own until the signal fires; does nothing where none is configured. */
export function serveMetrics(
  registry: Registry,
  { metricsPort, metricsHost }: Pick<Config, "metricsPort" | "metricsHost">,
  signal: AbortSignal,
): void {
  if (metricsPort === null) return;
  const server = createServer((request, response) => {
    if (request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { "content-type": registry.contentType }).end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  server.listen(metricsPort, metricsHost);
  signal.addEventListener("abort", () => server.close());
}
