import type { Logger } from "pino";
import type { Address } from "viem";
import { type Deployment, samplingOf } from "../../chain/deployments.ts";
import { type ChainReader, createChainReader } from "../../chain/node/chain-reader.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { readChainMark } from "../../db/chain-fence.ts";
import { lowerCase } from "../../db/columns.ts";
import type { Database } from "../../db/database.ts";
import { readSnapshot } from "../../db/index-snapshot.ts";
import { runLoop } from "../../db/run-loop.ts";
import type { HistoryFailure } from "../history/history.ts";
import { readFinalized } from "../read-as-of.ts";
import {
  type AccountFactSource,
  type FactsContext,
  gatherAccountFacts,
  readCursorBlock,
} from "./account-facts.ts";
import {
  type EnrichContext,
  type EnrichLimits,
  type EnrichMetrics,
  enrichLimits,
  marketOf,
} from "./context.ts";
import { createCrashWatch } from "./crash-watch.ts";
import { type EnrichTask, enrichRange, readsWholeRange } from "./enrich-range.ts";
import { type EnrichState, readEnrichState } from "./enrich-reads.ts";
import { openMissedPasts } from "./enrich-writes.ts";
import { dropClaimedTransfers } from "./log-rows.ts";
import { createReceiptReader } from "./read-receipts.ts";
import { createTraceReader } from "./read-traces.ts";
import { dropSampledContacts } from "./sampled-blocks.ts";
import { createWholeBlocks, WHOLE_BLOCKS } from "./whole-blocks.ts";

const IDLE_MS = 2_000;
const RPC = { timeoutMs: 20_000, retries: 3, retryMs: 250 };

/** Enriches finalized blocks and reads facts of their accounts until the signal fires; never throws. One process per chain leads. */
export async function runEnrich(
  deps: {
    readonly db: Database;
    readonly deployment: Deployment;
    readonly rpcUrl: string;
    /** Source of creators, first funders and ages of accounts; null without one. */
    readonly factSource: AccountFactSource | null;
    /** Whether the time before the index is read from a batch source. */
    readonly warms: boolean;
    readonly limits?: EnrichLimits;
    readonly metrics: EnrichMetrics;
    readonly logger: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const client = createEnrichClient(deps, signal);
  const context = createEnrichContext({ ...deps, client });
  const now = () => performance.now();
  const facts = { ...context, source: deps.factSource, now, setAside: new Map(), signal };
  await Promise.all([
    runRanges(context, signal),
    runFacts(facts),
    repeat({ context, signal, what: "dropping expired rows" }, () => sweepExpired(context)),
  ]);
}

async function runRanges(context: EnrichContext, signal: AbortSignal): Promise<void> {
  const span = { blocks: context.limits.maxBlocks };
  await repeat({ context, signal, what: "enriching" }, () => enrichOnce(context, span));
  await context.crashes.end().catch((error: unknown) => {
    const text = "the range that was read is still noted: the next process reads it in parts";
    context.logger.warn({ err: error }, text);
  });
}

/** Beside the ranges, so that a slow source holds up no cursor. */
async function runFacts(context: FactsContext): Promise<void> {
  // Without a new range no account is added and none becomes due, since chain time did not change.
  let finishedAt = -1;
  await repeat({ context, signal: context.signal, what: "reading facts of accounts" }, async () => {
    const { commits } = context.progress;
    if (commits === finishedAt && context.setAside.size === 0) return false;
    const { more, failure } = await gatherAccountFacts(context);
    if (failure !== null) throw new FactsFailure(failure);
    if (!more) finishedAt = commits;
    return more;
  });
}

/** Deletes expired claimed transfers and sampled contacts; true if more are due. */
export async function sweepExpired(context: EnrichContext): Promise<boolean> {
  const cursor = await readCursorBlock(context);
  if (cursor === null) return false;
  const { db, chainId } = context;
  const transfers = await dropClaimedTransfers(db, chainId, cursor.timestamp);
  const sampledContacts = await dropSampledContacts(db, chainId, cursor.timestamp);
  context.metrics.dropped.inc({ table: "transfers" }, transfers.dropped);
  context.metrics.dropped.inc({ table: "sampledContacts" }, sampledContacts.dropped);
  return transfers.more || sampledContacts.more;
}

/** Repeats at once while there is more to do. */
function repeat(
  { context, signal, what }: { context: EnrichContext; signal: AbortSignal; what: string },
  pass: () => Promise<boolean>,
): Promise<void> {
  const { metrics, logger } = context;
  return runLoop({
    logger,
    what,
    signal,
    pass,
    pauseMs: (hasMore) => (hasMore ? 0 : IDLE_MS),
    onFailure: (error) => {
      const kind = error instanceof NodeFailure ? error.kind : "internal";
      if (!(error instanceof FactsFailure)) metrics.failures.inc({ kind });
      logger.warn({ err: error, kind }, `${what} failed; trying again`);
      return askedPause(error);
    },
  });
}

/** Reads a node with the deadlines of enrichment, and counts what it asks. */
export function createEnrichClient(
  { rpcUrl, metrics }: Pick<Parameters<typeof runEnrich>[0], "rpcUrl" | "metrics">,
  signal: AbortSignal,
): ChainReader {
  const onRequest = (method: string) => metrics.requests.inc({ method });
  return createChainReader({ ...RPC, url: rpcUrl, signal, onRequest });
}

/** A context with the limits of production unless others are given. */
export function createEnrichContext(
  deps: Omit<Parameters<typeof runEnrich>[0], "rpcUrl" | "factSource" | "warms"> & {
    client: ChainReader;
    warms?: boolean;
    /** Those that the process reads: ranges of the index unless given. */
    tasks?: Parameters<typeof createCrashWatch>[0]["tasks"];
  },
): EnrichContext {
  const { deployment, ...same } = deps;
  const { chainId } = deployment;
  const market = marketOf(deployment);
  const { client, isHeld } = createWholeBlocks(deps.client);
  const node = { hasBlockReceipts: true };
  const onFallback = (err: NodeFailure) =>
    deps.logger.warn({ err }, "the node has no eth_getBlockReceipts: asking for each own call's receipt");
  return {
    ...same,
    client,
    node,
    chainId,
    warms: deps.warms ?? false,
    market,
    rule: samplingOf(deployment),
    entryPoints: new Set(deployment.accounts.entryPoints.map(lowerCase)),
    timeouts: new Map(),
    crashes: createCrashWatch({ ...deps, chainId, tasks: deps.tasks ?? ["chain", "past"] }),
    progress: { commits: 0 },
    feeds: new Map(),
    delegations: { readAt: new Map(), called: new Set(), signed: new Set(), failedAt: new Map() },
    limits: deps.limits ?? enrichLimits,
    readReceipts: createReceiptReader(client, market.listed, onFallback, { isHeld, node }),
    readTrace: createTraceReader(client, (err) => {
      const text =
        "the node has no debug_traceTransaction: native coin that smart accounts send stays unknown";
      deps.logger.warn({ err }, text);
    }),
  };
}

/** Timeouts in a row of one block, over some six minutes, after which that is taken as too large, not the node as slow. */
const STUCK_AFTER = 8;

/** Most blocks of the next range. */
type Span = {
  blocks: number;
  /** The size that was last refused; the span stays below it for so many reads. */
  refused?: { readonly blocks: number; readonly reads: number } | null;
};

/** Reads after which a refused size is tried again: a trial can cost the logs of a whole range. */
const REFUSED_FOR_READS = 16;

/**
 * Reads the next range for every wallet and the next of open pasts, each at most `span` blocks, which adapts to what the node can
 * answer. True if there may be more to read at once; throws a NodeFailure when it cannot.
 */
export async function enrichOnce(context: EnrichContext, span: Span): Promise<boolean> {
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

/** Null before the index is ready, and while it is behind what was enriched. */
async function readPlan({ db, chainId, warms }: EnrichContext) {
  const generation = (await readChainMark(db, chainId))?.generation;
  const asOf = await readFinalized(db.$client, chainId);
  if (generation === undefined || asOf === null) return null;
  const finalizedBlock = asOf.blockNumber;
  await openMissedPasts(db, { chainId, generation, finalizedBlock, warms });
  const state = await readSnapshot(db, (client) =>
    readEnrichState(client, { chainId, asOfBlock: finalizedBlock }),
  );
  if (state.cursor !== null && state.cursor.block > finalizedBlock) return null;
  return { state, generation, finalizedBlock };
}

type Stretch = {
  readonly of: EnrichTask["of"];
  readonly plan: NonNullable<Awaited<ReturnType<typeof readPlan>>>;
  readonly span: Span;
};

/** Last block stored; null when there was nothing to read, or when it was outdated meanwhile. */
async function enrichAdapting(context: EnrichContext, stretch: Stretch): Promise<number | null> {
  const { of, plan, span } = stretch;
  const { generation, state, finalizedBlock } = plan;
  for (;;) {
    const range = await nextRange(context, stretch);
    if (range === null) return null;
    const { cursor } = state;
    const isStuck = timeoutsOf(context, stretch, range) >= STUCK_AFTER;
    const task = { of, ...range, finalizedBlock, cursor, generation, isStuck };
    try {
      await context.crashes.begin(of, range);
      const read = await enrichRange(context, task);
      context.timeouts.delete(of);
      const nextBlocks = read?.nextBlocks ?? null;
      if (nextBlocks === null) grow(span, context.limits.maxBlocks);
      else shrink(span, nextBlocks, nextBlocks + 1);
      return read?.to ?? null;
    } catch (error) {
      if (!(error instanceof NodeFailure) || !error.fitsWhenSmaller) throw error;
      const blocks = range.to - range.from + 1;
      if (blocks === 1) {
        if (error.kind === "timeout")
          context.timeouts.set(of, { from: range.from, times: timeoutsOf(context, stretch, range) + 1 });
        throw error;
      }
      context.metrics.failures.inc({ kind: error.kind });
      shrink(span, Math.floor(blocks / 2), blocks);
      context.logger.info({ failure: error.message, blocks: span.blocks }, "reading smaller ranges");
    }
  }
}

function shrink(span: Span, blocks: number, refused: number): void {
  span.blocks = blocks;
  span.refused = { blocks: refused, reads: REFUSED_FOR_READS };
}

/** Grows the span by a quarter after a read, as far as nothing was refused. */
function grow(span: Span, maxBlocks: number): void {
  const { blocks, refused = null } = span;
  const most = refused === null ? maxBlocks : refused.blocks - 1;
  span.blocks = Math.min(maxBlocks, most, blocks + Math.ceil(blocks / 4));
  span.refused = refused === null || refused.reads === 1 ? null : { ...refused, reads: refused.reads - 1 };
}

/** How often in a row a range of one block timed out. */
function timeoutsOf({ timeouts }: EnrichContext, { of }: Stretch, { from, to }: PlannedRange): number {
  const known = timeouts.get(of);
  return known !== undefined && from === to && known.from === from ? known.times : 0;
}

async function nextRange(context: EnrichContext, { of, plan, span }: Stretch): Promise<PlannedRange | null> {
  const { crashes } = context;
  const { state, finalizedBlock } = plan;
  const planned = (blocks: number) =>
    of === "chain" ? planChainRange(state, finalizedBlock, blocks) : planPastRange(state, blocks);
  const range = planned(span.blocks);
  if (range === null) return null;
  const most = (await crashes.mostBlocks(of, range.from)) ?? span.blocks;
  const isWhole = of === "chain" && readsWholeRange(context, range);
  const blocks = Math.min(most, isWhole ? WHOLE_BLOCKS : span.blocks);
  return blocks >= span.blocks ? range : planned(blocks);
}

/** Milliseconds for which the node or the source asked to be left alone. */
function askedPause(error: unknown): number {
  return error instanceof FactsFailure || error instanceof NodeFailure ? (error.retryAfterMs ?? 0) : 0;
}

/** The source of account facts is in trouble. */
class FactsFailure extends Error {
  override readonly name = "FactsFailure";
  readonly retryAfterMs: number;

  constructor({ reason, detail, retryAfterSeconds }: HistoryFailure) {
    super(`${reason}: ${detail}`);
    this.retryAfterMs = 1000 * (retryAfterSeconds ?? 0);
  }
}

type PlannedRange = {
  readonly from: number;
  readonly to: number;
  /** Wallets to read for, each from its own first block on. */
  readonly wallets: ReadonlyMap<Address, number>;
};

/** The next finalized blocks for every wallet, at most `span`, from the cursor or the first followed block on; null for none. */
export function planChainRange(
  state: EnrichState,
  finalizedBlock: number,
  span: number,
): PlannedRange | null {
  const from = state.cursor === null ? firstBlock(state, finalizedBlock) : state.cursor.block + 1;
  if (from > finalizedBlock) return null;
  const to = Math.min(from + span - 1, finalizedBlock);
  return { from, to, wallets: followedBy(state, to) };
}

/** The next blocks to read for wallets whose own past is open: the earliest first, at most `span` blocks; null when nothing is left. */
export function planPastRange(state: EnrichState, span: number): PlannedRange | null {
  const open = state.past.filter(({ wallet }) => state.wallets.has(wallet));
  if (open.length === 0) return null;
  const from = open.reduce((least, { next }) => Math.min(least, next), Number.POSITIVE_INFINITY);
  const until = open.reduce((most, past) => Math.max(most, past.until), from);
  const to = Math.min(from + span - 1, until);
  const joined = open.filter(({ next }) => next <= to);
  return { from, to, wallets: new Map(joined.map(({ wallet, next }) => [wallet, next])) };
}

function firstBlock({ wallets }: EnrichState, finalizedBlock: number): number {
  return [...wallets.values()].reduce((least, since) => Math.min(least, since), finalizedBlock);
}

function followedBy({ wallets }: EnrichState, block: number): ReadonlyMap<Address, number> {
  return new Map([...wallets].filter(([, since]) => since <= block));
}
