import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

/** What one owner of a budget may store: `bytes` at once, and as many again over a day. */
export type ByteBudget = { readonly owner: string; readonly bytes: number };

/** A budget that does not reach, and after how many seconds it does. */
export type SpentBudget = { readonly budget: ByteBudget; readonly retryAfterSeconds: number };

/** Budgets of what callers store without payment, shared by all servers. */
export type ByteBudgets = {
  /** Takes bytes from every budget, or from none: answers the first, in the order given, that does not reach; else null. */
  take(budgets: readonly ByteBudget[], bytes: number): Promise<SpentBudget | null>;
};

const SECONDS_PER_DAY = 86_400;

/** Fills each budget up to now and holds its row; a proposed row is a full budget. */
const REFILL = `
  insert into ahs.rate_bucket as bucket (identity, tokens, granted, updated_at)
  select 'bytes:' || owner, bytes, 0, $3::timestamptz
  from unnest($1::text[], $2::float8[]) as asked (owner, bytes)
  order by owner
  on conflict (identity) do update set
    tokens = least(excluded.tokens, bucket.tokens + excluded.tokens / ${SECONDS_PER_DAY}
      * greatest(0, extract(epoch from excluded.updated_at - bucket.updated_at)::float8)),
    updated_at = greatest(bucket.updated_at, excluded.updated_at)
  returning identity, tokens`;

const SPEND = `
  update ahs.rate_bucket set tokens = tokens - $2
  where identity = any(select 'bytes:' || owner from unnest($1::text[]) as spent (owner))`;

/** Token buckets of bytes that fill within a day, in the table of the buckets of calls: one idle for a day is full. */
export function createByteBudgets({
  db,
  now,
}: {
  readonly db: Database;
  readonly now: () => Date;
}): ByteBudgets {
  return {
    async take(budgets, bytes) {
      const owners = budgets.map(({ owner }) => owner);
      const sizes = budgets.map((budget) => budget.bytes);
      const client = await db.$client.connect();
      let failure: Error | undefined;
      try {
        await client.query({ ...QUERY_DEADLINE, text: "begin" });
        const { rows } = await client.query<{ readonly identity: string; readonly tokens: number }>({
          ...QUERY_DEADLINE,
          text: REFILL,
          values: [owners, sizes, now()],
        });
        const left = new Map(rows.map(({ identity, tokens }) => [identity, tokens]));
        const spent = budgets.find(({ owner }) => (left.get(`bytes:${owner}`) ?? 0) < bytes);
        if (spent === undefined)
          await client.query({ ...QUERY_DEADLINE, text: SPEND, values: [owners, bytes] });
        await client.query({ ...QUERY_DEADLINE, text: "commit" });
        if (spent === undefined) return null;
        const missing = bytes - (left.get(`bytes:${spent.owner}`) ?? 0);
        return { budget: spent, retryAfterSeconds: Math.ceil((missing * SECONDS_PER_DAY) / spent.bytes) };
      } catch (error) {
        failure = error instanceof Error ? error : new Error("a budget was not taken from", { cause: error });
        throw failure;
      } finally {
        // A connection whose transaction failed is closed, which rolls it back.
        client.release(failure);
      }
    },
  };
}
