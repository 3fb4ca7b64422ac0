import { hash } from "node:crypto";
import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { loadInBatches } from "../db/load-in-batches.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";

/** What keys may be allowed beyond calls; review: to decide on held verdicts. */
export const KEY_SCOPES = ["review"] as const;

export type KeyScope = (typeof KEY_SCOPES)[number];

/** A stored key; the secret itself is never stored. One unit is 0.001 USD. */
export type ApiKey = {
  readonly id: string;
  readonly name: string;
  readonly partner: boolean;
  readonly keyPrefix: string;
  /** Null is unlimited. */
  readonly balanceUnits: number | null;
  readonly ratePerMinute: number;
  /** What it may do beyond every key. */
  readonly scopes: readonly KeyScope[];
  /** The wallet that paid for it, lower-case; null where the operator made it. */
  readonly boughtBy: Address | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  readonly createdAt: Date;
};

export type NewApiKey = {
  readonly name: string;
  readonly partner: boolean;
  readonly balanceUnits: number | null;
  readonly expiresAt: Date | null;
  /** Calls per minute; DEFAULT_RATE_PER_MINUTE where nobody says. */
  readonly ratePerMinute?: number;
  /** None unless given. */
  readonly scopes?: readonly KeyScope[];
};

/** 32 random bytes, and the ids of rows. */
export type KeyEntropy = { randomBytes(size: number): Uint8Array; randomUuid(): string };

/** Calls per minute of a key that nobody gave another rate: enough for one busy agent. */
export const DEFAULT_RATE_PER_MINUTE = 600;
const SHOWN_CHARACTERS = 12;

/** Stores a new key and answers the secret, which exists nowhere else afterwards. */
export async function createApiKey(
  db: Database,
  wanted: NewApiKey,
  entropy: KeyEntropy,
): Promise<{ readonly key: ApiKey; readonly secret: string }> {
  const { secret, keyHash, keyPrefix } = newSecret(entropy);
  const { rows } = await db.$client.query<ApiKeyRow>(
    `insert into ahs.api_key
       (id, name, partner, key_hash, key_prefix, balance_units, scopes, rate_per_minute, expires_at)
     values ($1, $2, $3, $4, $5, $6, $9, $7, $8) returning *`,
    [
      entropy.randomUuid(),
      wanted.name,
      wanted.partner,
      keyHash,
      keyPrefix,
      wanted.balanceUnits,
      wanted.ratePerMinute ?? DEFAULT_RATE_PER_MINUTE,
      wanted.expiresAt,
      wanted.scopes ?? [],
    ],
  );
  return { key: apiKeyOf(only(rows)), secret };
}

/** A fresh secret with what is stored of it. */
export function newSecret(entropy: Pick<KeyEntropy, "randomBytes">) {
  const secret = `ahs_${Buffer.from(entropy.randomBytes(32)).toString("base64url")}`;
  return { secret, keyHash: hashApiKey(secret), keyPrefix: secret.slice(0, SHOWN_CHARACTERS) };
}

/** The form in which a key is stored and looked up: lower-case hex SHA-256 of the whole key. */
export function hashApiKey(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** The key of an id; null when there is none. */
export async function readApiKey(db: Database, id: string): Promise<ApiKey | null> {
  const { rows } = await db.$client.query<ApiKeyRow>({
    ...QUERY_DEADLINE,
    text: "select * from ahs.api_key where id = $1",
    values: [id],
  });
  return rows[0] === undefined ? null : apiKeyOf(rows[0]);
}

/** All keys, newest first. */
export async function listApiKeys(db: Database): Promise<readonly ApiKey[]> {
  const { rows } = await db.$client.query<ApiKeyRow>(
    "select * from ahs.api_key order by created_at desc, id",
  );
  return rows.map(apiKeyOf);
}

/** Revokes a key from `now` on and answers it; one revoked before keeps its time; null when there is none. */
export async function revokeApiKey(db: Database, id: string, now: Date): Promise<ApiKey | null> {
  const { rows } = await db.$client.query<ApiKeyRow>(
    "update ahs.api_key set revoked_at = coalesce(revoked_at, $2) where id = $1 returning *",
    [id, now],
  );
  return rows[0] === undefined ? null : apiKeyOf(rows[0]);
}

/** Finds keys by their hash, many waiting requests with one statement. */
export function apiKeyFinder(db: Database): (keyHash: string) => Promise<ApiKey | null> {
  return loadInBatches(
    async (hashes: readonly string[]) => {
      const { rows } = await db.$client.query<ApiKeyRow>({
        ...QUERY_DEADLINE,
        name: "api_key_find",
        text: "select * from ahs.api_key where key_hash = any($1)",
        values: [hashes],
      });
      const found = new Map(rows.map((row) => [row.key_hash, apiKeyOf(row)]));
      return hashes.map((keyHash) => found.get(keyHash) ?? null);
    },
    { maxSize: 500, maxRunning: 2 },
  );
}

/** As node-postgres reads tables/api-key.ts; int8 arrives as text. */
export type ApiKeyRow = {
  readonly id: string;
  readonly name: string;
  readonly partner: boolean;
  readonly key_hash: string;
  readonly key_prefix: string;
  readonly balance_units: string | null;
  readonly rate_per_minute: number;
  readonly scopes: readonly KeyScope[];
  readonly bought_by: Address | null;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
  readonly created_at: Date;
};

/** A key as node-postgres read it. */
export function apiKeyOf(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    partner: row.partner,
    keyPrefix: row.key_prefix,
    balanceUnits: row.balance_units === null ? null : Number(row.balance_units),
    ratePerMinute: row.rate_per_minute,
    scopes: row.scopes,
    boughtBy: row.bought_by,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    createdAt: row.created_at,
  };
}

function only<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error("the statement answered no row");
  return row;
}
