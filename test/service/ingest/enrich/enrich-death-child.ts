import { pino } from "pino";
import { Registry } from "prom-client";
import type { Hex } from "viem";
import { loadDeployment } from "../../../../service/chain/deployments.ts";
import { createChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { openDatabase } from "../../../../service/db/database.ts";
import { createEnrichMetrics } from "../../../../service/ingest/enrich/context.ts";
import { createEnrichContext, enrichOnce } from "../../../../service/ingest/enrich/run-enrich.ts";

/**
 * Enriches until nothing is left, and prints what it left out. Decoding the calldata of the one given transaction takes all
 * memory, as a fault in a decoder would.
 */
const [databaseUrl, rpcUrl, deploymentFile, fatal] = process.argv.slice(2);
if (databaseUrl === undefined || rpcUrl === undefined || deploymentFile === undefined)
  throw new Error("expected DATABASE_URL RPC_URL DEPLOYMENT [TRANSACTION]");

function takeAllMemory(): never {
  const taken: number[][] = [];
  for (;;) taken.push(new Array<number>(1_000_000).fill(0.5));
}

const real = createChainReader({
  url: rpcUrl,
  timeoutMs: 10_000,
  retries: 1,
  retryMs: 10,
  signal: new AbortController().signal,
  onRequest: () => undefined,
});
const metrics = createEnrichMetrics(new Registry());
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
  client: {
    ...real,
    transaction: async (hash) => {
      const transaction = await real.transaction(hash);
      if (transaction === null || hash !== fatal) return transaction;
      const input = Object.assign(new String(transaction.input), { startsWith: takeAllMemory });
      return { ...transaction, input: input as unknown as Hex };
    },
  },
  metrics,
  logger: pino({ level: "silent" }),
});
while (await enrichOnce(context, { blocks: 2_000 }));
const { values } = await metrics.leftOut.get();
process.stdout.write(
  JSON.stringify(values.filter(({ value }) => value > 0).map(({ labels }) => labels.what)),
);
process.exit(0);
