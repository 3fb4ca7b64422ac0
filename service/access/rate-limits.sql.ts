import { sql } from "drizzle-orm";
import { prepared } from "../db/statement.ts";

// Every paid request runs these: the row "read: cost of limit of the key" of bench/results.md.

/** Seconds in which an empty bucket fills; a rate is the bucket's size. */
export const WINDOW_SECONDS = 60;
export const SECONDS_PER_DAY = 86_400;

/** Prefix of the budgets of bytes in the table of buckets. */
export const BYTES = "bytes:";

/**
 * A bucket's clock never runs backwards, except from a moment in the future, which a wrong clock has written: such a
 * bucket would not refill until then.
 */
const NEWER = sql`
  case when bucket.updated_at > excluded.updated_at + ${`${WINDOW_SECONDS} s`}::interval then excluded.updated_at
       else greatest(bucket.updated_at, excluded.updated_at) end`;

/**
 * One row per caller. A proposed row is a full bucket minus the calls, so that its tokens and granted calls add up to
 * the bucket's size.
 */
export const takeTokens = prepared<{
  readonly identities: readonly string[];
  readonly sizes: readonly number[];
  readonly calls: readonly number[];
  readonly at: Date;
}>(
  "rate_bucket_take",
  sql`
    insert into ahs.rate_bucket as bucket (identity, tokens, granted, updated_at)
    select identity, size - least(calls, size), least(calls, size), ${sql.placeholder("at")}::timestamptz
    from unnest(${sql.placeholder("identities")}::text[], ${sql.placeholder("sizes")}::int[], ${sql.placeholder("calls")}::int[]) as asked (identity, size, calls)
    order by identity
    on conflict (identity) do update set (tokens, granted, updated_at) = (
      select level - least(excluded.granted, floor(level)),
             least(excluded.granted, floor(level)),
             ${NEWER}
      from (select least(
        excluded.tokens + excluded.granted,
        bucket.tokens + greatest(0, extract(epoch from excluded.updated_at - bucket.updated_at)::float8)
          * (excluded.tokens + excluded.granted) / 60
      ) as level) as refilled
    )
    returning identity, tokens, granted`,
);

/** Fills each budget up to now and holds its row; a proposed row is a full budget. */
export const refillBudgets = prepared<{
  readonly owners: readonly string[];
  readonly sizes: readonly number[];
  readonly at: Date;
}>(
  "byte_budget_refill",
  sql`
  insert into ahs.rate_bucket as bucket (identity, tokens, granted, updated_at)
  select ${BYTES} || owner, bytes, 0, ${sql.placeholder("at")}::timestamptz
  from unnest(${sql.placeholder("owners")}::text[], ${sql.placeholder("sizes")}::float8[]) as asked (owner, bytes)
  order by owner
  on conflict (identity) do update set
    tokens = least(excluded.tokens, bucket.tokens + excluded.tokens / ${SECONDS_PER_DAY}
      * greatest(0, extract(epoch from excluded.updated_at - bucket.updated_at)::float8)),
    updated_at = ${NEWER}
  returning identity, tokens`,
);

export const spendBudgets = prepared<{ readonly owners: readonly string[]; readonly bytes: number }>(
  "byte_budget_spend",
  sql`
  update ahs.rate_bucket set tokens = tokens - ${sql.placeholder("bytes")}
  where identity = any(select ${BYTES} || owner from unnest(${sql.placeholder("owners")}::text[]) as spent (owner))`,
);
