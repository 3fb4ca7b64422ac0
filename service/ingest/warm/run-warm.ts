import type { Registry } from "prom-client";
import type { Address } from "viem";
import { NodeFailure } from "../../chain/node/failure.ts";
import { readChainMark } from "../../db/chain-fence.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { metricsOf } from "../../db/metrics.ts";
import { quarantineItems, releaseItems } from "../../db/quarantine.ts";
import { runLoop } from "../../db/run-loop.ts";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import { readEnrichState } from "../enrich/enrich-reads.ts";
import type { Followed } from "../enrich/log-rows.ts";
import { createEnrichClient, createEnrichContext, type runEnrich } from "../enrich/run-enrich.ts";
import type { BlockRange } from "../history/batch-source.ts";
import { readFinalized } from "../read-as-of.ts";
import { firstBlockSince, GROWTH, planSlice } from "./plan-slice.ts";
import { warmPrices, warmSamples } from "./warm-chain.ts";
import { headerOf, SourceFailure, type WarmContext } from "./warm-context.ts";
import { warmSlice } from "./warm-slice.ts";
import { ENOUGH_CALLS } from "./warm-state.sql.ts";
import {
  closeWallets,
  countOpen,
  openWallets,
  readWarmGroup,
  type WarmGroup,
  WINDOW_DAYS,
} from "./warm-state.ts";

const IDLE_MS = 30_000;
/** Name of the lock of the process that warms a chain's wallets. */
export const WARM_LOCK = "ahs-warm";
/** Wallets in a row whose rows are doubted until the source is taken for the one at fault, and how long it is left alone then. */
const DOUBTS = 3;
const LEFT_ALONE_MS = 600_000;
/** Newest blocks of groups that are remembered with their edges. */
const MOST_EDGES = 10_000;

export type WarmMetrics = ReturnType<typeof createWarmMetrics>;

export function createWarmMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    openWallets: gauge(
      "ahs_warm_open_wallets",
      "Followed wallets of which the time before the index is not read to its end",
    ),
    transactions: counter(
      "ahs_warm_transactions_total",
      "Transactions read from the batch source and stored",
    ),
    slices: counter(
      "ahs_warm_slices_total",
      "Slices of the past that were read of a group of wallets, by outcome",
      "outcome",
    ),
  };
}

/** Kept by one process between slices. */
export type WarmState = {
  /** Wallets that are read at once: fewer where a group was doubted. */
  most: number;
  /** Single wallets that were doubted one after the other. */
  doubts: number;
  /** Longest slice in blocks, after one with too many calls of a wallet; null for no limit. */
  mostBlocks: number | null;
  /** First block of the window before each newest one. */
  readonly edges: Map<number, number>;
  /** First block from which on the prices of the days are read. */
  pricedFrom: number | null;
};

export function newWarmState({ maxWallets }: Pick<WarmContext["source"], "maxWallets">): WarmState {
  return { most: maxWallets, doubts: 0, mostBlocks: null, edges: new Map(), pricedFrom: null };
}

type WarmDeps = Omit<Parameters<typeof runEnrich>[0], "factSource" | "warms"> &
  Pick<WarmContext, "source" | "random" | "now">;

/** A context that reads the node of a URL. */
export function createWarmContext(
  { source, random, now, ...deps }: WarmDeps,
  signal: AbortSignal,
): WarmContext {
  const client = createEnrichClient(deps, signal);
  return {
    enrich: createEnrichContext({ ...deps, client, tasks: ["warm"] }),
    source,
    random,
    now,
    signal,
    mostCalls: 2 * ENOUGH_CALLS,
  };
}

/** Warms open wallets until the signal fires; never throws. One process per chain leads. */
export async function runWarm(context: WarmContext, metrics: WarmMetrics): Promise<void> {
  const { logger } = context.enrich;
  const state = newWarmState(context.source);
  await runLoop({
    logger,
    what: "warming wallets",
    signal: context.signal,
    pass: () => warmOnce(context, state, metrics),
    pauseMs: (hasMore) => (hasMore ? 0 : IDLE_MS),
    onFailure: (error) => {
      logger.warn({ err: error }, "warming wallets failed; trying again");
      return error instanceof SourceFailure || error instanceof NodeFailure ? (error.retryAfterMs ?? 0) : 0;
    },
  });
  await context.enrich.crashes.end().catch((error: unknown) => {
    logger.warn({ err: error }, "the batch that was read is still noted: the next process suspects it");
  });
}

/**
 * Reads the next slice of the next group. True while there is more to read. Where rows of a group are doubted, the next one is half as
 * large, down to one wallet, which goes into quarantine. Throws a SourceFailure or a NodeFailure where source or node are in trouble.
 */
export async function warmOnce(
  context: WarmContext,
  state: WarmState,
  metrics: WarmMetrics,
): Promise<boolean> {
  const { enrich, source, now } = context;
  const { db, chainId } = enrich;
  const generation = (await readChainMark(db, chainId))?.generation;
  if (generation === undefined) return false;
  const group = await readWarmGroup(db, { chainId, most: state.most, now: now() });
  if (group === null) {
    const opened = await openWallets(db, chainId);
    metrics.openWallets.set((await countOpen(db, chainId)).open);
    return opened > 0;
  }
  const newest = Math.max(...group.wallets.map(({ followedBlock }) => followedBlock));
  const edge = await edgeOf(context, state, newest);
  const range = planSlice({ edge, newest, coveredFrom: group.coveredFrom, mostBlocks: state.mostBlocks });
  if (range === null) {
    await closeWallets(db, chainId, group.wallets);
    return true;
  }
  // A fault in these is of no wallet.
  await warmShared(context, state, { ...range, generation });
  try {
    const slice = {
      group,
      range,
      generation,
      isLast: range.from === edge,
      followed: await readFollowed(context),
    };
    const outcome = await warmSlice(context, slice);
    metrics.slices.inc({ outcome: outcome.kind });
    if (outcome.kind === "dense") {
      state.mostBlocks = outcome.blocks;
      return true;
    }
    if (outcome.kind === "read") {
      metrics.transactions.inc(outcome.transactions);
      await releaseItems(db, { chainId, kind: "warm" }, outcome.covered);
      await setAside(context, outcome.doubtful, new Error("own calls are missing, by their nonces"));
    }
    state.mostBlocks = lengthen(state.mostBlocks, range);
    state.doubts = 0;
    state.most = Math.min(source.maxWallets, state.most * 2);
  } catch (error) {
    metrics.slices.inc({ outcome: "failed" });
    if (!isDoubt(error)) throw error;
    await halve(context, state, { group, error });
  }
  metrics.openWallets.set((await countOpen(db, chainId)).open);
  return true;
}

/** A limit grows with each slice that was read, until the plan is within it. */
function lengthen(mostBlocks: number | null, { from, to }: BlockRange): number | null {
  return mostBlocks === null || to - from + 1 < mostBlocks ? null : GROWTH * mostBlocks;
}

/** Whether rows contradict one another or the node: then the fault may be of one wallet's rows. */
function isDoubt(error: unknown): error is SourceFailure | NodeFailure {
  if (error instanceof SourceFailure) return error.reason === "inconsistent" || error.reason === "malformed";
  return error instanceof NodeFailure && (error.kind === "inconsistent" || error.kind === "too_many_results");
}

async function halve(
  context: WarmContext,
  state: WarmState,
  { group, error }: { readonly group: WarmGroup; readonly error: SourceFailure | NodeFailure },
): Promise<void> {
  const { wallets } = group;
  context.enrich.logger.warn(
    { err: error, wallets: wallets.length },
    "rows of wallets to be warmed are doubted",
  );
  if (wallets.length > 1) {
    state.most = Math.ceil(wallets.length / 2);
    return;
  }
  state.doubts += 1;
  if (state.doubts > DOUBTS) {
    const detail = `the rows of ${state.doubts} wallets in a row are doubted, the last time: ${error.message}`;
    const retryAfterSeconds = LEFT_ALONE_MS / 1000;
    throw new SourceFailure({ kind: "failed", reason: "unavailable", detail, retryAfterSeconds });
  }
  await setAside(
    context,
    wallets.map(({ wallet }) => wallet),
    error,
  );
}

async function setAside(context: WarmContext, wallets: readonly Address[], error: Error): Promise<void> {
  const { db, chainId } = context.enrich;
  const faults = wallets.map((subject) => ({ subject, error }));
  await quarantineItems(db, { chainId, kind: "warm" }, { faults, now: context.now() });
}

/** The first block of the scoring window that ends with a block. */
async function edgeOf(context: WarmContext, { edges }: WarmState, newest: number): Promise<number> {
  const known = edges.get(newest);
  if (known !== undefined) return known;
  const timeOf = async (block: number) => (await headerOf(context, block)).timestamp;
  const last = { number: newest, timestamp: await timeOf(newest) };
  const edge = await firstBlockSince(last.timestamp - WINDOW_DAYS * SECONDS_PER_DAY, last, timeOf);
  if (edges.size === MOST_EDGES) edges.clear();
  edges.set(newest, edge);
  return edge;
}

async function warmShared(
  context: WarmContext,
  state: WarmState,
  { generation, ...range }: BlockRange & { readonly generation: string },
): Promise<void> {
  await warmSamples(context, { ...range, generation });
  const { pricedFrom } = state;
  if (pricedFrom !== null && pricedFrom <= range.from) return;
  await warmPrices(context, { from: range.from, to: pricedFrom === null ? range.to : pricedFrom });
  state.pricedFrom = range.from;
}

/** Every followed wallet with the block in which the index began to follow it. */
async function readFollowed({ enrich: { db, chainId } }: WarmContext): Promise<Followed> {
  return readSnapshot(db, async (client) => {
    const asOf = await readFinalized(client, chainId);
    if (asOf === null) return new Map();
    return (await readEnrichState(client, { chainId, asOfBlock: asOf.blockNumber })).wallets;
  });
}
