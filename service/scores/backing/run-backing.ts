import type { Registry } from "prom-client";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { metricsOf } from "../../db/metrics.ts";
import { readAsOf } from "../../ingest/read-as-of.ts";
import { computeBacking } from "./compute-backing.ts";
import { type BackingContext, readInputs } from "./read-inputs.ts";
import { storeBacking } from "./store-backing.ts";

/** Seconds of chain time between two passes: a safe amount is of days, and a pass reads half a year. */
const PASS_SECONDS = 300;

export type BackingMetrics = ReturnType<typeof createBackingMetrics>;

export function createBackingMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    wallets: gauge("ahs_backing_wallets", "Wallets that have backing or a seller profile"),
    duration: gauge("ahs_backing_duration_seconds", "Time that the newest pass over all backing took"),
    leftOut: counter(
      "ahs_backing_left_out_total",
      "Pairs of payer and payee, and receipts, that a pass left out for their number, the smallest",
    ),
  };
}

/**
 * A function that computes and stores the backing of all wallets of a chain: at its first call, and whenever the newest finalized and
 * enriched block is five minutes of chain time on. Returns the number of wallets, or null where nothing was stored.
 */
export function createBackingPass(context: BackingContext, metrics: BackingMetrics) {
  let stored: number | null = null;
  return async (signal: AbortSignal): Promise<number | null> => {
    const { db, chainId } = context;
    const head = await readAsOf(db.$client, chainId);
    if (head === null) return null;
    const isRecent = stored !== null && head.timestamp >= stored && head.timestamp < stored + PASS_SECONDS;
    if (isRecent) return null;
    const pass = await renewBacking(context, metrics, signal);
    if (pass === null) return null;
    stored = pass.timestamp;
    return pass.wallets;
  };
}

async function renewBacking(context: BackingContext, metrics: BackingMetrics, signal: AbortSignal) {
  const { db, chainId, logger } = context;
  const startedAt = performance.now();
  const read = await readSnapshot(db, (client) => readInputs(client, context, { signal }));
  if (read === null) return null;
  const { asOf, inputs } = read;
  const backings = computeBacking(inputs);
  if (!(await storeBacking(db, { chainId, asOf, backings }))) return null;
  const seconds = (performance.now() - startedAt) / 1000;
  metrics.wallets.set(backings.length);
  metrics.duration.set(seconds);
  const { payments, receipts, leftOut } = inputs;
  metrics.leftOut.inc(leftOut);
  if (leftOut > 0) logger.warn({ leftOut }, "payments are left out of backing for their number");
  logger.info(
    {
      wallets: backings.length,
      payments: payments.length,
      receipts: receipts.length,
      asOf: asOf.blockNumber,
      seconds: Math.round(10 * seconds) / 10,
    },
    "backing computed",
  );
  return { timestamp: asOf.timestamp, wallets: backings.length };
}
