import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { AlertThresholds } from "../db/tables/alerts.ts";

/** Someone to be told of what happens to a wallet. */
export type LiveSubscription = {
  readonly id: string;
  readonly endpointId: string;
  readonly wallet: Address;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  /** Its endpoint was given up: it is told when it is asked to be, by a replay. */
  readonly isDisabled: boolean;
};

/**
 * Subscriptions that run for any of these wallets, by wallet. Two writers of scores of a wallet that somebody subscribed to
 * take turns from here on, so that each sees what the other made current.
 */
export async function takeLiveSubscriptions(
  tx: NodePgDatabase,
  of: { readonly chainId: number; readonly wallets: readonly string[]; readonly at: Date },
): Promise<readonly LiveSubscription[]> {
  const { rows } = await tx.execute<LiveRow>(sql`
    select s.id, s.endpoint_id, s.wallet, s.events, s.thresholds, e.disabled_at is not null as disabled
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.chain_id = ${of.chainId} and s.wallet = any(${sql.param(of.wallets)})
      and s.expires_at > ${of.at} and s.ended_at is null
    order by s.wallet, s.id
    for no key update of s`);
  return rows.map(liveOf);
}

/** A subscription whose end is near. */
export type ExpiringSubscription = LiveSubscription & {
  readonly chainId: number;
  readonly expiresAt: Date;
};

/** From the moment after one until another, that one as well. */
type Span = { readonly after: Date; readonly until: Date };

/**
 * Ids of running subscriptions of every chain that end in a span, the soonest first, whose endpoint has no event yet by the
 * dedupe key that is made of the end in Unix milliseconds between two texts.
 */
export async function readUntold(
  db: NodePgDatabase,
  {
    after,
    until,
    key,
    limit,
    except = [],
  }: Span & {
    readonly key: readonly [string, string];
    readonly limit: number;
    readonly except?: readonly string[];
  },
): Promise<readonly string[]> {
  const endMs = sql`floor(extract(epoch from s.expires_at) * 1000)::bigint`;
  const { rows } = await db.execute<{ readonly id: string }>(sql`
    select s.id from ahs.alert_subscription s
    where s.ended_at is null and s.expires_at > ${after} and s.expires_at <= ${until}
      and s.id <> all(${sql.param(except)}::uuid[])
      and not exists (
        select from ahs.webhook_event w
        where w.endpoint_id = s.endpoint_id and w.dedupe_key = ${key[0]}::text || ${endMs} || ${key[1]}::text)
    order by s.expires_at, s.id limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Those of some subscriptions that run still and end in a span; writers of them wait until the transaction ends. */
export async function takeExpiring(
  tx: NodePgDatabase,
  { after, until, ids }: Span & { readonly ids: readonly string[] },
): Promise<readonly ExpiringSubscription[]> {
  const { rows } = await tx.execute<ExpiringRow>(sql`
    select s.id, s.endpoint_id, s.wallet, s.events, s.thresholds, e.disabled_at is not null as disabled,
      s.chain_id, s.expires_at::text as expires_at
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.id = any(${sql.param(ids)}::uuid[])
      and s.ended_at is null and s.expires_at > ${after} and s.expires_at <= ${until}
    order by s.wallet, s.id for no key update of s`);
  return rows.map((row) => ({
    ...liveOf(row),
    chainId: row.chain_id,
    expiresAt: new Date(row.expires_at),
  }));
}

type LiveRow = {
  readonly id: string;
  readonly endpoint_id: string;
  readonly wallet: Address;
  readonly events: readonly string[];
  readonly thresholds: AlertThresholds;
  readonly disabled: boolean;
};

type ExpiringRow = LiveRow & { readonly chain_id: number; readonly expires_at: string };

function liveOf({ id, endpoint_id, wallet, events, thresholds, disabled }: LiveRow): LiveSubscription {
  return { id, endpointId: endpoint_id, wallet, events, thresholds, isDisabled: disabled };
}
