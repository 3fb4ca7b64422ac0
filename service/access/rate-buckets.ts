import type { Database } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

type Call = {
  /** key:ID or wallet:ADDRESS. */
  readonly identity: string;
  readonly perMinute: number;
};

type Taken = { readonly granted: boolean /** Left after the call. */; readonly tokens: number };

/** Token buckets on ahs.rate_bucket, shared by all servers. */
export type RateBuckets = { take(call: Call): Promise<Taken> };

/**
 * One row for each caller, whatever the number of calls. A proposed row is a full bucket from which the calls were taken, so that
 * tokens and granted of it add up to the size of the bucket; the clock of a bucket never goes back.
 */
const TAKE = {
  name: "rate_bucket_take",
  text: `
    insert into ahs.rate_bucket as bucket (identity, tokens, granted, updated_at)
    select identity, size - least(calls, size), least(calls, size), $4::timestamptz
    from unnest($1::text[], $2::int[], $3::int[]) as asked (identity, size, calls)
    order by identity
    on conflict (identity) do update set (tokens, granted, updated_at) = (
      select level - least(excluded.granted, floor(level)),
             least(excluded.granted, floor(level)),
             greatest(bucket.updated_at, excluded.updated_at)
      from (select least(
        excluded.tokens + excluded.granted,
        bucket.tokens + greatest(0, extract(epoch from excluded.updated_at - bucket.updated_at)::float8)
          * (excluded.tokens + excluded.granted) / 60
      ) as level) as refilled
    )
    returning identity, tokens, granted`,
};

type BucketRow = { readonly identity: string; readonly tokens: number; readonly granted: number };

const BATCH = { maxSize: 500, maxRunning: 2 };

/** Buckets of callers; calls that wait at the same time share a statement. Throws when the database does not answer. */
export function createRateBuckets({
  db,
  now,
}: {
  readonly db: Database;
  readonly now: () => Date;
}): RateBuckets {
  return {
    take: loadInBatches(async (calls: readonly Call[]) => {
      const wanted = [...Map.groupBy(calls, ({ identity }) => identity)];
      const { rows } = await db.$client.query<BucketRow>({
        ...QUERY_DEADLINE,
        ...TAKE,
        values: [
          wanted.map(([identity]) => identity),
          wanted.map(([, group]) => Math.max(...group.map(({ perMinute }) => perMinute))),
          wanted.map(([, group]) => group.length),
          now(),
        ],
      });
      return share(calls, rows);
    }, BATCH),
  };
}

/** What was granted to a caller goes to its calls in the order in which they came. */
function share(calls: readonly Call[], rows: readonly BucketRow[]): readonly Taken[] {
  const granted = new Map(rows.map((row) => [row.identity, { ...row, place: 0 }]));
  return calls.map(({ identity }) => {
    const bucket = granted.get(identity);
    if (bucket === undefined) throw new Error(`the bucket of ${identity} was not answered`);
    bucket.place += 1;
    return bucket.place <= bucket.granted
      ? { granted: true, tokens: bucket.tokens + bucket.granted - bucket.place }
      : { granted: false, tokens: bucket.tokens };
  });
}

/** Forgets buckets that were not taken from since `before`: they are full again. Answers how many. */
export async function dropIdleBuckets(db: Database, before: Date): Promise<number> {
  const { rowCount } = await db.$client.query("delete from ahs.rate_bucket where updated_at < $1", [before]);
  return rowCount ?? Number.NaN;
}
