import type { Address, Hex } from "viem";
import type { Database } from "../../db/database.ts";

/** A verdict that a reviewer may decide, as they see it in a list. */
export type HeldVerdict = {
  readonly id: string;
  /** failed: the panel came to no decision on a job's output. */
  readonly state: "HOLD" | "failed";
  readonly specHash: Hex;
  /** When it became HOLD, or failed. */
  readonly since: Date;
  readonly job: { readonly chainId: number; readonly escrow: Address; readonly jobId: bigint } | null;
  /** Null where no job is held. */
  readonly expiresAt: Date | null;
  readonly reviewBy: Date | null;
};

/** Verdicts that wait for a review in the order of their urgency, and how many there are in all. */
export type HeldList = { readonly verdicts: readonly HeldVerdict[]; readonly total: number };

/**
 * Verdicts that are on HOLD and whose job, if there is one, was not seen to end, and failed ones of jobs: those of jobs first, by when
 * these expire, then those whose job's clock does not run, then those of no job, each by how long they wait. At most `limit`, all
 * where it is null.
 */
export async function listHeldVerdicts(db: Database, limit: number | null): Promise<HeldList> {
  const { rows } = await db.$client.query<HeldRow>(
    `select v.id, s.spec_hash, v.final_verdict is null as is_failed, coalesce(v.evaluated_at, v.updated_at) as since,
       v.job_chain_id, v.job_escrow, v.job_id, h.expires_at, h.review_by,
       count(*) over ()::int as total
     from ahs.verdict v
     join ahs.job_spec s on s.id = v.spec_id
     left join ahs.hold_clock h on h.verdict_id = v.id
     where (v.final_verdict = 'HOLD' or (v.status = 'failed' and v.runs = 0 and v.job_id is not null))
       and v.replaced_at is null and h.ended_at is null
     order by v.job_id is null, h.expires_at nulls last, since, v.id limit $1`,
    [limit],
  );
  return { verdicts: rows.map(heldOf), total: rows[0]?.total ?? 0 };
}

type HeldRow = {
  readonly id: string;
  readonly spec_hash: Hex;
  readonly is_failed: boolean;
  readonly since: Date;
  readonly job_chain_id: number | null;
  readonly job_escrow: Address | null;
  readonly job_id: string | null;
  readonly expires_at: Date | null;
  readonly review_by: Date | null;
  readonly total: number;
};

function heldOf(row: HeldRow): HeldVerdict {
  return {
    id: row.id,
    state: row.is_failed ? "failed" : "HOLD",
    specHash: row.spec_hash,
    since: row.since,
    job:
      row.job_chain_id === null || row.job_escrow === null || row.job_id === null
        ? null
        : { chainId: row.job_chain_id, escrow: row.job_escrow, jobId: BigInt(row.job_id) },
    expiresAt: row.expires_at,
    reviewBy: row.review_by,
  };
}
