import type { Address, Hex } from "viem";
import { cached } from "../db/cached.ts";
import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import { fromIndex } from "../db/index-snapshot.ts";
import type { Grade } from "../model/score/record.ts";
import type { IndexHead } from "./scores.ts";

/** One chain in numbers. */
export type Ecosystem = {
  /** Wallets with a score now. */
  readonly scored: number;
  /** Wallets with too little history for a score. */
  readonly insufficient: number;
  /** Wallets that were sanctioned when they were last scored. */
  readonly sanctioned: number;
  /** Agents of the registry that the index follows; null while the index has no tables. */
  readonly agents: number | null;
  /** Null while the index holds no block. */
  readonly head: IndexHead | null;
  /** Moment of the chain that the score stored last is of; null before the first. */
  readonly newestScore: { readonly asOfBlock: number; readonly asOfTime: Date } | null;
  /** The newest Merkle root in the oracle; null before the first. */
  readonly newestRoot: NewestRoot | null;
};

type NewestRoot = {
  readonly epoch: number;
  readonly transactionHash: Hex;
  readonly publishedAt: Date;
};

/** These statements read whole indexes. */
const NUMBERS_CACHED_MS = 30_000;

/** Reads the numbers of a chain, at most every half minute. */
export function createEcosystemReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<Ecosystem> {
  const read = cached(() => readEcosystem(db, chainId), {
    keyOf: () => "all",
    milliseconds: NUMBERS_CACHED_MS,
    entries: 1,
    monotonicMs,
  });
  return () => read(undefined);
}

async function readEcosystem(db: Database, chainId: number): Promise<Ecosystem> {
  const [counts, newestScore, agents, head, newestRoot] = await Promise.all([
    readCounts(db, chainId),
    readNewestScore(db, chainId),
    fromIndex(readAgents(db, chainId)),
    fromIndex(readHead(db, chainId)),
    fromIndex(readNewestRoot(db, chainId)),
  ]);
  return { ...counts, agents, head, newestScore, newestRoot };
}

type Counts = Pick<Ecosystem, "scored" | "insufficient" | "sanctioned">;

/** A sanctioned wallet has score 0, so this reads few rows. */
async function readCounts(db: Database, chainId: number): Promise<Counts> {
  const { rows } = await db.$client.query<Counts>({
    ...QUERY_DEADLINE,
    name: "ecosystem_counts",
    text: `select (select count(*) from ahs.current_score where chain_id = $1 and ahs_score is not null)::int as scored,
                  (select count(*) from ahs.current_score where chain_id = $1 and ahs_score is null)::int as insufficient,
                  (select count(*) from ahs.current_score where chain_id = $1 and ahs_score = 0 and sanctioned)::int as sanctioned`,
    values: [chainId],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("a statement without a source answered no row");
  return row;
}

async function readNewestScore(db: Database, chainId: number): Promise<Ecosystem["newestScore"]> {
  const { rows } = await db.$client.query<{ block: number; time: Date }>({
    ...QUERY_DEADLINE,
    name: "ecosystem_newest_score",
    text: `select as_of_block::float8 as block, as_of_time as time from ahs.score
           where chain_id = $1 order by id desc limit 1`,
    values: [chainId],
  });
  return rows[0] === undefined ? null : { asOfBlock: rows[0].block, asOfTime: rows[0].time };
}

async function readAgents(db: Database, chainId: number): Promise<number | null> {
  const { rows } = await db.$client.query<{ agents: number }>({
    ...QUERY_DEADLINE,
    name: `ecosystem_agents_${chainId}`,
    text: `select count(*)::int as agents from "chain_${chainId}".agent`,
  });
  return rows[0]?.agents ?? null;
}

async function readHead(db: Database, chainId: number): Promise<IndexHead | null> {
  const { rows } = await db.$client.query<{ number: number; seconds: number }>({
    ...QUERY_DEADLINE,
    name: `ecosystem_head_${chainId}`,
    text: `select number::float8 as number, "timestamp"::float8 as seconds
           from "chain_${chainId}".block order by block.number desc limit 1`,
  });
  return rows[0] === undefined ? null : { blockNumber: rows[0].number, timestamp: rows[0].seconds };
}

async function readNewestRoot(db: Database, chainId: number): Promise<NewestRoot | null> {
  const { rows } = await db.$client.query<{ epoch: number; hash: Hex; seconds: number }>({
    ...QUERY_DEADLINE,
    name: `ecosystem_newest_root_${chainId}`,
    text: `select epoch::float8 as epoch, transaction_hash as hash, published_at::float8 as seconds
           from "chain_${chainId}".oracle_root order by oracle_root.epoch desc limit 1`,
  });
  const [row] = rows;
  if (row === undefined) return null;
  return { epoch: row.epoch, transactionHash: row.hash, publishedAt: new Date(row.seconds * 1000) };
}

/** A grade in the oracle that is another than the one before; null for a record without enough history. */
export type GradeChange = {
  /** Lower-case. */
  readonly wallet: Address;
  readonly from: Grade | null;
  readonly to: Grade | null;
  /** When the transaction was mined. */
  readonly at: Date;
  readonly transactionHash: Hex;
};

/** Publications read: most are heartbeats and moves within a grade. */
const PUBLICATIONS_READ = 2_000;
const CHANGES = 12;
const GRADE_CHANGES_CACHED_MS = 15_000;

/** Reads the newest changes of grade among the newest publications, newest first, at most every quarter of a minute. */
export function createGradeChangeReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<readonly GradeChange[]> {
  const read = cached(() => readGradeChanges(db, chainId), {
    keyOf: () => "all",
    milliseconds: GRADE_CHANGES_CACHED_MS,
    entries: 1,
    monotonicMs,
  });
  return () => read(undefined);
}

async function readGradeChanges(db: Database, chainId: number): Promise<readonly GradeChange[]> {
  const { rows } = await db.$client.query<{
    wallet: Address;
    from_grade: Grade | null;
    to_grade: Grade | null;
    mined_at: Date;
    mined_hash: Hex;
  }>({
    ...QUERY_DEADLINE,
    name: "grade_changes",
    text: GRADE_CHANGES,
    values: [chainId, PUBLICATIONS_READ, CHANGES],
  });
  return rows.map((row) => ({
    wallet: row.wallet,
    from: row.from_grade,
    to: row.to_grade,
    at: row.mined_at,
    transactionHash: row.mined_hash,
  }));
}

/** What was published before is the wallet's confirmed intent before; by the index of a wallet's intents. */
const GRADE_CHANGES = `
  select newest.wallet, was.grade as from_grade, became.grade as to_grade, sent.mined_at, sent.mined_hash
  from (
    select id, wallet, score_id, reason, sender_transaction_id from ahs.publish_intent
    where chain_id = $1 and state = 'confirmed' order by id desc limit $2
  ) as newest
  join ahs.score as became on became.id = newest.score_id
  join ahs.sender_transaction as sent
    on sent.id = newest.sender_transaction_id and sent.mined_hash is not null and sent.mined_at is not null
  cross join lateral (
    select score_id from ahs.publish_intent
    where chain_id = $1 and wallet = newest.wallet and id < newest.id and state = 'confirmed'
    order by id desc limit 1
  ) as earlier
  join ahs.score as was on was.id = earlier.score_id
  where newest.reason in ('grade', 'flag') and was.grade is distinct from became.grade
  order by newest.id desc limit $3`;

/** How many wallets have each score now, 0 to 100, by rising score; wallets without a score are in none, scores that nobody has are left out. */
export type ScoreDistribution = readonly { readonly score: number; readonly wallets: number }[];

/** Scores of all wallets move slowly, and this reads the whole index of them. */
const DISTRIBUTION_CACHED_MS = 30_000;

/** Reads the distribution of a chain's scores by one index-only scan, at most every half minute. */
export function createDistributionReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<ScoreDistribution> {
  const read = cached(() => readDistribution(db, chainId), {
    keyOf: () => "all",
    milliseconds: DISTRIBUTION_CACHED_MS,
    entries: 1,
    monotonicMs,
  });
  return () => read(undefined);
}

async function readDistribution(db: Database, chainId: number): Promise<ScoreDistribution> {
  const { rows } = await db.$client.query<{ score: number; wallets: number }>({
    ...QUERY_DEADLINE,
    name: "score_distribution",
    text: `select ahs_score as score, count(*)::int as wallets from ahs.current_score
           where chain_id = $1 and ahs_score is not null group by ahs_score order by ahs_score`,
    values: [chainId],
  });
  return rows;
}

/** The wallet that the index of a chain has followed longest, lower-case; null while it follows none. */
export async function readSampleWallet(db: Database, chainId: number): Promise<Address | null> {
  const { rows } = await db.$client.query<{ readonly address: Address }>({
    ...QUERY_DEADLINE,
    name: "sample_wallet",
    text: `select address from "chain_${chainId}".wallet order by followed_block, address limit 1`,
  });
  return rows[0]?.address ?? null;
}
