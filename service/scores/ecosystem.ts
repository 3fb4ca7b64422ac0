import { and, count, desc, eq, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { type Deployment, registriesByAddress } from "../chain/deployments.ts";
import { cachedReader } from "../db/cached.ts";
import { isOneOf } from "../db/columns.ts";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import type { IndexHead } from "../db/index-head.ts";
import { fromIndex, readIndexHead } from "../db/index-snapshot.ts";
import { indexOf, numberOf } from "../db/index-tables.ts";
import { toQuery } from "../db/statement.ts";
import { registryAgent } from "../db/tables/scan.ts";
import { currentScore, score } from "../db/tables/score.ts";
import { type GradeChange, gradeChanges } from "./ecosystem.sql.ts";

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
  const countOf = (where: SQL) =>
    sql<number>`(select count(*) from ${currentScore} where ${currentScore.chainId} = ${chainId} and ${where})::int`;
  const { ahsScore, sanctioned } = currentScore;
  const [counts] = await underDeadline(db)
    .select({
      scored: countOf(isNotNull(ahsScore)),
      insufficient: countOf(isNull(ahsScore)),
      sanctioned: countOf(sql`${ahsScore} = 0 and ${sanctioned}`),
    })
    .from(sql`(values (1)) as one`);
  if (counts === undefined) throw new Error("expected one row, got none");
  return counts;
}

async function readNewestScore(db: Database, chainId: number): Promise<Ecosystem["newestScore"]> {
  const [newest] = await underDeadline(db)
    .select({ asOfBlock: score.asOfBlock, asOfTime: score.asOfTime })
    .from(score)
    .where(eq(score.chainId, chainId))
    .orderBy(desc(score.id))
    .limit(1);
  return newest ?? null;
}

async function readAgents(db: Database, chain: Pick<Deployment, "chainId" | "registries">): Promise<number> {
  const inTime = underDeadline(db);
  const isListed = and(
    eq(registryAgent.chainId, chain.chainId),
    isOneOf(registryAgent.registry, [...registriesByAddress(chain).keys()]),
  );
  return (await inTime.$count(indexOf(chain.chainId).agent)) + (await inTime.$count(registryAgent, isListed));
}

async function readNewestRoot(db: Database, chainId: number): Promise<Ecosystem["newestRoot"]> {
  const { oracleRoot } = indexOf(chainId);
  const { epoch, transactionHash, publishedAt } = oracleRoot;
  const [root] = await underDeadline(db)
    .select({ epoch: numberOf(epoch), transactionHash, seconds: numberOf(publishedAt) })
    .from(oracleRoot)
    .orderBy(desc(epoch))
    .limit(1);
  if (root === undefined) return null;
  const { seconds, ...rest } = root;
  return { ...rest, publishedAt: new Date(seconds * 1000) };
}

const GRADE_CHANGES_CACHED_MS = 15_000;

/** Reads the newest changes of grade among the newest publications, newest first, at most every quarter of a minute. */
export function createGradeChangeReader(db: Database, { chainId, monotonicMs }: ReaderOptions) {
  return cachedReader<readonly GradeChange[]>(
    () => rowsInTime<GradeChange>(db, toQuery(gradeChanges(chainId))),
    { milliseconds: GRADE_CHANGES_CACHED_MS, monotonicMs },
  );
}

/** How many wallets have each score now, 0 to 100, by rising score; scores without a wallet are left out. */
export type ScoreDistribution = readonly { readonly score: number; readonly wallets: number }[];

/** Reads the distribution of a chain's scores by one index-only scan, at most every half minute. */
export function createDistributionReader(db: Database, { chainId, monotonicMs }: ReaderOptions) {
  return cachedReader<ScoreDistribution>(
    () =>
      underDeadline(db)
        .select({ score: sql<number>`${currentScore.ahsScore}`, wallets: count() })
        .from(currentScore)
        .where(and(eq(currentScore.chainId, chainId), isNotNull(currentScore.ahsScore)))
        .groupBy(currentScore.ahsScore)
        .orderBy(currentScore.ahsScore),
    { milliseconds: NUMBERS_CACHED_MS, monotonicMs },
  );
}

/** The wallet that the index of a chain has followed longest, lower-case; null while it follows none. */
export async function readSampleWallet(db: Database, chainId: number): Promise<Address | null> {
  const { wallet } = indexOf(chainId);
  const { address, followedBlock } = wallet;
  const [first] = await underDeadline(db)
    .select({ address })
    .from(wallet)
    .orderBy(followedBlock, address)
    .limit(1);
  return first?.address ?? null;
}

/** An early agent of the index that has a wallet; null where the first hundred have none. */
export async function readSampleAgent(db: Database, chainId: number): Promise<bigint | null> {
  const { agent } = indexOf(chainId);
  const { agentId, wallet } = agent;
  const early = await underDeadline(db)
    .select({ agentId, wallet })
    .from(agent)
    .orderBy(agentId)
    .limit(EARLY_AGENTS);
  return early.find((one) => one.wallet !== null)?.agentId ?? null;
}

const EARLY_AGENTS = 100;
