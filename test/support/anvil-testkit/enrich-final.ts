import { pino } from "pino";
import { Registry } from "prom-client";
import { createChainReader } from "../../../service/chain/node/chain-reader.ts";
import type { Database } from "../../../service/db/database.ts";
import { createEnrichMetrics } from "../../../service/ingest/enrich/context.ts";
import { createEnrichContext, enrichOnce } from "../../../service/ingest/enrich/run-enrich.ts";
import { readAsOf } from "../../../service/ingest/read-as-of.ts";
import { until } from "../until.ts";
import type { TestChain } from "./chain.ts";

type Chain = Pick<TestChain, "rpcUrl" | "deployment">;

/** Waits until a block is final in an index, and enriches at least up to it in this process, as `ahs work` does. */
export async function enrichThrough(db: Database, chain: Chain, block: number): Promise<void> {
  const { chainId } = chain.deployment;
  await until({ what: `block ${block} is final and enriched`, timeoutMs: 170_000 }, async () => {
    await enrichFinal(db, chain);
    const asOf = await readAsOf(db.$client, chainId);
    return asOf !== null && asOf.blockNumber >= block ? true : null;
  });
}

async function enrichFinal(db: Database, { rpcUrl, deployment }: Chain): Promise<void> {
  const client = createChainReader({
    url: rpcUrl,
    timeoutMs: 170_000,
    retries: 1,
    retryMs: 10,
    signal: new AbortController().signal,
    onRequest: () => undefined,
  });
  const metrics = createEnrichMetrics(new Registry());
  const logger = pino({ level: "silent" });
  const context = createEnrichContext({ db, deployment, client, metrics, logger });
  const span = { blocks: context.limits.maxBlocks };
  while (await enrichOnce(context, span));
}
