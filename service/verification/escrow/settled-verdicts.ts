import { desc, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { LOCAL_CHAIN_ID } from "../../chain/networks.ts";
import { cachedReader } from "../../db/cached.ts";
import { type Database, underDeadline } from "../../db/database.ts";
import { fromIndex } from "../../db/index-snapshot.ts";
import { indexOf, numberOf } from "../../db/index-tables.ts";
import { verdictRun } from "../../db/tables/verdict.ts";
import { jobIdOf } from "./escrow-jobs.ts";

/** A decision that the evaluator contract carried out, by its event. Addresses are lower-case. */
export type SettledVerdict = {
  readonly escrow: Address;
  readonly jobId: bigint;
  readonly decision: "ALLOW" | "REJECT" | "HOLD";
  /** 0 to 100; null for a HOLD. */
  readonly score: number | null;
  /** Null for a job that was funded before the escrow was followed, or not submitted. */
  readonly provider: Address | null;
  readonly at: Date;
  readonly transactionHash: Hex;
  /** Id of the verdict, which alone gives access to it: on the local chain only, elsewhere null. */
  readonly verdictId: string | null;
};

const SHOWN = 6;
const CACHED_MS = 30_000;

/** Reads the newest decisions of the evaluator's events, at most every half minute; empty while the index has no tables. */
export function createSettledVerdictReader(
  db: Database,
  { chainId, monotonicMs }: { readonly chainId: number; readonly monotonicMs: () => number },
): () => Promise<readonly SettledVerdict[]> {
  const { job, verdictEvent: event } = indexOf(chainId);
  const isTheirs = eq(verdictRun.evidenceHash, event.evidenceHash);
  const reads = underDeadline(db);
  const run = reads.select({ id: verdictRun.verdictId }).from(verdictRun).where(isTheirs).limit(1);
  const newest = reads
    .select({
      escrow: event.escrow,
      jobId: event.jobId,
      decision: sql<SettledVerdict["decision"]>`(array['ALLOW', 'REJECT', 'HOLD'])[${event.decision}]`,
      score: event.score,
      provider: job.provider,
      seconds: numberOf(event.timestamp),
      transactionHash: event.transactionHash,
      verdictId: chainId === LOCAL_CHAIN_ID ? sql<string | null>`${run}` : sql<null>`null`,
    })
    .from(event)
    .leftJoin(job, eq(job.id, jobIdOf(event.escrow, event.jobId)))
    .orderBy(desc(event.block), desc(event.id))
    .limit(SHOWN)
    .prepare(`settled_verdicts_${chainId}`);
  return cachedReader(
    async () => {
      const rows = (await fromIndex(newest.execute())) ?? [];
      return rows.map(({ seconds, ...row }) => ({ ...row, at: new Date(seconds * 1_000) }));
    },
    { milliseconds: CACHED_MS, monotonicMs },
  );
}
