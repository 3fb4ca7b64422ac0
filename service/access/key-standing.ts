import type { Address } from "viem";
import type { Database } from "../db/database.ts";
import { QUERY_DEADLINE } from "../db/query-deadline.ts";
import type { KeyScope } from "./api-keys.ts";

/** What the holder of a key may know of it beside its balance. */
export type KeyStanding = {
  /** What it may do beyond every key. */
  readonly scopes: readonly KeyScope[];
  /** When it last paid for an answer; null where it never did, and for one without a limit. */
  readonly lastChargedAt: Date | null;
  /** Subscriptions that it owns and that run, those that end first; at most `limit`. */
  readonly subscriptions: readonly {
    readonly id: string;
    /** Lower-case. */
    readonly wallet: Address;
    readonly expiresAt: Date;
  }[];
};

type Row = {
  readonly scopes: readonly KeyScope[];
  readonly last_charged_at: Date | null;
  readonly subscriptions: readonly {
    readonly id: string;
    readonly wallet: Address;
    readonly ends_ms: number;
  }[];
};

/** How a key stands; null where there is none of this id. */
export async function readKeyStanding(
  db: Database,
  {
    chainId,
    keyId,
    now,
    limit,
  }: {
    readonly chainId: number;
    readonly keyId: string;
    readonly now: Date;
    readonly limit: number;
  },
): Promise<KeyStanding | null> {
  const { rows } = await db.$client.query<Row>({
    ...QUERY_DEADLINE,
    text: `select k.scopes,
             (select max(d.created_at) from ahs.key_debit d where d.key_id = k.id and d.state = 'kept') as last_charged_at,
             coalesce((
               select json_agg(json_build_object('id', s.id, 'wallet', s.wallet,
                 'ends_ms', floor(extract(epoch from s.expires_at) * 1000)::float8) order by s.expires_at, s.id)
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
  return {
    scopes: row.scopes,
    lastChargedAt: row.last_charged_at,
    subscriptions: row.subscriptions.map(({ id, wallet, ends_ms }) => ({
      id,
      wallet,
      expiresAt: new Date(ends_ms),
    })),
  };
}
