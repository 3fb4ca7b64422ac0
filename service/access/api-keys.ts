import { hash } from "node:crypto";
import { and, desc, eq, getTableColumns, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { type Database, QUERY_DEADLINE, underDeadline } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { apiKey, type KeyScope, keyCredit } from "../db/tables/api-key.ts";

export const KEY_SCOPES = ["review"] as const satisfies readonly KeyScope[];

const { keyHash: _secret, ...KEY } = getTableColumns(apiKey);

/** A stored key, without the hash of its secret. One unit is 0.001 USD. */
export type ApiKey = Omit<typeof apiKey.$inferSelect, "keyHash">;

/** The same columns for statements that the query builder cannot express; int8 as a number. */
const KEY_COLUMNS = `id, name, partner, key_prefix as "keyPrefix", balance_units::float8 as "balanceUnits", scopes,
  rate_per_minute as "ratePerMinute", expires_at as "expiresAt", revoked_at as "revokedAt", bought_by as "boughtBy",
  created_at as "createdAt"`;

/** 32 random bytes, and the ids of rows. */
export type KeyEntropy = { randomBytes(size: number): Uint8Array; randomUuid(): string };

/** Default calls per minute of a key: enough for one busy agent. */
export const DEFAULT_RATE_PER_MINUTE = 600;
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
      ...{ name, partner, keyHash, keyPrefix, balanceUnits, expiresAt },
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
  return loadInBatches(
    async (hashes: readonly string[]) => {
      const { rows } = await db.$client.query<ApiKey & { readonly keyHash: string }>({
        ...QUERY_DEADLINE,
        // Prepared by name: every request with a key runs it.
        name: "api_key_find",
        text: `select key_hash as "keyHash", ${KEY_COLUMNS} from ahs.api_key where key_hash = any($1)`,
        values: [hashes],
      });
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

const BUY = `
  with bought as (
    insert into ahs.api_key
      (id, name, partner, key_hash, key_prefix, balance_units, scopes, rate_per_minute, bought_by, created_at)
    values ($1, $2, false, $3, $4, $5::bigint, '{}', $6, $7, $8::timestamptz)
    on conflict (id) do update set key_hash = excluded.key_hash, key_prefix = excluded.key_prefix
    returning *
  ), credited as (
    insert into ahs.key_credit (id, key_id, units, created_at) select id, id, $5::bigint, $8::timestamptz from bought
    on conflict (id) do nothing
  )
  select ${KEY_COLUMNS} from bought`;

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
  const { rows } = await db.$client.query<ApiKey>({
    ...QUERY_DEADLINE,
    text: BUY,
    values: [creditId, name, keyHash, keyPrefix, units, ratePerMinute, boughtBy, now],
  });
  return { key: only(rows), secret };
}

const TOP_UP = `
  with live as (
    select id from ahs.api_key
    where id = $2 and balance_units is not null and revoked_at is null and (expires_at is null or expires_at > $4)
    for update
  ), credited as (
    insert into ahs.key_credit (id, key_id, units, created_at) select $1, id, $3::bigint, $4::timestamptz from live
    on conflict (id) do nothing
    returning key_id, units
  )
  update ahs.api_key set balance_units = balance_units + credited.units
  from credited where api_key.id = credited.key_id
  returning ${KEY_COLUMNS}`;

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
  const { creditId, keyId, units, now } = topUp;
  const { rows } = await db.$client.query<ApiKey>({
    ...QUERY_DEADLINE,
    text: TOP_UP,
    values: [creditId, keyId, units, now],
  });
  if (rows[0] !== undefined) return rows[0];
  const [credit] = await underDeadline(db)
    .select({ keyId: keyCredit.keyId })
    .from(keyCredit)
    .where(eq(keyCredit.id, creditId));
  return credit === undefined ? null : readApiKey(db, credit.keyId);
}

/** Name of a key that holds returned credits. */
const RETURNED = "returned price";
/** No key has this hash. */
const NO_HASH = "none:";

/**
 * Gives the price of a settled payment back as the credits of a key that its payer owns, once. The key has no secret until the wallet
 * rotates it.
 */
export async function creditPayer(
  tx: NodePgDatabase,
  { paymentId, units, now }: { readonly paymentId: string; readonly units: number; readonly now: Date },
): Promise<void> {
  await tx.execute(sql`
    with paid as (
      select id, payer from ahs.payment where id = ${paymentId} and state in ('settled', 'answered')
    ), credited as (
      insert into ahs.api_key
        (id, name, partner, key_hash, key_prefix, balance_units, scopes, rate_per_minute, bought_by, created_at)
      select id, ${RETURNED}, false, ${NO_HASH} || id, '', ${units}::bigint, '{}', ${DEFAULT_RATE_PER_MINUTE}::integer,
        payer, ${now}::timestamptz
      from paid on conflict (id) do nothing returning id
    )
    insert into ahs.key_credit (id, key_id, units, created_at)
    select id, id, ${units}::bigint, ${now}::timestamptz from credited`);
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
  const { rows } = await db.$client.query<Spending>({
    ...QUERY_DEADLINE,
    text: `select endpoint, count(*)::float8 as calls, sum(units)::float8 as units from ahs.key_debit
           where key_id = $1 and state = 'kept' and created_at >= $2
           group by endpoint order by sum(units) desc, endpoint`,
    values: [keyId, since],
  });
  return rows;
}

/** Captured charges of one UTC day, YYYY-MM-DD. */
export type DaySpending = { readonly day: string; readonly calls: number; readonly units: number };

/** Captured charges of a key since a time by UTC day, oldest first; days without a charge are left out. */
export async function readDaySpending(
  db: Database,
  keyId: string,
  since: Date,
): Promise<readonly DaySpending[]> {
  const { rows } = await db.$client.query<DaySpending>({
    ...QUERY_DEADLINE,
    text: `select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::float8 as calls,
             sum(units)::float8 as units
           from ahs.key_debit where key_id = $1 and state = 'kept' and created_at >= $2 group by 1 order by 1`,
    values: [keyId, since],
  });
  return rows;
}

export type KeyStanding = NonNullable<Awaited<ReturnType<typeof readKeyStanding>>>;

/**
 * Facts about a key for its holder, besides the balance: its scopes, the time of its last captured charge, and its active
 * subscriptions, next expiry first, at most `limit`. Null if the key does not exist.
 */
export async function readKeyStanding(
  db: Database,
  {
    chainId,
    keyId,
    now,
    limit,
  }: { readonly chainId: number; readonly keyId: string; readonly now: Date; readonly limit: number },
) {
  const { rows } = await db.$client.query<{
    readonly scopes: readonly KeyScope[];
    readonly lastChargedAt: Date | null;
    readonly subscriptions: readonly {
      readonly id: string;
      readonly wallet: Address;
      readonly endsMs: number;
    }[];
  }>({
    ...QUERY_DEADLINE,
    text: `select k.scopes,
             (select max(d.created_at) from ahs.key_debit d where d.key_id = k.id and d.state = 'kept') as "lastChargedAt",
             coalesce((
               select json_agg(json_build_object('id', s.id, 'wallet', s.wallet,
                 'endsMs', floor(extract(epoch from s.expires_at) * 1000)::float8) order by s.expires_at, s.id)
               from (
                 select id, wallet, expires_at from ahs.alert_subscription
                 where owner = 'key:' || k.id::text and chain_id = $2 and ended_at is null and expires_at > $3
                 order by expires_at, id limit $4
               ) s), '[]'::json) as subscriptions
           from ahs.api_key k where k.id = $1`,
    values: [keyId, chainId, now, limit],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const subscriptions = row.subscriptions.map(({ endsMs, ...one }) => ({
    ...one,
    expiresAt: new Date(endsMs),
  }));
  return { ...row, subscriptions };
}
