import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";

// The rows "unpaid: POST /keys" of bench/results.md measure their requests; the builder cannot insert into some columns from a CTE.

/** Default calls per minute of a key: enough for one busy agent. */
export const DEFAULT_RATE_PER_MINUTE = 600;

const KEY_COLUMNS = sql`id, name, partner, key_prefix as "keyPrefix", balance_units::float8 as "balanceUnits", scopes,
  rate_per_minute as "ratePerMinute", expires_at as "expiresAt", revoked_at as "revokedAt", bought_by as "boughtBy",
  created_at as "createdAt"`;

export function buyKey(key: {
  readonly creditId: string;
  readonly name: string;
  readonly keyHash: string;
  readonly keyPrefix: string;
  readonly units: number;
  readonly ratePerMinute: number;
  readonly boughtBy: Address;
  readonly now: Date;
}): SQL {
  return sql`
  with bought as (
    insert into ahs.api_key
      (id, name, partner, key_hash, key_prefix, balance_units, scopes, rate_per_minute, bought_by, created_at)
    values (${key.creditId}, ${key.name}, false, ${key.keyHash}, ${key.keyPrefix}, ${key.units}::bigint, '{}',
      ${key.ratePerMinute}, ${key.boughtBy}, ${key.now}::timestamptz)
    on conflict (id) do update set key_hash = excluded.key_hash, key_prefix = excluded.key_prefix
    returning *
  ), credited as (
    insert into ahs.key_credit (id, key_id, units, created_at)
    select id, id, ${key.units}::bigint, ${key.now}::timestamptz from bought
    on conflict (id) do nothing
  )
  select ${KEY_COLUMNS} from bought`;
}

export function topUpKey(topUp: {
  readonly creditId: string;
  readonly keyId: string;
  readonly units: number;
  readonly now: Date;
}): SQL {
  return sql`
  with live as (
    select id from ahs.api_key
    where id = ${topUp.keyId} and balance_units is not null and revoked_at is null
      and (expires_at is null or expires_at > ${topUp.now})
    for update
  ), credited as (
    insert into ahs.key_credit (id, key_id, units, created_at)
    select ${topUp.creditId}::uuid, id, ${topUp.units}::bigint, ${topUp.now}::timestamptz from live
    on conflict (id) do nothing
    returning key_id, units
  )
  update ahs.api_key set balance_units = balance_units + credited.units
  from credited where api_key.id = credited.key_id
  returning ${KEY_COLUMNS}`;
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
