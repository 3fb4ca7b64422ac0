import { eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { viewOf } from "../../db/index-snapshot.ts";
import { holdClock } from "../../db/tables/settlement.ts";
import type { JobKey } from "./escrow-jobs.ts";

/** The clock of a held job. */
export type HoldClock = {
  readonly verdictId: string;
  readonly job: JobKey;
  readonly expiresAt: Date;
  /** From when on nothing decides the job any more; null where that is once its refund is claimed. */
  readonly endsAt: Date | null;
  /** When a re-run is asked for next; null where no more is. */
  readonly rerunAt: Date | null;
  readonly reviewBy: Date;
  readonly reviewToldAt: Date | null;
};

/** Starts a held job's clock; one that runs already goes on as it is. */
export async function startClock(
  tx: NodePgDatabase,
  clock: Pick<HoldClock, "verdictId" | "expiresAt" | "endsAt" | "rerunAt" | "reviewBy"> & {
    readonly chainId: number;
    readonly createdAt: Date;
  },
): Promise<void> {
  await tx.insert(holdClock).values(clock).onConflictDoNothing();
}

/**
 * Clocks that have something to do at that moment of the chain: their verdict is HOLD still, and its job's end is not noted. Throws
 * without an index of the escrows.
 */
export async function readDueClocks(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly at: Date; readonly limit: number },
): Promise<HoldClock[]> {
  const { rows } = await db.execute<ClockRow>(sql`
    select h.*, v.job_escrow, v.job_id from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.chain_id = ${of.chainId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null and v.job_id is not null
      and (h.ends_at <= ${of.at} or h.rerun_at <= ${of.at} or (h.review_told_at is null and h.review_by <= ${of.at})
        or exists (select from ${viewOf(of.chainId, "job")} j
          where j.id = v.job_escrow || ':' || v.job_id and j.ended_block is not null))
    order by h.expires_at limit ${of.limit}`);
  return rows.map(clockOf);
}

/** The clock of a verdict that is HOLD still, kept to this transaction; null where it ended meanwhile. */
export async function takeClock(tx: NodePgDatabase, verdictId: string): Promise<HoldClock | null> {
  await tx.execute(sql`select 1 from ahs.verdict where id = ${verdictId} for update`);
  const { rows } = await tx.execute<ClockRow>(sql`
    select h.*, v.job_escrow, v.job_id from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.verdict_id = ${verdictId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null and v.job_id is not null for update of h`);
  return rows[0] === undefined ? null : clockOf(rows[0]);
}

/** Notes what a clock did. */
export async function patchClock(
  tx: NodePgDatabase,
  verdictId: string,
  patch: {
    readonly rerunAskedAt?: Date;
    readonly rerunAt?: Date | null;
    readonly reviewToldAt?: Date;
    readonly expiredOnHoldAt?: Date;
    readonly endedAt?: Date;
  },
): Promise<void> {
  await tx.update(holdClock).set(patch).where(eq(holdClock.verdictId, verdictId));
}

/** How many jobs are on HOLD past the moment of review, or will be: those whose reviewer was asked, and all. */
export async function countHolds(
  db: NodePgDatabase,
  chainId: number,
): Promise<{ readonly open: number; readonly forReview: number }> {
  const { rows } = await db.execute<{ open: number; for_review: number }>(sql`
    select count(*)::int as open, count(h.review_told_at)::int as for_review
    from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.chain_id = ${chainId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null`);
  const [row] = rows;
  if (row === undefined) throw new Error("a count answers one row");
  return { open: row.open, forReview: row.for_review };
}

type ClockRow = {
  verdict_id: string;
  chain_id: number;
  job_escrow: Address;
  job_id: string;
  expires_at: Date | string;
  ends_at: Date | string | null;
  rerun_at: Date | string | null;
  review_by: Date | string;
  review_told_at: Date | string | null;
};

function clockOf(row: ClockRow): HoldClock {
  const moment = (at: Date | string | null) => (at === null ? null : new Date(at));
  return {
    verdictId: row.verdict_id,
    job: { chainId: row.chain_id, escrow: row.job_escrow, jobId: BigInt(row.job_id) },
    expiresAt: new Date(row.expires_at),
    endsAt: moment(row.ends_at),
    rerunAt: moment(row.rerun_at),
    reviewBy: new Date(row.review_by),
    reviewToldAt: moment(row.review_told_at),
  };
}
