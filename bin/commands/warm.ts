import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { requireMigrated } from "../../service/db/database.ts";
import { whileLeader } from "../../service/db/leader-lock.ts";
import { createEnrichMetrics } from "../../service/ingest/enrich/context.ts";
import {
  createWarmContext,
  createWarmMetrics,
  newWarmState,
  WARM_LOCK,
  warmOnce,
} from "../../service/ingest/warm/run-warm.ts";
import { countOpen, openWallets } from "../../service/ingest/warm/warm-state.ts";
import { indexedDeployment, withDatabase } from "../command.ts";
import { type Invocation, requireChainSettings } from "../config.ts";
import { batchSourceFromConfig } from "../from-config.ts";
import { createLogger, shutdownSignal } from "../process.ts";

/** Usage of `ahs warm`. */
export const USAGE = `Usage: ahs warm
Reads the time before the index of every followed wallet that has no history yet, from the batch source of the settings
(HISTORY_BATCH_SOURCE), and ends when none is left. A worker does the same by itself: where one is at it, this shows how far it is.
Ctrl-C ends it at any time; the next run goes on where it stopped.`;

const PROGRESS_MS = 5_000;

/** `ahs warm`: reads the past of the configured chain's wallets; throws without a batch source. */
export async function run({ config, args, out }: Invocation): Promise<void> {
  if (args.length > 0) throw new Error(`given "${args.join(" ")}", expected no argument\n${USAGE}`);
  const deployment = indexedDeployment(config);
  const { chainId } = deployment;
  const source = batchSourceFromConfig(config, chainId);
  if (source === null)
    throw new Error("missing settings: HISTORY_BATCH_SOURCE=sqd, hypersync or rpc; see docs/operate.md");
  const { rpcUrl } = requireChainSettings(config);
  await withDatabase(config, "warm", async (db, { now }) => {
    await requireMigrated(db);
    const logger = createLogger({ logLevel: "warn" }, "warm");
    await openWallets(db, chainId);
    const done = new AbortController();
    const signal = AbortSignal.any([shutdownSignal(), done.signal]);
    const metrics = createEnrichMetrics(new Registry());
    const deps = {
      db,
      deployment,
      rpcUrl,
      source,
      metrics,
      logger,
      now,
      random: Math.random,
    };
    const warming = whileLeader({ db, name: WARM_LOCK, chainId, logger, signal }, async (led) => {
      const context = createWarmContext(deps, led);
      const state = newWarmState(source);
      const counted = createWarmMetrics(new Registry());
      while (!led.aborted && (await warmOnce(context, state, counted)));
      await context.enrich.crashes.end();
      done.abort();
    });
    const showing = showProgress({ db, chainId, out, signal });
    await Promise.race([warming, showing]);
    done.abort();
    await Promise.all([warming, showing]);
    const { open, followed } = await countOpen(db, chainId);
    out(`${followed - open} of ${followed} followed wallets have their past`);
    if (open > 0)
      out('the rest is in quarantine, or was interrupted: "ahs quarantine list" shows the former');
  });
}

/** A line whenever the number of open wallets changes, until none is left. */
async function showProgress(of: {
  readonly db: Parameters<typeof countOpen>[0];
  readonly chainId: number;
  readonly out: (line: string) => void;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { db, chainId, out, signal } = of;
  let last: number | null = null;
  while (!signal.aborted) {
    const { open, followed } = await countOpen(db, chainId);
    if (open === 0) return;
    if (open !== last) out(`${followed - open} of ${followed} wallets read`);
    last = open;
    await sleep(PROGRESS_MS, undefined, { signal }).catch(() => undefined);
  }
}
