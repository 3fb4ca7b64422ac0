import { hash } from "node:crypto";
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  isNull,
  max,
  or,
  type SQL,
  sql,
  sum,
} from "drizzle-orm";
import type { Address } from "viem";
import { type Database, rowsInTime, underDeadline } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { toQuery } from "../db/statement.ts";
import { alertSubscription } from "../db/tables/alerts.ts";
import { apiKey, type KeyScope, keyCredit, keyDebit } from "../db/tables/api-key.ts";
import { buyKey, DEFAULT_RATE_PER_MINUTE, topUpKey } from "./api-keys.sql.ts";

export const KEY_SCOPES = ["review"] as const satisfies readonly KeyScope[];

const { keyHash: _secret, ...KEY } = getTableColumns(apiKey);

/** A stored key, without the hash of its secret. One unit is 0.001 USD. */
export type ApiKey = Omit<typeof apiKey.$inferSelect, "keyHash">;

/** The same columns for statements that the query builder cannot express; int8 as a number. */
/** 32 random bytes, and the ids of rows. */
export type KeyEntropy = { randomBytes(size: number): Uint8Array; randomUuid(): string };

const SHOWN_CHARACTERS = 12;

/** Stores a new key. The returned secret exists nowhere else. */
export async function createApiKey(
  db: Database,
  wanted: {
    readonly name: string;
    readonly partner: boolean;
    readonly balanceUnits: number | null;
    readonly expiresAt: Date | null;
    /** Calls per minute; default DEFAULT_RATE_PER_MINUTE. */
    readonly ratePerMinute?: number;
    /** Default: none. */
    readonly scopes?: readonly KeyScope[];
  },
  entropy: KeyEntropy,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const { secret, keyHash, keyPrefix } = newSecret(entropy);
  const { name, partner, balanceUnits, expiresAt } = wanted;
  const rows = await db
    .insert(apiKey)
    .values({
      id: entropy.randomUuid(),
      name,
      partner,
      keyHash,
      keyPrefix,
      balanceUnits,
      expiresAt,
      ratePerMinute: wanted.ratePerMinute ?? DEFAULT_RATE_PER_MINUTE,
      scopes: wanted.scopes ?? [],
    })
    .returning(KEY);
  return { key: only(rows), secret };
}

/** A fresh secret and its stored forms. */
function newSecret(entropy: Pick<KeyEntropy, "randomBytes">) {
  const secret = `ahs_${Buffer.from(entropy.randomBytes(32)).toString("base64url")}`;
  return { secret, keyHash: hashApiKey(secret), keyPrefix: secret.slice(0, SHOWN_CHARACTERS) };
}

/** Lower-case hex SHA-256 of the whole key; the form for storage and lookup. */
export function hashApiKey(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** Reads a key by id; null if it does not exist. */
export async function readApiKey(db: Database, id: string): Promise<ApiKey | null> {
  const [key] = await underDeadline(db).select(KEY).from(apiKey).where(eq(apiKey.id, id));
  return key ?? null;
}

/** All keys, newest first. */
export async function listApiKeys(db: Database): Promise<readonly ApiKey[]> {
  return db.select(KEY).from(apiKey).orderBy(desc(apiKey.createdAt), apiKey.id);
}

/** Revokes a key at `now` and returns it. An already revoked key keeps its time. Returns null if it does not exist. */
export async function revokeApiKey(db: Database, id: string, now: Date): Promise<ApiKey | null> {
  const [key] = await db
    .update(apiKey)
    .set({ revokedAt: sql`coalesce(${apiKey.revokedAt}, ${now})` })
    .where(eq(apiKey.id, id))
    .returning(KEY);
  return key ?? null;
}

/** Finds keys by hash; concurrent lookups share one statement. */
export function apiKeyFinder(db: Database): (keyHash: string) => Promise<ApiKey | null> {
  // Prepared by name: every request with a key runs it.
  const find = underDeadline(db)
    .select({ keyHash: apiKey.keyHash, ...KEY })
    .from(apiKey)
    .where(sql`${apiKey.keyHash} = any(${sql.placeholder("hashes")})`)
    .prepare("api_key_find");
  return loadInBatches(
    async (hashes: readonly string[]) => {
      const rows = await find.execute({ hashes });
      const found = new Map(rows.map(({ keyHash, ...key }) => [keyHash, key]));
      return hashes.map((keyHash) => found.get(keyHash) ?? null);
    },
    { maxSize: 500, maxRunning: 2 },
  );
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("the statement answered no row");
  return row;
}

/** A key with its secret, which exists nowhere else. */
export type KeyWithSecret = { readonly key: ApiKey; readonly secret: string };

/**
 * Stores the key that a payment bought. A repeat for the same payment returns the same key with a new secret; the old
 * secret stops working.
 */
export async function buyApiKey(
  db: Database,
  purchase: {
    /** The id of the key. It is derived from the payment, so that one payment buys one key. */
    readonly creditId: string;
    readonly name: string;
    /** Lower-case. */
    readonly boughtBy: Address;
    readonly units: number;
    readonly ratePerMinute: number;
    readonly now: Date;
  },
  entropy: Pick<KeyEntropy, "randomBytes">,
): Promise<KeyWithSecret> {
  const { secret, keyHash, keyPrefix } = newSecret(entropy);
  const { creditId, name, units, ratePerMinute, boughtBy, now } = purchase;
  const bought = buyKey({ creditId, name, keyHash, keyPrefix, units, ratePerMinute, boughtBy, now });
  const rows = await rowsInTime<ApiKey>(db, toQuery(bought));
  return { key: only(rows), secret };
}

/**
 * Credits a payment to a key once. A repeat returns the credited key. Returns null and credits nothing if the key is
 * not live or has no balance.
 */
export async function topUpApiKey(
  db: Database,
  topUp: {
    /** Derived from the payment, so that it is credited once. */
    readonly creditId: string;
    readonly keyId: string;
    readonly units: number;
    readonly now: Date;
  },
): Promise<ApiKey | null> {
  const [key] = await rowsInTime<ApiKey>(db, toQuery(topUpKey(topUp)));
  if (key !== undefined) return key;
  const [credit] = await underDeadline(db)
    .select({ keyId: keyCredit.keyId })
    .from(keyCredit)
    .where(eq(keyCredit.id, topUp.creditId));
  return credit === undefined ? null : readApiKey(db, credit.keyId);
}

/** The right to rotate a key: as holder of its secret, or as the wallet that bought it. */
export type RotationRight =
  | { readonly kind: "holder"; readonly keyHash: string }
  | { readonly kind: "buyer"; readonly boughtBy: Address; readonly keyId: string };

/** The operator's right over every key. */
type OperatorRight = { readonly kind: "operator"; readonly keyId: string };

/** Replaces the secret of a live key; the old one stops working. Returns null if no live key matches the right. */
export async function rotateApiKey(
  db: Database,
  { right, now }: { readonly right: RotationRight | OperatorRight; readonly now: Date },
  entropy: Pick<KeyEntropy, "randomBytes">,
): Promise<KeyWithSecret | null> {
  const { secret, keyHash, keyPrefix } = newSecret(entropy);
  const [key] = await underDeadline(db)
    .update(apiKey)
    .set({ keyHash, keyPrefix })
    .where(and(isOwnedBy(right), isLive(now)))
    .returning(KEY);
  return key === undefined ? null : { key, secret };
}

function isOwnedBy(right: RotationRight | OperatorRight): SQL | undefined {
  switch (right.kind) {
    case "holder":
      return eq(apiKey.keyHash, right.keyHash);
    case "buyer":
      return and(eq(apiKey.id, right.keyId), eq(apiKey.boughtBy, right.boughtBy));
    case "operator":
      return eq(apiKey.id, right.keyId);
  }
}

function isLive(now: Date): SQL | undefined {
  return and(isNull(apiKey.revokedAt), or(isNull(apiKey.expiresAt), gt(apiKey.expiresAt, now)));
}

/** Ids of the live keys bought by a wallet, newest first. */
export async function keysBoughtBy(
  db: Database,
  { wallet, now, limit }: { readonly wallet: Address; readonly now: Date; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await underDeadline(db)
    .select({ id: apiKey.id })
    .from(apiKey)
    .where(and(eq(apiKey.boughtBy, wallet), isLive(now)))
    .orderBy(desc(apiKey.createdAt), apiKey.id)
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Captured charges of a metered key for one endpoint. */
export type Spending = { readonly endpoint: string; readonly calls: number; readonly units: number };

/** Captured charges of a key since a time, by endpoint, highest sum first. */
export async function readSpending(db: Database, keyId: string, since: Date): Promise<readonly Spending[]> {
  const { endpoint, units } = keyDebit;
  return underDeadline(db)
    .select({ endpoint, calls: count(), units: sql<number>`sum(${units})::float8` })
    .from(keyDebit)
    .where(isCharged(keyId, since))
    .groupBy(endpoint)
    .orderBy(desc(sum(units)), endpoint);
}

/** Captured charges of one UTC day, YYYY-MM-DD. */
export type DaySpending = { readonly day: string; readonly calls: number; readonly units: number };

/** Captured charges of a key since a time by UTC day, oldest first; days without a charge are left out. */
export async function readDaySpending(
  db: Database,
  keyId: string,
  since: Date,
): Promise<readonly DaySpending[]> {
  const day = sql<string>`to_char(${keyDebit.createdAt} at time zone 'UTC', 'YYYY-MM-DD')`;
  return underDeadline(db)
    .select({ day, calls: count(), units: sql<number>`sum(${keyDebit.units})::float8` })
    .from(keyDebit)
    .where(isCharged(keyId, since))
    .groupBy(sql`1`)
    .orderBy(sql`1`);
}

function isCharged(keyId: string, since: Date): SQL | undefined {
  return and(eq(keyDebit.keyId, keyId), eq(keyDebit.state, "kept"), gte(keyDebit.createdAt, since));
}

export type KeySummary = NonNullable<Awaited<ReturnType<typeof readKeySummary>>>;

/**
 * Facts about a key for its holder, besides the balance: its scopes, the time of its last captured charge, and its active
 * subscriptions, next expiry first, at most `limit`. Null if the key does not exist.
 */
export async function readKeySummary(
  db: Database,
  {
    chainId,
    keyId,
    now,
    limit,
  }: { readonly chainId: number; readonly keyId: string; readonly now: Date; readonly limit: number },
) {
  const reads = underDeadline(db);
  const { id, wallet, expiresAt } = alertSubscription;
  const [key] = await reads.select({ scopes: apiKey.scopes }).from(apiKey).where(eq(apiKey.id, keyId));
  if (key === undefined) return null;
  const [charge] = await reads
    .select({ lastChargedAt: max(keyDebit.createdAt) })
    .from(keyDebit)
    .where(and(eq(keyDebit.keyId, keyId), eq(keyDebit.state, "kept")));
  const subscriptions = await reads
    .select({ id, wallet, expiresAt })
    .from(alertSubscription)
    .where(
      and(
        eq(alertSubscription.owner, `key:${keyId}`),
        eq(alertSubscription.chainId, chainId),
        isNull(alertSubscription.endedAt),
        gt(expiresAt, now),
      ),
    )
    .orderBy(expiresAt, id)
    .limit(limit);
  return { ...key, lastChargedAt: charge?.lastChargedAt ?? null, subscriptions };
}
