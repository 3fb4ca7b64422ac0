import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { AlertThresholds } from "./tables/alerts.ts";

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

/** Running subscriptions of every chain that end by a moment, the soonest first, with the dedupe keys of notices that they got. */
export async function readExpiring(
  db: NodePgDatabase,
  of: { readonly now: Date; readonly until: Date },
): Promise<readonly (ExpiringSubscription & { readonly told: readonly string[] })[]> {
  const told = sql`, array(
    select w.dedupe_key from ahs.webhook_event w where w.subscription_id = s.id and w.type = 'subscription.expiring') as told`;
  const { rows } = await db.execute<ExpiringRow & { readonly told: readonly string[] }>(
    sql`${expiring(of, told)} order by s.expires_at, s.id`,
  );
  return rows.map((row) => ({ ...expiringOf(row), told: row.told }));
}

/** Those of some subscriptions that run still and end by a moment; writers of them wait until the transaction ends. */
export async function takeExpiring(
  tx: NodePgDatabase,
  of: { readonly now: Date; readonly until: Date; readonly ids: readonly string[] },
): Promise<readonly ExpiringSubscription[]> {
  const { rows } = await tx.execute<ExpiringRow>(sql`
    ${expiring(of, sql``)} and s.id = any(${sql.param(of.ids)}::uuid[]) order by s.wallet, s.id for no key update of s`);
  return rows.map(expiringOf);
}

function expiring({ now, until }: { readonly now: Date; readonly until: Date }, more: SQL): SQL {
  return sql`
    select s.id, s.endpoint_id, s.wallet, s.events, s.thresholds, e.disabled_at is not null as disabled,
      s.chain_id, s.expires_at::text as expires_at${more}
    from ahs.alert_subscription s join ahs.webhook_endpoint e on e.id = s.endpoint_id
    where s.ended_at is null and s.expires_at > ${now} and s.expires_at <= ${until}`;
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

function expiringOf(row: ExpiringRow): ExpiringSubscription {
  return { ...liveOf(row), chainId: row.chain_id, expiresAt: new Date(row.expires_at) };
}
