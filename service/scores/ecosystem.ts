import type { Hex } from "viem";
import type { Database } from "../db/database.ts";
import { fromIndex } from "../db/from-index.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";
import { remembered } from "../db/remembered.ts";
import type { IndexHead } from "./scores.ts";

/** One chain in numbers. */
export type Ecosystem = {
  /** Wallets with a score now. */
  readonly scored: number;
  /** Wallets that were looked at and have too little history. */
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
const KEPT_MS = 30_000;

/** Reads the numbers of a chain, at most every half minute. */
export function createEcosystemReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<Ecosystem> {
  const read = remembered(() => readEcosystem(db, chainId), {
    keyOf: () => "all",
    milliseconds: KEPT_MS,
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

/** A sanctioned wallet scores 0, so that few have to be looked at for it. */
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
