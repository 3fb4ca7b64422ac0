import { and, eq, gt, type SQL, sql } from "drizzle-orm";
import type { Logger } from "pino";
import { type Address, zeroAddress } from "viem";
import type { Database } from "../db/database.ts";
import { indexOf } from "../db/index-tables.ts";
import { workThrough } from "../db/quarantine.ts";
import { pauseFor } from "../db/run-loop.ts";
import { workInShards } from "../db/shards.ts";
import { toQuery } from "../db/statement.ts";
import { accountFact } from "../db/tables/enrich.ts";
import { currentScore, score } from "../db/tables/score.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import type { AsOf } from "../model/features/types.ts";
import { findChangedFlags, findOvertakenScores } from "../oracle/publish-scores.ts";
import { type ContactCaches, createContactCaches } from "./read/contact-graph.ts";
import {
  type DueQuery,
  dueWallets,
  nightlyWallets,
  overtakenWallets,
  scoredBefore,
} from "./run-scoring.sql.ts";
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

/**
 * Scores wallets at the newest indexed block that were listed or delisted since their score, or whose score is of a block
 * that a reorg took out. Led by one worker. Returns the number, or null while no block is both finalized and enriched.
 */
export async function scoreChangedFlags(context: ScoringRunContext): Promise<number | null> {
  const { db, chainId, logger } = context;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return null;
  const orphaned = await readOrphanedWallets(db, chainId, asOf.blockNumber);
  const changed = [...(await findChangedFlags(db, chainId)), ...orphaned];
  const flagged = await scoreBatches(context, changed, {
    at: "newest",
    unknown: "renew",
    orphaned,
    contacts: createContactCaches(),
  });
  if (flagged > 0) logger.info({ flagged }, "wallets scored for their flags");
  return flagged;
}

/**
 * Scores wallets whose score is missing, outdated or as old as the oracle's other record, or whose confidence fell a level by
 * waiting; those that wait for facts only when the patience with them ends. Any number of workers divide them. Returns the
 * number of this worker's, or null while no block is both finalized and enriched.
 */
export async function scoreDueWallets(
  context: ScoringRunContext,
  patience: ReturnType<typeof createFactPatience>,
  signal: AbortSignal,
): Promise<number | null> {
  const { db, chainId, publishPolicy } = context;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return null;
  const overtaken = await findOvertakenScores(db, { chainId, now: context.now(), policy: publishPolicy });
  const { ready, waiting } = await readDueWallets(db, dueAt(context, asOf));
  const late = patience(
    waiting,
    waiting.length === 0 ? 0 : await db.$count(accountFact, eq(accountFact.chainId, chainId)),
  );
  const due = [...ready, ...late, ...overtaken];
  const { scored } = await scoreShards(context, due, { reach: asOf.blockNumber, unknown: "renew", signal });
  if (scored > 0) context.logger.info({ scored, asOf: asOf.blockNumber }, "wallets scored");
  return scored;
}

/**
 * Scores wallets again whose rows changed after their score. Any number of workers divide them. Returns the number of this
 * worker's, or null if no block is both finalized and enriched.
 */
export async function scoreOvertakenWallets(
  context: ScoringRunContext,
  signal: AbortSignal,
): Promise<number | null> {
  const { db, chainId } = context;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return null;
  const wallets = await walletsIn(db, overtakenWallets(dueAt(context, asOf)));
  const how = { reach: asOf.blockNumber, unknown: "renew", signal } as const;
  const { scored } = await scoreShards(context, wallets, how);
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

/** Pause in milliseconds before shards are tried again that other workers hold. */
const BUSY_MS = 500;

/**
 * Scores every followed wallet whose score is of a block before `reach`, at the newest finalized and enriched block; of idle
 * wallets, only those with the oldest scores, and at most so many with those that reached it already. Any number of workers
 * divide them. Waits until the others are done with theirs. Returns the number of this worker's and of the idle wallets left
 * out; null without such a block. Throws the signal's reason between two batches.
 */
export async function scoreAllWallets(
  context: ScoringRunContext,
  night: { readonly reach: number; readonly signal: AbortSignal; readonly mostIdle?: number },
): Promise<{ readonly scored: number; readonly leftOut: number } | null> {
  const { db, chainId } = context;
  const { signal, mostIdle = MOST_IDLE_A_NIGHT } = night;
  const asOf = await readAsOf(db.$client, chainId);
  if (asOf === null) return null;
  // The index of a chain that is read anew has not come as far as it was.
  const reach = Math.min(night.reach, asOf.blockNumber);
  const { wallets, leftOut } = await readNightlyWallets(db, { chainId, reach, mostIdle });
  let [scored, left]: [number, readonly string[]] = [0, wallets];
  while (left.length > 0) {
    const own = await scoreShards(context, left, { reach, unknown: "leave out", signal });
    scored += own.scored;
    left = own.busy;
    if (left.length > 0) await pauseFor(BUSY_MS, signal);
  }
  return { scored, leftOut };
}

/** A share of wallets that one worker scores at once: both lanes are in use for most of the time. */
const SHARE = 4 * SCORING_BATCH;

/**
 * Scores those of the wallets at a finalized block that no other worker scores, and whose score is of a block before `reach` once
 * no other can. Returns how many, and the wallets that others hold.
 */
async function scoreShards(
  context: ScoringRunContext,
  wallets: readonly string[],
  how: Pick<HowToScore, "unknown"> & { readonly reach: number; readonly signal: AbortSignal },
): Promise<{ readonly scored: number; readonly busy: readonly string[] }> {
  const { db, chainId } = context;
  const contacts = createContactCaches();
  let scored = 0;
  const shared = { db, chainId, name: "ahs-scoring", atOnce: SHARE, signal: how.signal };
  const busy = await workInShards(shared, [...new Set(wallets)], async (own, signal) => {
    const due = await walletsIn(db, scoredBefore({ chainId, wallets: own, block: how.reach }));
    const count = await scoreBatches(context, due, {
      at: "finalized",
      unknown: how.unknown,
      contacts,
      signal,
    });
    scored += count;
  });
  return { scored, busy };
}

type HowToScore = {
  readonly at: ScoredBlock;
  /** Wallets that are no longer followed or listed: whether their score is renewed. */
  readonly unknown: "renew" | "leave out";
  /** Kept from batch to batch of one run. */
  readonly contacts: ContactCaches;
  readonly orphaned?: readonly string[];
  /** Ends the run between two batches. */
  readonly signal?: AbortSignal;
};

/** Scores wallets in batches. A wallet that cannot be scored is quarantined; the others are scored. */
async function scoreBatches(
  context: ScoringRunContext,
  wallets: readonly string[],
  how: HowToScore,
): Promise<number> {
  const { policy } = context;
  let count = 0;
  const task = { at: how.at, contacts: how.contacts };
  const attempt = async (batch: readonly string[]) => {
    for await (const read of readInParts(context, { ...task, wallets: batch as Address[] })) {
      const scored = await scoreRead(read, policy);
      const records = how.unknown === "renew" ? [...scored.records, ...scored.strangers] : scored.records;
      const stored = await storeRecords(context, { ...scored, records }, how.orphaned);
      count += stored;
    }
  };
  // An address without rows: what fails for it fails for every wallet.
  const control = async () => {
    const read = await readWallets(context, { ...task, wallets: [zeroAddress] });
    if (read !== null) await scoreRead(read, policy);
  };
  const { signal } = how;
  await workThrough(
    { ...context, kind: "score" },
    {
      items: [...new Set(wallets)],
      batchSize: SCORING_BATCH,
      lanes: SCORING_LANES,
      attempt,
      control,
      ...(signal === undefined ? {} : { signal }),
    },
  );
  return count;
}

/** A wallet waits while facts of any account arrive: they arrive in no order. */
const QUIET_MS = 180_000;
/** Longest wait: the node reports nothing about some accounts. */
const LONGEST_MS = 3_600_000;

/**
 * A function that each scoring round calls with the wallets that wait for facts of counterparties, and the number of accounts with
 * facts; it returns the wallets that waited long enough. Uses a monotonic wall clock in milliseconds: the clock of a local chain
 * may run through years in a minute.
 */
export function createFactPatience(monotonicMs: () => number) {
  const since = new Map<string, number>();
  let latest: { readonly facts: number; readonly at: number } | null = null;
  return (waiting: readonly string[], factsKnown: number): readonly string[] => {
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

/**
 * Wallets to score again, those first whose score, or following without one, is oldest: followed ones without a score; those
 * with an own call since theirs, which is old enough to be renewed; and those whose confidence has fallen a level meanwhile.
 * One whose past is still to be enriched is left out. `waiting` are those of which some counterparties have no facts yet.
 */
async function readDueWallets(db: Database, due: DueQuery) {
  const { rows } = await db.$client.query<{ wallet: Address; waits: boolean }>(toQuery(dueWallets(due)));
  const walletsOf = (waits: boolean) => rows.filter((row) => row.waits === waits).map((row) => row.wallet);
  return { ready: walletsOf(false), waiting: walletsOf(true) };
}

async function walletsIn(db: Database, statement: SQL): Promise<Address[]> {
  const { rows } = await db.$client.query<{ wallet: Address }>(toQuery(statement));
  return rows.map(({ wallet }) => wallet);
}

/** Wallets whose current score is of a block that a reorg took out of the chain. */
async function readOrphanedWallets(db: Database, chainId: number, finalizedBlock: number) {
  const { block } = indexOf(chainId);
  const isOther = sql`${block.number} = ${currentScore.asOfBlock} and ${block.hash} <> ${score.asOfHash}`;
  const rows = await db
    .select({ wallet: currentScore.wallet })
    .from(currentScore)
    .innerJoin(score, eq(score.id, currentScore.scoreId))
    .innerJoin(block, isOther)
    .where(and(eq(currentScore.chainId, chainId), gt(currentScore.asOfBlock, finalizedBlock)));
  return rows.map(({ wallet }) => wallet);
}

/**
 * Followed wallets without a score of a block from `reach` on, those first whose score is oldest. Of idle ones, which have too little
 * history for a score and made no call since they were scored, there are at most so many, those that have such a score among
 * them: anyone can register any number of them. `leftOut` counts those beyond the bound.
 */
async function readNightlyWallets(db: Database, of: Parameters<typeof nightlyWallets>[0]) {
  const { rows } = await db.$client.query<{ address: Address; left: boolean }>(toQuery(nightlyWallets(of)));
  const wallets = rows.filter(({ left }) => !left).map(({ address }) => address);
  return { wallets, leftOut: rows.length - wallets.length };
}

/** Every followed wallet, those first whose score is oldest: a run that is cut short goes on there. */
export async function readFollowedWallets(db: Database, chainId: number): Promise<Address[]> {
  const { wallet } = indexOf(chainId);
  const rows = await db
    .select({ address: wallet.address })
    .from(wallet)
    .leftJoin(currentScore, and(eq(currentScore.chainId, chainId), eq(currentScore.wallet, wallet.address)))
    .orderBy(sql`${currentScore.asOfBlock} nulls first`, wallet.followedBlock, wallet.address);
  return rows.map(({ address }) => address);
}
