import type { Logger } from "pino";
import { type Address, zeroAddress } from "viem";
import { workThrough } from "../db/quarantine.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import type { AsOf } from "../model/features/types.ts";
import { findStaleScores } from "../oracle/publish-scores.ts";
import {
  countAccountFacts,
  type DueQuery,
  readDueWallets,
  readNightlyWallets,
  readOrphanedWallets,
  readOvertakenWallets,
} from "./due-wallets.ts";
import { createContactCaches } from "./read/contact-graph.ts";
import {
  readInParts,
  readWallets,
  SCORING_BATCH,
  SCORING_LANES,
  type ScoredBlock,
  type ScoringContext,
  scoreRead,
} from "./score-wallets.ts";
import { type StoreContext, storeRecords } from "./store-records.ts";

export type ScoringRunContext = ScoringContext &
  StoreContext & {
    /** Least seconds of chain time between two automatic scores of one wallet. */
    readonly rescoreIntervalSeconds: number;
    readonly logger: Logger;
  };

type ScoringRun = { readonly scored: number; readonly flagged: number };

/**
 * Scores every wallet whose score is missing, outdated or orphaned, or whose confidence fell a level by waiting, flags
 * first; those that wait for facts only when the patience with them ends. Null while no block is both finalized and enriched.
 */
export async function scoreDueWallets(
  context: ScoringRunContext,
  patience: FactPatience,
): Promise<ScoringRun | null> {
  const { db, chainId, publishPolicy } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return null;
  const orphaned = await readOrphanedWallets(db, chainId, asOf.blockNumber);
  const stale = await findStaleScores(db, { chainId, now: context.now(), policy: publishPolicy });
  const changed = [...stale.flagChanged, ...orphaned];
  // Where all of these fail, the others are scored before the run does.
  const [flags] = await Promise.allSettled([
    scoreBatches(context, changed, { at: "newest", scoredBefore: changed, orphaned }),
  ]);
  const { ready, waiting } = await readDueWallets(db, dueAt(context, asOf));
  const late = patience(waiting, waiting.length === 0 ? 0 : await countAccountFacts(db, chainId));
  const due = [...ready, ...late];
  const scored = await scoreBatches(context, [...due, ...stale.overtaken], {
    at: "finalized",
    scoredBefore: [...due, ...stale.overtaken],
    orphaned: [],
  });
  if (flags.status === "rejected") throw flags.reason;
  const flagged = flags.value;
  if (scored + flagged > 0)
    context.logger.info({ scored, flagged, asOf: asOf.blockNumber }, "wallets scored");
  return { scored, flagged };
}

/**
 * Scores every wallet again whose rows changed after its score. Returns the number, or null if no block is both
 * finalized and enriched.
 */
export async function scoreOvertakenWallets(context: ScoringRunContext): Promise<number | null> {
  const { db, chainId } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return null;
  const wallets = await readOvertakenWallets(db, dueAt(context, asOf));
  const scored = await scoreBatches(context, wallets, {
    at: "finalized",
    scoredBefore: wallets,
    orphaned: [],
  });
  if (scored > 0) context.logger.info({ scored, asOf: asOf.blockNumber }, "wallets scored by what came late");
  return scored;
}

function dueAt({ chainId, rescoreIntervalSeconds }: ScoringRunContext, asOf: AsOf): DueQuery {
  return {
    chainId,
    asOfBlock: asOf.blockNumber,
    asOfTime: asOf.timestamp,
    intervalSeconds: rescoreIntervalSeconds,
  };
}

/** A record takes up to 2 kB: 40 MB a night, however many wallets are registered. */
const MOST_IDLE_A_NIGHT = 20_000;

/**
 * Scores every followed wallet at the newest finalized and enriched block; of idle wallets, only those with the oldest
 * scores. Returns the number, or null without such a block. Throws the signal's reason between two batches.
 */
export async function scoreAllWallets(
  context: ScoringRunContext,
  signal: AbortSignal,
  mostIdle = MOST_IDLE_A_NIGHT,
): Promise<number | null> {
  const { db, chainId, logger } = context;
  if ((await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId })) === null) return null;
  const { wallets, leftOut } = await readNightlyWallets(db, { chainId, mostIdle });
  if (leftOut > 0) logger.warn({ leftOut, mostIdle }, "idle wallets are left to be scored in later nights");
  return scoreBatches(context, wallets, { at: "finalized", scoredBefore: [], orphaned: [], signal });
}

type Scoring = {
  readonly at: ScoredBlock;
  /** Wallets with a score, which is renewed even where they are no longer followed or listed. */
  readonly scoredBefore: readonly string[];
  readonly orphaned: readonly string[];
  /** Ends the run between two batches. */
  readonly signal?: AbortSignal;
};

/** Scores wallets in batches. A wallet that cannot be scored is quarantined; the others are scored. */
async function scoreBatches(
  context: ScoringRunContext,
  wallets: readonly string[],
  how: Scoring,
): Promise<number> {
  const { policy } = context;
  let count = 0;
  const before = new Set(how.scoredBefore);
  const task = { at: how.at, contacts: createContactCaches() };
  const attempt = async (batch: readonly string[]) => {
    for await (const read of readInParts(context, { ...task, wallets: batch as Address[] })) {
      const scored = await scoreRead(read, policy);
      const renewed = scored.strangers.filter(({ record }) => before.has(record.wallet));
      const records = [...scored.records, ...renewed];
      const stored = await storeRecords(context, { ...scored, records }, how.orphaned);
      count += stored;
    }
  };
  // An address without rows: what fails for it fails for every wallet.
  const control = async () => {
    const read = await readWallets(context, { ...task, wallets: [zeroAddress] });
    if (read !== null) await scoreRead(read, policy);
  };
  await workThrough(
    { ...context, kind: "score" },
    {
      items: [...new Set(wallets)],
      batchSize: SCORING_BATCH,
      lanes: SCORING_LANES,
      attempt,
      control,
      ...(how.signal === undefined ? {} : { signal: how.signal }),
    },
  );
  return count;
}

/**
 * Called in every scoring round with the wallets that wait for facts of counterparties, and the number of accounts with
 * facts. Returns the wallets that waited long enough.
 */
type FactPatience = (waiting: readonly string[], factsKnown: number) => readonly string[];

/** A wallet waits while facts of any account arrive: they arrive in no order. */
const QUIET_MS = 180_000;
/** Longest wait: the node reports nothing about some accounts. */
const LONGEST_MS = 3_600_000;

/** Uses a monotonic wall clock in milliseconds: the clock of a local chain may run through years in a minute. */
export function createFactPatience(monotonicMs: () => number): FactPatience {
  const since = new Map<string, number>();
  let latest: { readonly facts: number; readonly at: number } | null = null;
  return (waiting, factsKnown) => {
    const now = monotonicMs();
    const still = new Set(waiting);
    for (const wallet of since.keys()) if (!still.has(wallet)) since.delete(wallet);
    if (latest === null || latest.facts !== factsKnown) latest = { facts: factsKnown, at: now };
    const { at } = latest;
    return waiting.filter((wallet) => {
      const start = since.get(wallet) ?? now;
      since.set(wallet, start);
      return now - Math.max(start, at) >= QUIET_MS || now - start >= LONGEST_MS;
    });
  };
}
