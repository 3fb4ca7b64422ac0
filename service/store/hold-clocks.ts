import { eq, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { JobKey } from "./escrow-jobs.ts";
import { holdClock } from "./tables/verdict.ts";

/** The clock of a held job. */
export type HoldClock = {
  readonly verdictId: string;
  readonly job: JobKey;
  readonly expiresAt: Date;
  readonly rerunAt: Date;
  readonly reviewBy: Date;
  readonly rerunAskedAt: Date | null;
  readonly reviewToldAt: Date | null;
};

/** Starts a held job's clock; one that runs already goes on as it is. */
export async function startClock(
  tx: NodePgDatabase,
  clock: Pick<HoldClock, "verdictId" | "expiresAt" | "rerunAt" | "reviewBy"> & {
    readonly chainId: number;
    readonly createdAt: Date;
  },
): Promise<void> {
  await tx.insert(holdClock).values(clock).onConflictDoNothing();
}

/** Clocks that have something to do at that moment of the chain: their verdict is HOLD still, and its job was not seen to end. */
export async function readDueClocks(
  db: NodePgDatabase,
  of: { readonly chainId: number; readonly at: Date; readonly limit: number },
): Promise<HoldClock[]> {
  const { rows } = await db.execute<ClockRow>(sql`
    select h.*, v.job_escrow, v.job_id from ahs.hold_clock h join ahs.verdict v on v.id = h.verdict_id
    where h.chain_id = ${of.chainId} and h.ended_at is null and v.final_verdict = 'HOLD'
      and v.replaced_at is null and v.job_id is not null
      and (h.expires_at <= ${of.at} or (h.rerun_asked_at is null and h.rerun_at <= ${of.at})
        or (h.review_told_at is null and h.review_by <= ${of.at}))
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

/** Notes what a clock did, or the moment of review that the chain has. */
export async function patchClock(
  tx: NodePgDatabase,
  verdictId: string,
  patch: {
    readonly rerunAskedAt?: Date;
    readonly reviewToldAt?: Date;
    readonly expiredOnHoldAt?: Date;
    readonly endedAt?: Date;
    readonly reviewBy?: Date;
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
  job_escrow: string;
  job_id: string;
  expires_at: Date | string;
  rerun_at: Date | string;
  review_by: Date | string;
  rerun_asked_at: Date | string | null;
  review_told_at: Date | string | null;
};

function clockOf(row: ClockRow): HoldClock {
  const moment = (at: Date | string | null) => (at === null ? null : new Date(at));
  return {
    verdictId: row.verdict_id,
    job: { chainId: row.chain_id, escrow: row.job_escrow, jobId: BigInt(row.job_id) },
    expiresAt: new Date(row.expires_at),
    rerunAt: new Date(row.rerun_at),
    reviewBy: new Date(row.review_by),
    rerunAskedAt: moment(row.rerun_asked_at),
    reviewToldAt: moment(row.review_told_at),
  };
}
