import pino from "pino";
import { Registry } from "prom-client";
import type { Address } from "viem";
import type { Deployment } from "../service/chain/deployments.ts";
import { createEnrichMetrics } from "../service/ingest/enrich/context.ts";
import { createEnrichClient, createEnrichContext, enrichOnce } from "../service/ingest/enrich/run-enrich.ts";
import { createSqdSource } from "../service/ingest/history/sqd-source.ts";
import {
  createWarmContext,
  createWarmMetrics,
  newWarmState,
  warmOnce,
} from "../service/ingest/warm/run-warm.ts";
import { AHS_2026_2 as policy } from "../service/model/score/policy.ts";
import { scoreRead } from "../service/scores/score-wallets.ts";
import { openBenchDatabase } from "./scale-population.ts";
import { useAll } from "./scoring.ts";

/** Task of the service's process in the scale bench, its first argument in JSON. */
export type ScaleTask = {
  readonly kind: "warm" | "live" | "score";
  readonly databaseUrl: string;
  readonly nodeUrl: string;
  readonly portalUrl: string;
  readonly deployment: Deployment;
};

/** Answer to a finished task, or to a message in "live": every final block is enriched. */
export type ScaleAnswer = { readonly ms: number };

const task = JSON.parse(process.argv[2] ?? "") as ScaleTask;
const { deployment, nodeUrl: rpcUrl } = task;
const { signal } = new AbortController();
const db = openBenchDatabase(task.databaseUrl);
const deps = {
  db,
  deployment,
  rpcUrl,
  metrics: createEnrichMetrics(new Registry()),
  logger: pino({ level: "error" }, pino.destination(2)),
};
const started = performance.now();
switch (task.kind) {
  case "warm":
    await warm();
    break;
  case "score":
    await score();
    break;
  case "live":
    enrichOnMessages();
}
// The bench reads what the process took before it ends it.
if (task.kind !== "live") answer(performance.now() - started);

/** Until no wallet is open. */
async function warm(): Promise<void> {
  // The bench counts requests; the pace of the public portal is a figure of its own.
  const pace = async () => undefined;
  const source = createSqdSource({ url: task.portalUrl, apiKey: null, l1Fee: "paid", pace });
  const context = createWarmContext({ ...deps, source, now: () => new Date(), random: Math.random }, signal);
  const state = newWarmState(source);
  const metrics = createWarmMetrics(new Registry());
  while (await warmOnce(context, state, metrics));
  await context.enrich.crashes.end();
}

async function score(): Promise<void> {
  const { chainId } = deployment;
  const { rows } = await db.$client.query<{ address: Address }>(
    `select address from chain_${chainId}.wallet order by address`,
  );
  const wallets = rows.map(({ address }) => address);
  const context = { db, chainId, chain: deployment, policy };
  await useAll(context, wallets, async (read) => (await scoreRead(read, policy)).records.length);
}

/** Enriches up to the newest final block at each message. */
function enrichOnMessages(): void {
  const client = createEnrichClient(deps, signal);
  const context = createEnrichContext({ ...deps, client });
  const span = { blocks: context.limits.maxBlocks };
  process.on("message", async () => {
    const begun = performance.now();
    while (await enrichOnce(context, span));
    answer(performance.now() - begun);
  });
}

function answer(ms: number): void {
  process.send?.({ ms } satisfies ScaleAnswer);
}
