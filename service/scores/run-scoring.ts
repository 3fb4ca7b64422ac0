import { eq } from "drizzle-orm";
import type { Logger } from "pino";
import { type Address, zeroAddress } from "viem";
import type { Database } from "../db/database.ts";
import { workThrough } from "../db/quarantine.ts";
import { accountFact } from "../db/tables/enrich.ts";
import { readAsOf } from "../ingest/read-as-of.ts";
import type { AsOf } from "../model/features/types.ts";
import { findStaleScores } from "../oracle/publish-scores.ts";
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

/**
 * Scores every wallet whose score is missing, outdated or orphaned, or whose confidence fell a level by waiting, flags
 * first; those that wait for facts only when the patience with them ends. Null while no block is both finalized and enriched.
 */
export async function scoreDueWallets(
  context: ScoringRunContext,
  patience: ReturnType<typeof createFactPatience>,
): Promise<{ readonly scored: number; readonly flagged: number } | null> {
  const { db, chainId, publishPolicy } = context;
  const asOf = await readAsOf(db.$client, { schema: `chain_${chainId}`, chainId });
  if (asOf === null) return null;
  const orphaned = await readOrphanedWallets(db, chainId, asOf.blockNumber);
  const stale = await findStaleScores(db, { chainId, now: context.now(), policy: publishPolicy });
  const changed = [...stale.flagChanged, ...orphaned];
  // Where all of these fail, the others are scored before the run does.
  const [flags] = await Promise.allSettled([
    scoreBatches(context, changed, { at: "newest", unknown: "renew", orphaned }),
  ]);
  const { ready, waiting } = await readDueWallets(db, dueAt(context, asOf));
  const late = patience(
    waiting,
    waiting.length === 0 ? 0 : await db.$count(accountFact, eq(accountFact.chainId, chainId)),
  );
  const due = [...ready, ...late, ...stale.overtaken];
  const scored = await scoreBatches(context, due, { at: "finalized", unknown: "renew" });
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
  const scored = await scoreBatches(context, wallets, { at: "finalized", unknown: "renew" });
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
  return scoreBatches(context, wallets, { at: "finalized", unknown: "leave out", signal });
}

/** Scores wallets in batches. A wallet that cannot be scored is quarantined; the others are scored. */
async function scoreBatches(
  context: ScoringRunContext,
  wallets: readonly string[],
  how: {
    readonly at: ScoredBlock;
    /** Wallets that are no longer followed or listed: whether their score is renewed. */
    readonly unknown: "renew" | "leave out";
    readonly orphaned?: readonly string[];
    /** Ends the run between two batches. */
    readonly signal?: AbortSignal;
  },
): Promise<number> {
  const { policy } = context;
  let count = 0;
  const task = { at: how.at, contacts: createContactCaches() };
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
 * to be enriched then, is enriched now: of such a wallet no approvals were frozen. The oldest score comes first.
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
 * Followed wallets that a night scores again, those first whose score is oldest. Of idle ones, which have too little history for
 * a score and made no call since they were scored, there are at most so many: anyone can register any number of them. `leftOut`
 * counts those beyond the bound.
 */
async function readNightlyWallets(
  db: Database,
  { chainId, mostIdle }: { readonly chainId: number; readonly mostIdle: number },
) {
  const { rows } = await db.$client.query<{ address: Address; left: boolean }>(
    `with followed as (
       select w.address, c.as_of_block, w.followed_block,
         c.wallet is not null and c.ahs_score is null and not c.sanctioned and not exists (
           select from ahs.own_call o where o.chain_id = $1 and o.wallet = w.address and o.block > c.as_of_block) as idle
       from "chain_${chainId}".wallet w
       left join ahs.current_score c on c.chain_id = $1 and c.wallet = w.address
     )
     select address, idle and row_number() over (partition by idle order by as_of_block, followed_block, address) > $2 as left
     from followed order by as_of_block nulls first, followed_block, address`,
    [chainId, mostIdle],
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
