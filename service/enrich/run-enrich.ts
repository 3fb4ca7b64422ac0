import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { readAsOf } from "../features/read-rows.ts";
import { readChainMark } from "../store/chain-mark.ts";
import type { Database } from "../store/database.ts";
import { type EnrichState, readEnrichState } from "../store/enrich-reads.ts";
import { openMissedPasts } from "../store/enrich-writes.ts";
import { readSnapshot } from "../store/index-snapshot.ts";
import { type ChainReader, createChainReader } from "./chain-reader.ts";
import { type EnrichContext, type EnrichLimits, enrichLimits } from "./context.ts";
import { type EnrichTask, enrichRange } from "./enrich-range.ts";
import { EnrichFailure } from "./failure.ts";
import type { EnrichMetrics } from "./metrics.ts";
import { type PlannedRange, planChainRange, planPastRange } from "./plan-ranges.ts";
import { createReceiptReader } from "./read-receipts.ts";

export type EnrichDeps = {
  readonly db: Database;
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly metrics: EnrichMetrics;
  readonly logger: Logger;
};

/** Pauses in milliseconds. */
const IDLE_MS = 2_000;
const FIRST_FAILURE_MS = 1_000;
const LONGEST_FAILURE_MS = 60_000;
const RPC = { timeoutMs: 20_000, retries: 3, retryMs: 250 };

/**
 * Enriches finalized blocks until the signal fires; to be led by one process per chain. Never throws: whatever fails is
 * logged, counted and tried again after a pause, and the cursor stands until a range is whole.
 */
export async function runEnrich(deps: EnrichDeps, signal: AbortSignal): Promise<void> {
  const onRequest = (method: string) => deps.metrics.requests.inc({ method });
  const client = createChainReader({ ...RPC, url: deps.rpcUrl, signal, onRequest });
  const context = createEnrichContext({ ...deps, client });
  const span = { blocks: context.limits.maxBlocks };
  let failures = 0;
  while (!signal.aborted) {
    let pauseMs = IDLE_MS;
    try {
      if (await enrichOnce(context, span)) pauseMs = 0;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      pauseMs = pauseAfterFailure(deps, error, failures);
      failures += 1;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

/** A context with the limits of production unless others are given. */
export function createEnrichContext(
  deps: Omit<EnrichDeps, "rpcUrl"> & { readonly client: ChainReader; readonly limits?: EnrichLimits },
): EnrichContext {
  return {
    ...deps,
    schema: `chain_${deps.chainId}`,
    limits: deps.limits ?? enrichLimits,
    readReceipts: createReceiptReader(deps.client, (cause) => {
      deps.logger.warn(
        { err: cause },
        "the node has no eth_getBlockReceipts: asking for each own call's receipt",
      );
    }),
  };
}

/**
 * Reads the next range for every wallet and the next of open pasts, each at most `span` blocks, which is adapted to what
 * the node can answer. True when it got on, so that there may be more to read at once; throws an EnrichFailure when it cannot.
 */
export async function enrichOnce(context: EnrichContext, span: { blocks: number }): Promise<boolean> {
  const plan = await readPlan(context);
  if (plan === null) return false;
  const { lagBlocks, pastWallets } = context.metrics;
  const next = planChainRange(plan.state, plan.finalizedBlock, 1)?.from ?? plan.finalizedBlock + 1;
  lagBlocks.set(plan.finalizedBlock + 1 - next);
  pastWallets.set(plan.state.past.length);
  const chain = await enrichAdapting(context, { of: "chain", plan, span });
  if (chain !== null) lagBlocks.set(plan.finalizedBlock - chain);
  const past = await enrichAdapting(context, { of: "past", plan, span });
  return chain !== null || past !== null;
}

type Plan = { readonly state: EnrichState; readonly generation: string; readonly finalizedBlock: number };

/** Null before the index is ready, and while it is behind what was enriched. */
async function readPlan({ db, chainId, schema }: EnrichContext): Promise<Plan | null> {
  const generation = (await readChainMark(db, chainId))?.generation;
  const asOf = await readAsOf(db.$client, schema);
  if (generation === undefined || asOf === null) return null;
  const finalizedBlock = asOf.blockNumber;
  await openMissedPasts(db, { chainId, schema, generation, finalizedBlock });
  const state = await readSnapshot(db, (client) =>
    readEnrichState(client, { chainId, schema, asOfBlock: finalizedBlock }),
  );
  if (state.cursor !== null && state.cursor.block > finalizedBlock) return null;
  return { state, generation, finalizedBlock };
}

type Stretch = { readonly of: EnrichTask["of"]; readonly plan: Plan; readonly span: { blocks: number } };

/** Last block stored; null when there was nothing to read, or when it was outdated meanwhile. */
async function enrichAdapting(context: EnrichContext, stretch: Stretch): Promise<number | null> {
  const { of, plan, span } = stretch;
  const { generation, state } = plan;
  for (;;) {
    const range = planRange(stretch);
    if (range === null) return null;
    const task = { of, ...range, cursor: state.cursor, generation };
    try {
      const { to, stored } = await enrichRange(context, task);
      span.blocks = Math.min(context.limits.maxBlocks, span.blocks + Math.ceil(span.blocks / 4));
      return stored ? to : null;
    } catch (error) {
      const blocks = range.to - range.from + 1;
      if (!(error instanceof EnrichFailure) || !mayFitWhenSmaller(error) || blocks === 1) throw error;
      context.metrics.failures.inc({ kind: error.kind });
      span.blocks = Math.floor(blocks / 2);
      context.logger.info({ failure: error.message, blocks: span.blocks }, "reading smaller ranges");
    }
  }
}

function planRange({ of, plan, span }: Stretch): PlannedRange | null {
  const { state, finalizedBlock } = plan;
  return of === "chain"
    ? planChainRange(state, finalizedBlock, span.blocks)
    : planPastRange(state, span.blocks);
}

function mayFitWhenSmaller({ kind }: EnrichFailure): boolean {
  return kind === "too_many_results" || kind === "timeout";
}

function pauseAfterFailure({ metrics, logger }: EnrichDeps, error: unknown, failures: number): number {
  const kind = error instanceof EnrichFailure ? error.kind : "internal";
  metrics.failures.inc({ kind });
  logger.warn({ err: error, kind }, "enriching failed; trying again");
  const asked = error instanceof EnrichFailure ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(asked, Math.min(LONGEST_FAILURE_MS, FIRST_FAILURE_MS * 2 ** Math.min(failures, 10)));
}
