import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";
import { type ApiKey, type ApiKeyRow, apiKeyOf, type KeyEntropy, newSecret, readApiKey } from "./api-keys.ts";

/** A key with its secret, which exists nowhere else afterwards. */
export type KeyWithSecret = { readonly key: ApiKey; readonly secret: string };

type Purchase = {
  /** Follows from the payment, so that it buys one key however often it is worked for; the id of the key. */
  readonly creditId: string;
  readonly name: string;
  /** Lower-case. */
  readonly boughtBy: Address;
  readonly units: number;
  readonly ratePerMinute: number;
  readonly now: Date;
};

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
  select * from bought`;

/**
 * Stores the key that a payment bought. Asked again for the same payment, because the first answer never left, it answers the
 * same key with its balance as it is and a secret of its own: the earlier one dies.
 */
export async function buyApiKey(
  db: Database,
  purchase: Purchase,
  entropy: Pick<KeyEntropy, "randomBytes">,
): Promise<KeyWithSecret> {
  const { secret, keyHash, keyPrefix } = newSecret(entropy);
  const { creditId, name, units, ratePerMinute, boughtBy, now } = purchase;
  const { rows } = await db.$client.query<ApiKeyRow>({
    ...QUERY_DEADLINE,
    text: BUY,
    values: [creditId, name, keyHash, keyPrefix, units, ratePerMinute, boughtBy, now],
  });
  const [row] = rows;
  if (row === undefined) throw new Error("the purchase of a key answered no row");
  return { key: apiKeyOf(row), secret };
}

type TopUp = {
  /** Follows from the payment, so that it is credited once. */
  readonly creditId: string;
  readonly keyId: string;
  readonly units: number;
  readonly now: Date;
};

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
  returning api_key.*`;

/**
 * Credits a payment to a key, once; a payment that was credited before answers the key that has it. Null, and nothing
 * credited, when the key is no longer live, or counts no balance.
 */
export async function topUpApiKey(db: Database, topUp: TopUp): Promise<ApiKey | null> {
  const { creditId, keyId, units, now } = topUp;
  const { rows } = await db.$client.query<ApiKeyRow>({
    ...QUERY_DEADLINE,
    text: TOP_UP,
    values: [creditId, keyId, units, now],
  });
  if (rows[0] !== undefined) return apiKeyOf(rows[0]);
  const credited = await db.$client.query<{ readonly key_id: string }>({
    ...QUERY_DEADLINE,
    text: "select key_id from ahs.key_credit where id = $1",
    values: [creditId],
  });
  const [credit] = credited.rows;
  return credit === undefined ? null : readApiKey(db, credit.key_id);
}

/** By what right a caller gives a key a new secret: as who holds the old one, or as the wallet that bought it. */
export type RotationRight =
  | { readonly kind: "holder"; readonly keyHash: string }
  | { readonly kind: "buyer"; readonly boughtBy: Address; readonly keyId: string };

/** The right of who runs the service, over every key. */
type OperatorRight = { readonly kind: "operator"; readonly keyId: string };

const LIVE = "revoked_at is null and (expires_at is null or expires_at > $3)";
const ROTATE = "update ahs.api_key set key_hash = $1, key_prefix = $2";

/** Gives a live key a new secret, at which the old one is dead, and keeps all else; null when nobody has that right any more. */
export async function rotateApiKey(
  db: Database,
  { right, now }: { readonly right: RotationRight | OperatorRight; readonly now: Date },
  entropy: Pick<KeyEntropy, "randomBytes">,
): Promise<KeyWithSecret | null> {
  const { secret, keyHash, keyPrefix } = newSecret(entropy);
  const [whose, named] = ownedBy(right);
  const { rows } = await db.$client.query<ApiKeyRow>({
    ...QUERY_DEADLINE,
    text: `${ROTATE} where ${whose} and ${LIVE} returning *`,
    values: [keyHash, keyPrefix, now, ...named],
  });
  return rows[0] === undefined ? null : { key: apiKeyOf(rows[0]), secret };
}

/** The condition on the key's row, with its values from $4 on. */
function ownedBy(
  right: RotationRight | OperatorRight,
): readonly [condition: string, values: readonly string[]] {
  switch (right.kind) {
    case "holder":
      return ["key_hash = $4", [right.keyHash]];
    case "buyer":
      return ["id = $4 and bought_by = $5", [right.keyId, right.boughtBy]];
    case "operator":
      return ["id = $4", [right.keyId]];
  }
}

/** Ids of the live keys that a wallet bought, newest first, at most `limit`. */
export async function keysBoughtBy(
  db: Database,
  { wallet, now, limit }: { readonly wallet: Address; readonly now: Date; readonly limit: number },
): Promise<readonly string[]> {
  const { rows } = await db.$client.query<{ readonly id: string }>({
    ...QUERY_DEADLINE,
    text: `select id from ahs.api_key
           where bought_by = $1 and revoked_at is null and (expires_at is null or expires_at > $2)
           order by created_at desc, id limit $3`,
    values: [wallet, now, limit],
  });
  return rows.map(({ id }) => id);
}

/** What a metered key paid for one endpoint. */
export type Spending = { readonly endpoint: string; readonly calls: number; readonly units: number };

/** What a key paid since a time, by endpoint, the dearest first. */
export async function readSpending(db: Database, keyId: string, since: Date): Promise<readonly Spending[]> {
  const { rows } = await db.$client.query<{
    readonly endpoint: string;
    readonly calls: string;
    readonly units: string;
  }>({
    ...QUERY_DEADLINE,
    text: `select endpoint, count(*) as calls, sum(units)::bigint as units from ahs.key_debit
           where key_id = $1 and state = 'kept' and created_at >= $2
           group by endpoint order by sum(units) desc, endpoint`,
    values: [keyId, since],
  });
  return rows.map(({ endpoint, calls, units }) => ({ endpoint, calls: Number(calls), units: Number(units) }));
}
