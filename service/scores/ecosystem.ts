import type { Address, Hex } from "viem";
import { type Deployment, registriesByAddress } from "../chain/deployments.ts";
import { cachedReader } from "../db/cached.ts";
import { type Database, rowsInTime } from "../db/database.ts";
import { fromIndex, type IndexHead, readIndexHead } from "../db/index-snapshot.ts";
import type { Grade } from "../model/score/record.ts";

/** One chain in numbers. */
export type Ecosystem = {
  /** Wallets with a score now. */
  readonly scored: number;
  /** Wallets with too little history for a score. */
  readonly insufficient: number;
  /** Wallets that were sanctioned when they were last scored. */
  readonly sanctioned: number;
  /** Agents of all registries; null while the index has no tables. */
  readonly agents: number | null;
  /** Null while the index holds no block. */
  readonly head: IndexHead | null;
  /** Moment of the chain that the score stored last is of; null before the first. */
  readonly newestScore: { readonly asOfBlock: number; readonly asOfTime: Date } | null;
  /** The newest Merkle root in the oracle; null before the first. */
  readonly newestRoot: {
    readonly epoch: number;
    readonly transactionHash: Hex;
    readonly publishedAt: Date;
  } | null;
};

/** These statements read whole indexes, and what they read moves slowly. */
const NUMBERS_CACHED_MS = 30_000;

type ReaderOptions = { readonly chainId: number; readonly monotonicMs: () => number };

/** Reads the numbers of a chain, at most every half minute. */
export function createEcosystemReader(
  db: Database,
  { monotonicMs, ...chain }: ReaderOptions & Pick<Deployment, "registries">,
) {
  return cachedReader(() => readEcosystem(db, chain), { milliseconds: NUMBERS_CACHED_MS, monotonicMs });
}

async function readEcosystem(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
): Promise<Ecosystem> {
  const { chainId } = chain;
  const [counts, newestScore, agents, head, newestRoot] = await Promise.all([
    readCounts(db, chainId),
    readNewestScore(db, chainId),
    fromIndex(readAgents(db, chain)),
    fromIndex(readIndexHead(db, chainId)),
    fromIndex(readNewestRoot(db, chainId)),
  ]);
  return { ...counts, agents, head, newestScore, newestRoot };
}

/** A sanctioned wallet has score 0, so this reads few rows. */
async function readCounts(db: Database, chainId: number) {
  const [row] = await rowsInTime<Pick<Ecosystem, "scored" | "insufficient" | "sanctioned">>(db, {
    name: "ecosystem_counts",
    text: `select (select count(*) from ahs.current_score where chain_id = $1 and ahs_score is not null)::int as scored,
                  (select count(*) from ahs.current_score where chain_id = $1 and ahs_score is null)::int as insufficient,
                  (select count(*) from ahs.current_score where chain_id = $1 and ahs_score = 0 and sanctioned)::int as sanctioned`,
    values: [chainId],
  });
  if (row === undefined) throw new Error("a statement without a source answered no row");
  return row;
}

async function readNewestScore(db: Database, chainId: number): Promise<Ecosystem["newestScore"]> {
  const [newest] = await rowsInTime<NonNullable<Ecosystem["newestScore"]>>(db, {
    name: "ecosystem_newest_score",
    text: `select as_of_block::float8 as "asOfBlock", as_of_time as "asOfTime" from ahs.score
           where chain_id = $1 order by id desc limit 1`,
    values: [chainId],
  });
  return newest ?? null;
}

async function readAgents(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
): Promise<number | null> {
  const { chainId } = chain;
  const [row] = await rowsInTime<{ agents: number }>(db, {
    name: `ecosystem_agents_${chainId}`,
    text: `select ((select count(*) from "chain_${chainId}".agent)
             + (select count(*) from ahs.registry_agent where chain_id = $1 and registry = any($2::text[])))::int as agents`,
    values: [chainId, [...registriesByAddress(chain).keys()]],
  });
  return row?.agents ?? null;
}

async function readNewestRoot(db: Database, chainId: number): Promise<Ecosystem["newestRoot"]> {
  const [root] = await rowsInTime<{ epoch: number; transactionHash: Hex; seconds: number }>(db, {
    name: `ecosystem_newest_root_${chainId}`,
    text: `select epoch::float8 as epoch, transaction_hash as "transactionHash", published_at::float8 as seconds
           from "chain_${chainId}".oracle_root order by oracle_root.epoch desc limit 1`,
  });
  if (root === undefined) return null;
  const { seconds, ...rest } = root;
  return { ...rest, publishedAt: new Date(seconds * 1000) };
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
const CHANGES = 50;
const GRADE_CHANGES_CACHED_MS = 15_000;

/** Reads the newest changes of grade among the newest publications, newest first, at most every quarter of a minute. */
export function createGradeChangeReader(db: Database, { chainId, monotonicMs }: ReaderOptions) {
  const values = [chainId, PUBLICATIONS_READ, CHANGES];
  return cachedReader<readonly GradeChange[]>(
    () => rowsInTime<GradeChange>(db, { name: "grade_changes", text: GRADE_CHANGES, values }),
    { milliseconds: GRADE_CHANGES_CACHED_MS, monotonicMs },
  );
}

/** The previous grade is that of the wallet's confirmed intent before, found by the index of a wallet's intents. */
const GRADE_CHANGES = `
  select newest.wallet, was.grade as from, became.grade as to, sent.mined_at as at, sent.mined_hash as "transactionHash"
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

/** How many wallets have each score now, 0 to 100, by rising score; scores without a wallet are left out. */
export type ScoreDistribution = readonly { readonly score: number; readonly wallets: number }[];

/** Reads the distribution of a chain's scores by one index-only scan, at most every half minute. */
export function createDistributionReader(db: Database, { chainId, monotonicMs }: ReaderOptions) {
  return cachedReader<ScoreDistribution>(
    () =>
      rowsInTime<ScoreDistribution[number]>(db, {
        name: "score_distribution",
        text: `select ahs_score as score, count(*)::int as wallets from ahs.current_score
               where chain_id = $1 and ahs_score is not null group by ahs_score order by ahs_score`,
        values: [chainId],
      }),
    { milliseconds: NUMBERS_CACHED_MS, monotonicMs },
  );
}

/** The wallet that the index of a chain has followed longest, lower-case; null while it follows none. */
export async function readSampleWallet(db: Database, chainId: number): Promise<Address | null> {
  const [wallet] = await rowsInTime<{ address: Address }>(db, {
    name: "sample_wallet",
    text: `select address from "chain_${chainId}".wallet order by followed_block, address limit 1`,
  });
  return wallet?.address ?? null;
}

/** An early agent of the index that has a wallet; null where the first hundred have none. */
export async function readSampleAgent(db: Database, chainId: number): Promise<bigint | null> {
  const [agent] = await rowsInTime<{ agentId: string }>(db, {
    name: "sample_agent",
    text: `select agent_id::text as "agentId"
           from (select agent_id, wallet from "chain_${chainId}".agent order by agent_id limit 100) early
           where wallet is not null order by agent_id limit 1`,
  });
  return agent === undefined ? null : BigInt(agent.agentId);
}
