import { sql } from "drizzle-orm";
import { type Database, QUERY_DEADLINE, rowsInTime } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { rateBucket } from "../db/tables/payment.ts";
import { type AnswerHeaders, type CallerRequest, type Owner, ownerText } from "./access.ts";
import type { KeyAccess } from "./api-key-access.ts";
import { type CallSource, clientAddress, type TrustedProxies } from "./client-address.ts";
import { Problem } from "./problems.ts";
import {
  BYTES,
  refillBudgets,
  SECONDS_PER_DAY,
  spendBudgets,
  takeTokens,
  WINDOW_SECONDS,
} from "./rate-limits.sql.ts";

export type CallLimiter = ReturnType<typeof createCallLimiter>;
export type CallBuckets = Pick<ReturnType<typeof createRateBuckets>, "take">;

/** Limits callers by their buckets. */
export function createCallLimiter(buckets: CallBuckets) {
  return {
    /** Counts a call of an owner, or by the manage token of a subscription. Returns the rate headers; throws a 429. */
    async take(
      limited: Owner | { readonly kind: "subscription"; readonly id: string },
      perMinute: number,
    ): Promise<AnswerHeaders> {
      const identity = limited.kind === "subscription" ? `subscription:${limited.id}` : ownerText(limited);
      const { granted, tokens } = await buckets.take({ identity, perMinute });
      const state = { policy: limited.kind, perMinute, tokens };
      if (!granted) throw rateLimited(state);
      return rateLimitHeaders(state);
    },
  };
}

/** Keys for free endpoints: every identification counts as a call. Throws a 429. */
export function countedKeys(keys: Pick<KeyAccess, "identify">, limiter: CallLimiter) {
  return {
    async identify(request: CallerRequest): ReturnType<KeyAccess["identify"]> {
      const caller = await keys.identify(request);
      if (caller !== null) await limiter.take({ kind: "key", keyId: caller.keyId }, caller.ratePerMinute);
      return caller;
    },
  };
}

/** State of a limit after one call. */
type LimitState = {
  /** Name of the limit in the headers; letters only. */
  readonly policy: "ip" | "key" | "wallet" | "subscription";
  readonly perMinute: number;
  /** Tokens left after the call. */
  readonly tokens: number;
};

/** RateLimit-Policy and RateLimit by draft-ietf-httpapi-ratelimit-headers-11; `t` is when the whole quota is back. */
function rateLimitHeaders({ policy, perMinute, tokens }: LimitState): AnswerHeaders {
  return {
    "ratelimit-policy": `"${policy}";q=${perMinute};w=${WINDOW_SECONDS}`,
    ratelimit: `"${policy}";r=${Math.floor(tokens)};t=${secondsToFull(tokens, perMinute)}`,
  };
}

const WHOSE: Readonly<Record<LimitState["policy"], string>> = {
  ip: "this address",
  key: "this API key",
  wallet: "this wallet",
  subscription: "this manage token",
};

/** The 429 of a call above a limit, with the seconds until the next allowed call. */
export function rateLimited(state: LimitState): Problem {
  const { policy, perMinute, tokens } = state;
  const seconds = secondsToNext(tokens, perMinute);
  return new Problem(
    "rate-limited",
    `More than ${perMinute} calls a minute came from ${WHOSE[policy]}; the next one is let through in ${seconds} s.`,
    {
      headers: { ...rateLimitHeaders(state), "retry-after": String(seconds) },
      violatedPolicies: [policy],
    },
  );
}

/** Tokens at a moment; an untouched bucket is full. */
export type TokenBucket = {
  readonly tokens: number;
  /** Milliseconds of the owner's clock. */
  readonly at: number;
};

const WINDOW_MS = WINDOW_SECONDS * 1_000;

/** Tokens at a moment. They return evenly up to `perMinute`; a clock that runs backwards adds none. */
export function refilled(bucket: TokenBucket | null, perMinute: number, nowMs: number): number {
  if (bucket === null) return perMinute;
  const elapsedMs = Math.max(0, nowMs - bucket.at);
  return Math.min(perMinute, bucket.tokens + (elapsedMs * perMinute) / WINDOW_MS);
}

/** Takes one token if there is one. Returns the new bucket, whose clock never runs backwards. */
export function takeToken(
  bucket: TokenBucket | null,
  perMinute: number,
  nowMs: number,
): { readonly granted: boolean; readonly bucket: TokenBucket } {
  const tokens = refilled(bucket, perMinute, nowMs);
  const at = Math.max(nowMs, bucket?.at ?? nowMs);
  return tokens >= 1
    ? { granted: true, bucket: { tokens: tokens - 1, at } }
    : { granted: false, bucket: { tokens, at } };
}

/** Whole seconds, at least 1, until the bucket has one token again. */
export function secondsToNext(tokens: number, perMinute: number): number {
  return Math.max(1, Math.ceil(((1 - tokens) * WINDOW_SECONDS) / perMinute));
}

/** Whole seconds after which a bucket is full again, if nothing is taken from it. */
export function secondsToFull(tokens: number, perMinute: number): number {
  return Math.max(0, Math.ceil(((perMinute - tokens) * WINDOW_SECONDS) / perMinute));
}

/** Counts a call against its address. Returns null if it is allowed, else the limit's state. */
export type IpLimit = (source: CallSource) => LimitState | null;

/**
 * Token buckets by address in this process, in two generations that turn once a window. An untouched bucket of the old
 * generation is full again, so that dropping it changes nothing. Calls without a socket are not counted.
 */
export function createIpLimit({
  perMinute,
  trustedProxies,
  monotonicMs,
  maxAddresses,
}: {
  readonly perMinute: number;
  readonly trustedProxies: TrustedProxies;
  readonly monotonicMs: () => number;
  /** Most addresses in memory. Above it the longest idle ones are evicted, even with buckets that are not full. */
  readonly maxAddresses: number;
}): IpLimit {
  let young = new Map<string, TokenBucket>();
  let old = new Map<string, TokenBucket>();
  let turnedAt = monotonicMs();

  function turnIfDue(now: number): void {
    const isDue = now - turnedAt >= WINDOW_MS;
    if (!isDue && young.size < maxAddresses / 2) return;
    old = isDue && now - turnedAt >= 2 * WINDOW_MS ? new Map() : young;
    young = new Map();
    turnedAt = now;
  }

  return (source) => {
    const address = clientAddress(source, trustedProxies);
    if (address === null) return null;
    const now = monotonicMs();
    turnIfDue(now);
    const known = young.get(address) ?? old.get(address) ?? null;
    const { granted, bucket } = takeToken(known, perMinute, now);
    young.set(address, bucket);
    return granted ? null : { policy: "ip", perMinute, tokens: bucket.tokens };
  };
}

const BATCH = { maxSize: 500, maxRunning: 2 };

/** Buckets of callers; concurrent calls share a statement. Throws if the database fails. */
export function createRateBuckets({ db, now }: { readonly db: Database; readonly now: () => Date }) {
  return {
    /** Takes a token if there is one; `tokens` are those left. The identity is key:ID or wallet:ADDRESS. */
    take: loadInBatches(
      async (calls: readonly { readonly identity: string; readonly perMinute: number }[]) => {
        const wanted = [...Map.groupBy(calls, ({ identity }) => identity)];
        const rows = await rowsInTime<{ identity: string; tokens: number; granted: number }>(
          db,
          takeTokens({
            identities: wanted.map(([identity]) => identity),
            sizes: wanted.map(([, group]) => Math.max(...group.map(({ perMinute }) => perMinute))),
            calls: wanted.map(([, group]) => group.length),
            at: now(),
          }),
        );
        const buckets = new Map(rows.map((row) => [row.identity, { ...row, place: 0 }]));
        // The granted tokens go to a caller's calls in order of arrival.
        return calls.map(({ identity }) => {
          const bucket = buckets.get(identity);
          if (bucket === undefined) throw new Error(`the bucket of ${identity} was not answered`);
          bucket.place += 1;
          const granted = bucket.place <= bucket.granted;
          return { granted, tokens: bucket.tokens + Math.max(0, bucket.granted - bucket.place) };
        });
      },
      BATCH,
    ),
  };
}

/** Deletes buckets of calls after two idle minutes, of bytes and spending after two idle days. Returns their number. */
export async function dropIdleBuckets(db: Database, now: Date): Promise<number> {
  const { identity, updatedAt } = rateBucket;
  const [minutes, days] = [`${2 * WINDOW_SECONDS} s`, `${2 * SECONDS_PER_DAY} s`];
  const isOfDays = sql`starts_with(${identity}, ${BYTES}) or starts_with(${identity}, ${SPENT})`;
  const idle = sql`case when ${isOfDays} then ${days}::interval else ${minutes}::interval end`;
  const { rowCount } = await db.delete(rateBucket).where(sql`${updatedAt} < ${now}::timestamptz - ${idle}`);
  return rowCount ?? Number.NaN;
}

/** Prefix of the sums of spending, see `createSpendingLimits`. */
export const SPENT = "spent:";

/** A budget of stored bytes: `bytes` at once, refilled over a day. */
export type ByteBudget = { readonly owner: string; readonly bytes: number };

export type ByteBudgets = ReturnType<typeof createByteBudgets>;

/** Token buckets of bytes that fill within a day, in the same table as the buckets of calls. A bucket idle for a day is full. */
export function createByteBudgets({ db, now }: { readonly db: Database; readonly now: () => Date }) {
  return {
    /**
     * Takes bytes from all budgets or from none. Returns the first exhausted budget in the given order, with the seconds until it
     * suffices, else null.
     */
    async take(
      budgets: readonly ByteBudget[],
      bytes: number,
    ): Promise<{ readonly budget: ByteBudget; readonly retryAfterSeconds: number } | null> {
      const owners = budgets.map(({ owner }) => owner);
      const sizes = budgets.map((budget) => budget.bytes);
      const client = await db.$client.connect();
      let failure: Error | undefined;
      try {
        await client.query({ ...QUERY_DEADLINE, text: "begin" });
        const { rows } = await client.query<{ readonly identity: string; readonly tokens: number }>({
          ...QUERY_DEADLINE,
          ...refillBudgets({ owners, sizes, at: now() }),
        });
        const left = new Map(rows.map(({ identity, tokens }) => [identity, tokens]));
        const spent = budgets.find(({ owner }) => (left.get(`${BYTES}${owner}`) ?? 0) < bytes);
        if (spent === undefined)
          await client.query({ ...QUERY_DEADLINE, ...spendBudgets({ owners, bytes }) });
        await client.query({ ...QUERY_DEADLINE, text: "commit" });
        if (spent === undefined) return null;
        const missing = bytes - (left.get(`${BYTES}${spent.owner}`) ?? 0);
        return { budget: spent, retryAfterSeconds: Math.ceil((missing * SECONDS_PER_DAY) / spent.bytes) };
      } catch (error) {
        failure = error instanceof Error ? error : new Error("a budget was not taken from", { cause: error });
        throw failure;
      } finally {
        // Closing the connection rolls back a failed transaction.
        client.release(failure);
      }
    },
  };
}
