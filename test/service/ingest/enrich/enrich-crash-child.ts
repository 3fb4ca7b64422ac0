import { Client } from "pg";
import { pino } from "pino";
import { Registry } from "prom-client";
import { loadDeployment } from "../../../../service/chain/deployments.ts";
import { createChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { openDatabase } from "../../../../service/db/database.ts";
import { createEnrichMetrics, enrichLimits } from "../../../../service/ingest/enrich/context.ts";
import { createEnrichContext, enrichOnce } from "../../../../service/ingest/enrich/run-enrich.ts";

/**
 * Enriches in small ranges and kills its own process, as a power cut would: "asking" before its n-th request to the node,
 * "storing" with everything of its n-th range written but not committed, "stored" when that is committed.
 */
const [databaseUrl, rpcUrl, deploymentFile, point, nth] = process.argv.slice(2);
if (databaseUrl === undefined || rpcUrl === undefined || deploymentFile === undefined)
  throw new Error("expected DATABASE_URL RPC_URL DEPLOYMENT POINT NTH");

const reached: Record<string, number> = {};

function reach(here: string): void {
  reached[here] = (reached[here] ?? 0) + 1;
  if (here === point && reached[here] === Number(nth)) process.kill(process.pid, "SIGKILL");
}

const query = Client.prototype.query as (this: Client, ...args: unknown[]) => unknown;
const storing = new WeakSet<Client>();

async function watchedQuery(this: Client, ...args: unknown[]): Promise<unknown> {
  const [statement] = args as [string | { readonly text: string }];
  const text = typeof statement === "string" ? statement : statement.text;
  if (text.includes(`insert into "ahs"."enrich_cursor"`)) storing.add(this);
  const isCommit = text === "commit" && storing.delete(this);
  if (isCommit) reach("storing");
  const result = await query.apply(this, args);
  if (isCommit) reach("stored");
  return result;
}

// The pool queries its clients by promise or, for single statements, by callback: only the former is a transaction's.
Client.prototype.query = function (this: Client, ...args: unknown[]) {
  return typeof args.at(-1) === "function" ? query.apply(this, args) : watchedQuery.apply(this, args);
} as typeof Client.prototype.query;

const context = createEnrichContext({
  db: openDatabase({
    url: databaseUrl,
    applicationName: "ahs-test",
    maxConnections: 4,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  }),
  deployment: loadDeployment(deploymentFile),
  client: createChainReader({
    url: rpcUrl,
    timeoutMs: 10_000,
    retries: 1,
    retryMs: 10,
    signal: new AbortController().signal,
    onRequest: () => reach("asking"),
  }),
  metrics: createEnrichMetrics(new Registry()),
  logger: pino({ level: "silent" }),
  limits: { ...enrichLimits, maxBlocks: 4 },
});
while (await enrichOnce(context, { blocks: 4 }));
process.exit(0);
