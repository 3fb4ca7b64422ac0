import { eq } from "drizzle-orm";
import type { Logger } from "pino";
import { type Address, zeroAddress } from "viem";
import type { Database } from "../db/database.ts";
import { workThrough } from "../db/quarantine.ts";
import { pauseFor } from "../db/run-loop.ts";
import { workInShards } from "../db/shards.ts";
import { accountFact } from "../db/tables/enrich.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import type { AsOf } from "../model/features/types.ts";
import { findChangedFlags, findOvertakenScores } from "../oracle/publish-scores.ts";
import { type ContactCaches, createContactCaches } from "./read/contact-graph.ts";
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
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return null;
  const orphaned = await readOrphanedWallets(db, chainId, asOf.blockNumber);
  const changed = [...(await findChangedFlags(db, chainId)), ...orphaned];
  const flagged = await scoreBatches(context, changed, {
    ...{ at: "newest", unknown: "renew", orphaned },
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
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
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
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return null;
  const wallets = await readOvertakenWallets(db, dueAt(context, asOf));
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
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
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
    const due = await readScoredBefore(db, { chainId, wallets: own, block: how.reach });
    const count = await scoreBatches(context, due, {
      ...{ at: "finalized", unknown: how.unknown, contacts, signal },
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
      ...{ items: [...new Set(wallets)], batchSize: SCORING_BATCH, lanes: SCORING_LANES, attempt, control },
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

type DueQuery = {
  readonly chainId: number;
  readonly asOfBlock: number;
  /** Unix seconds of the as-of block. */
  readonly asOfTime: number;
  /** Least seconds of chain time between two scores of one wallet. */
  readonly intervalSeconds: number;
};

/** Counterparties of a wallet that are checked for facts; all wallets wait for this statement. */
const MOST_CONTACTS = 5_000;

/**
 * Wallets to score again, those first whose score, or following without one, is oldest: followed ones without a score; those
 * with an own call since theirs, which is old enough to be renewed; and those whose confidence has fallen a level meanwhile.
 * One whose past is still to be enriched is left out. `waiting` are those of which some counterparties have no facts yet.
 */
async function readDueWallets(db: Database, due: DueQuery) {
  const { rows } = await db.$client.query<{ wallet: Address; waits: boolean }>(
    `with candidate as (
       select w.address as wallet, coalesce(c.as_of_block, w.followed_block) as since
       from "chain_${due.chainId}".wallet w
       join ahs.enrich_wallet e on e.chain_id = $1 and e.wallet = w.address
         and e.past_next is null and e.from_block <= w.followed_block
       left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
       where w.followed_block <= $2
         and (c.wallet is null or (c.as_of_block < $2
              and extract(epoch from c.as_of_time) <= $3::float8 - $4::float8
              and exists (select from ahs.own_call o where o.chain_id = $1 and o.wallet = w.address
                and o.block > c.as_of_block and o.block <= $2)))
       union
       select c.wallet, c.as_of_block from ahs.current_score c
       where c.chain_id = $1 and c.as_of_block < $2 and c.level_until <= to_timestamp($3::float8)
         and not exists (select from ahs.unfollowed u where u.chain_id = $1 and u.address = c.wallet)
     )
     select wallet, exists (
       select from (
         select counterparty from ahs.contact where chain_id = $1 and account = candidate.wallet limit $5) k
       where not exists (select from ahs.account_fact f where f.chain_id = $1 and f.address = k.counterparty)) as waits
     from candidate order by since, wallet`,
    [due.chainId, due.asOfBlock, due.asOfTime, due.intervalSeconds, MOST_CONTACTS],
  );
  const walletsOf = (waits: boolean) => rows.filter((row) => row.waits === waits).map((row) => row.wallet);
  return { ready: walletsOf(false), waiting: walletsOf(true) };
}

/**
 * Wallets with a score old enough to be renewed, whose rows up to its block have changed since: facts of the wallet or of a
 * counterparty were read at that block or later, a source reported its past after the score was stored, or its past, still
 * to be enriched then, is enriched now: of such a wallet no approvals were frozen. One without enough history does not wait to be
 * renewed once more of its past is read. The oldest score comes first.
 */
async function readOvertakenWallets(db: Database, due: DueQuery): Promise<Address[]> {
  return walletsIn(
    db,
    `with held as (
       select c.wallet, c.as_of_block, s.created_at, s.inputs_hash, s.coverage ->> 'complete' = 'true' as complete
       from ahs.current_score c join ahs.score s on s.id = c.score_id
       where c.chain_id = $1 and c.as_of_block < $2 and extract(epoch from c.as_of_time) <= $3::float8 - $4::float8
     ), learnt as (
       select address, read_block from ahs.account_fact
       where chain_id = $1 and read_block >= (select min(as_of_block) from held)
     )
     select h.wallet, h.as_of_block from held h join learnt f on f.address = h.wallet and f.read_block >= h.as_of_block
     union
     select h.wallet, h.as_of_block from learnt f
     join ahs.contact k on k.chain_id = $1 and k.counterparty = f.address
     join held h on h.wallet = k.account and f.read_block >= h.as_of_block
     union
     select h.wallet, h.as_of_block from held h
     join ahs.kept_history p on p.chain_id = $1 and p.wallet = h.wallet and p.read_at > h.created_at
     union
     select c.wallet, c.as_of_block from ahs.kept_history p
     join ahs.current_score c on c.chain_id = $1 and c.wallet = p.wallet and c.as_of_block < $2 and c.ahs_score is null
     join ahs.score s on s.id = c.score_id and s.created_at < p.read_at
     where p.chain_id = $1
     union
     select h.wallet, h.as_of_block from held h
     join "chain_${due.chainId}".wallet w on w.address = h.wallet and w.followed_block <= $2
     join ahs.enrich_wallet e on e.chain_id = $1 and e.wallet = w.address
       and e.past_next is null and e.from_block <= w.followed_block
     join ahs.input_file inputs on inputs.hash = h.inputs_hash
     join ahs.input_file frozen on frozen.hash = inputs.content ->> 'counterparty_file'
     where not h.complete and frozen.content -> 'approvals' = 'null'::jsonb
     order by as_of_block, wallet`,
    [due.chainId, due.asOfBlock, due.asOfTime, due.intervalSeconds],
  );
}

async function walletsIn(db: Database, text: string, values: unknown[]): Promise<Address[]> {
  const { rows } = await db.$client.query<{ wallet: Address }>(text, values);
  return rows.map(({ wallet }) => wallet);
}

/** Those of the wallets without a score, or with one of a block before this one; in their order. */
function readScoredBefore(
  db: Database,
  of: { readonly chainId: number; readonly wallets: readonly string[]; readonly block: number },
) {
  return walletsIn(
    db,
    `select wanted.wallet from unnest($2::text[]) with ordinality as wanted (wallet, place)
     left join ahs.current_score c on c.chain_id = $1 and c.wallet = wanted.wallet
     where c.wallet is null or c.as_of_block < $3 order by wanted.place`,
    [of.chainId, of.wallets, of.block],
  );
}

/** Wallets whose current score is of a block that a reorg took out of the chain. */
function readOrphanedWallets(db: Database, chainId: number, finalizedBlock: number) {
  return walletsIn(
    db,
    `select c.wallet from ahs.current_score c
     join ahs.score s on s.id = c.score_id
     join "chain_${chainId}".block b on b.number = c.as_of_block and b.hash <> s.as_of_hash
     where c.chain_id = $1 and c.as_of_block > $2`,
    [chainId, finalizedBlock],
  );
}

/**
 * Followed wallets without a score of a block from `reach` on, those first whose score is oldest. Of idle ones, which have too little
 * history for a score and made no call since they were scored, there are at most so many, those that have such a score among
 * them: anyone can register any number of them. `leftOut` counts those beyond the bound.
 */
async function readNightlyWallets(
  db: Database,
  of: { readonly chainId: number; readonly reach: number; readonly mostIdle: number },
) {
  const { rows } = await db.$client.query<{ address: Address; left: boolean }>(
    `with followed as (
       select w.address, c.as_of_block, w.followed_block, coalesce(c.as_of_block >= $3, false) as done,
         c.wallet is not null and c.ahs_score is null and not c.sanctioned and not exists (
           select from ahs.own_call o where o.chain_id = $1 and o.wallet = w.address and o.block > c.as_of_block) as idle
       from "chain_${of.chainId}".wallet w
       left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
     ), ranked as (
       select *, idle and row_number() over (partition by idle order by done desc, as_of_block, followed_block, address) > $2
         as is_left
       from followed
     )
     select address, is_left as "left" from ranked where not done order by as_of_block nulls first, followed_block, address`,
    [of.chainId, of.mostIdle, of.reach],
  );
  const wallets = rows.filter(({ left }) => !left).map(({ address }) => address);
  return { wallets, leftOut: rows.length - wallets.length };
}

/** Every followed wallet, those first whose score is oldest: a run that is cut short goes on there. */
export function readFollowedWallets(db: Database, chainId: number) {
  return walletsIn(
    db,
    `select w.address as wallet from "chain_${chainId}".wallet w
     left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
     order by c.as_of_block nulls first, w.followed_block, w.address`,
    [chainId],
  );
}
