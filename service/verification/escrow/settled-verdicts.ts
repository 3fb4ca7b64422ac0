import type { Address, Hex } from "viem";
import { LOCAL_CHAIN_ID } from "../../chain/networks.ts";
import { cachedReader } from "../../db/cached.ts";
import { type Database, rowsInTime } from "../../db/database.ts";
import { fromIndex } from "../../db/index-snapshot.ts";

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
  return cachedReader(
    async () => {
      const rows = await fromIndex(
        rowsInTime<Omit<SettledVerdict, "jobId" | "at"> & { jobId: string; seconds: number }>(db, {
          name: `settled_verdicts_${chainId}`,
          text: `
            select v.escrow, v.job_id::text as "jobId", (array['ALLOW', 'REJECT', 'HOLD'])[v.decision] as decision, v.score,
              j.provider, v.timestamp::float8 as seconds, v.transaction_hash as "transactionHash",
              case when $1 then (select r.verdict_id from ahs.verdict_run r where r.evidence_hash = v.evidence_hash limit 1)
                end as "verdictId"
            from "chain_${chainId}".verdict_event v
            left join "chain_${chainId}".job j on j.id = v.escrow || ':' || v.job_id
            order by v.block desc, v.id desc limit ${SHOWN}`,
          values: [chainId === LOCAL_CHAIN_ID],
        }),
      );
      return (rows ?? []).map(({ jobId, seconds, ...row }) => ({
        ...row,
        jobId: BigInt(jobId),
        at: new Date(seconds * 1_000),
      }));
    },
    { milliseconds: CACHED_MS, monotonicMs },
  );
}
