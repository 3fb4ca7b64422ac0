import { type Database, QUERY_DEADLINE } from "../db/database.ts";
import { SPENT } from "./rate-limits.ts";

export type SpendingLimits = ReturnType<typeof createSpendingLimits>;

/** Adds to a session's sum if it stays within the limit. */
const TAKE = `
  insert into ahs.rate_bucket as bucket (identity, tokens, granted, updated_at)
  select $1, $2::float8, 0, $4::timestamptz where $2::float8 <= $3::float8
  on conflict (identity) do update set tokens = bucket.tokens + excluded.tokens, updated_at = excluded.updated_at
  where bucket.tokens + excluded.tokens <= $3::float8
  returning tokens`;

const READ = "select tokens from ahs.rate_bucket where identity = $1";

/** Sessions that spent nothing keep no row, so that unpaid calls cannot fill the table. */
const FORGET = "delete from ahs.rate_bucket where identity = $1 and tokens + $2::float8 <= 0";

const CORRECT = "update ahs.rate_bucket set tokens = greatest(0, tokens + $2::float8) where identity = $1";

/** Sums of charges by session, in the table of rate buckets. A session that is idle for two days starts again. */
export function createSpendingLimits({ db, now }: { readonly db: Database; readonly now: () => Date }) {
  const pool = db.$client;
  return {
    /** Reserves a price. Returns null if the sum stays within the limit, else the units that are spent already. */
    async take(
      session: string,
      { units, limitUnits }: { readonly units: number; readonly limitUnits: number },
    ): Promise<number | null> {
      const identity = `${SPENT}${session}`;
      const values = [identity, units, limitUnits, now()];
      const { rowCount } = await pool.query({ ...QUERY_DEADLINE, text: TAKE, values });
      if (rowCount === 1) return null;
      const { rows } = await pool.query<{ readonly tokens: number }>({
        ...QUERY_DEADLINE,
        text: READ,
        values: [identity],
      });
      return rows[0]?.tokens ?? 0;
    },
    /** Corrects a reserved price by the difference to what was charged. */
    async correct(session: string, units: number): Promise<void> {
      if (units === 0) return;
      const values = [`${SPENT}${session}`, units];
      const { rowCount } = await pool.query({ ...QUERY_DEADLINE, text: FORGET, values });
      if (rowCount === 0) await pool.query({ ...QUERY_DEADLINE, text: CORRECT, values });
    },
  };
}
