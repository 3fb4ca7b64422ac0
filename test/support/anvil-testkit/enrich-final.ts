import { pino } from "pino";
import { Registry } from "prom-client";
import { createChainReader } from "../../../service/enrich/chain-reader.ts";
import { createEnrichMetrics } from "../../../service/enrich/metrics.ts";
import { createEnrichContext, enrichOnce } from "../../../service/enrich/run-enrich.ts";
import type { Database } from "../../../service/store/database.ts";
import type { TestChain } from "./chain.ts";

/** Enriches in this process all that is final in an index, as `ahs work` does. */
export async function enrichFinal(
  db: Database,
  { rpcUrl, deployment }: Pick<TestChain, "rpcUrl" | "deployment">,
): Promise<void> {
  const client = createChainReader({
    url: rpcUrl,
    timeoutMs: 10_000,
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
