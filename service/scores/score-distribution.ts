import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";
import { remembered } from "../db/remembered.ts";

/** How many wallets have each score now, 0 to 100, by rising score; wallets without a score are in none, scores that nobody has are left out. */
export type ScoreDistribution = readonly { readonly score: number; readonly wallets: number }[];

/** Scores of all wallets move slowly, and this reads the whole index of them. */
const KEPT_MS = 30_000;

/** Reads the distribution of a chain's scores by one index-only scan, at most every half minute. */
export function createDistributionReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<ScoreDistribution> {
  const read = remembered(() => readDistribution(db, chainId), {
    keyOf: () => "all",
    milliseconds: KEPT_MS,
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
