import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import { insertRows } from "./insert-rows.ts";

/** What one range adds to what is known between an account and a counterparty. */
export type ContactIncrement = {
  readonly counterparty: Address;
  readonly account: Address;
  readonly calls: number;
  readonly sentMicroUsd: bigint;
  readonly firstBlock: number;
  readonly firstTime: number;
  readonly lastBlock: number;
  readonly lastTime: number;
};

/** A counterparty of followed wallets. */
export type KnownCounterparty = {
  /** Block of the first contact of a followed wallet with it. */
  readonly since: number;
  /** Strangers that are known to use it. */
  readonly strangers: ReadonlySet<Address>;
};

/** Adds calls and funds, each pair at most once among the increments; not idempotent, so it belongs into the transaction of their facts. */
export async function addContacts(
  tx: NodePgDatabase,
  chainId: number,
  increments: readonly ContactIncrement[],
): Promise<void> {
  await insertRows(tx, {
    table: "contact",
    rows: increments.map((increment) => ({ chainId, ...increment })),
    end: sql`on conflict (chain_id, counterparty, account) do update set
      calls = contact.calls + excluded.calls,
      sent_micro_usd = contact.sent_micro_usd + excluded.sent_micro_usd,
      first_block = least(contact.first_block, excluded.first_block),
      first_time = least(contact.first_time, excluded.first_time),
      last_block = greatest(contact.last_block, excluded.last_block),
      last_time = greatest(contact.last_time, excluded.last_time)`,
  });
}

/** Adds calls of strangers, each account at most once among the counts; not idempotent, as above. */
export async function addStrangerCalls(
  tx: NodePgDatabase,
  chainId: number,
  counts: ReadonlyMap<Address, number>,
): Promise<void> {
  await insertRows(tx, {
    table: "stranger",
    rows: [...counts].map(([account, calls]) => ({ chainId, account, calls })),
    end: sql`on conflict (chain_id, account) do update set calls = stranger.calls + excluded.calls`,
  });
}

/** Those of the accounts that followed wallets deal with, with the strangers that are known to use them. */
export async function readKnownCounterparties(
  tx: NodePgDatabase,
  chainId: number,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, KnownCounterparty>> {
  const asked = sql.param(accounts);
  const { rows } = await tx.execute<{ counterparty: Address; since: number }>(sql`
    select c.counterparty, min(c.first_block)::float8 as since
    from ahs.contact c join ahs.enrich_wallet w on w.chain_id = c.chain_id and w.wallet = c.account
    where c.chain_id = ${chainId} and c.counterparty = any(${asked}::text[])
    group by c.counterparty`);
  const known = rows.map(({ counterparty }) => counterparty);
  const users = await tx.execute<{ counterparty: Address; account: Address }>(sql`
    select c.counterparty, c.account
    from ahs.contact c join ahs.stranger s on s.chain_id = c.chain_id and s.account = c.account
    where c.chain_id = ${chainId} and c.counterparty = any(${sql.param(known)}::text[]) and c.calls > 0`);
  const byCounterparty = Map.groupBy(users.rows, ({ counterparty }) => counterparty);
  return new Map(
    rows.map(({ counterparty, since }) => {
      const strangers = new Set((byCounterparty.get(counterparty) ?? []).map(({ account }) => account));
      return [counterparty, { since, strangers }];
    }),
  );
}

/** Those of the accounts that are known as strangers. */
export async function readStrangers(
  tx: NodePgDatabase,
  chainId: number,
  accounts: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const { rows } = await tx.execute<{ account: Address }>(
    sql`select account from ahs.stranger where chain_id = ${chainId} and account = any(${sql.param(accounts)}::text[])`,
  );
  return new Set(rows.map(({ account }) => account));
}

/**
 * Makes followed wallets of those of the accounts that are known as strangers: what is left of their calls is what their own
 * calls tell, directly or through contracts of their own.
 */
export async function recountStrangers(
  tx: NodePgDatabase,
  chainId: number,
  accounts: readonly Address[],
): Promise<void> {
  const { rows } = await tx.execute<{ account: Address }>(
    sql`delete from ahs.stranger where chain_id = ${chainId} and account = any(${sql.param(accounts)}::text[])
        returning account`,
  );
  if (rows.length === 0) return;
  const known = sql.param(rows.map(({ account }) => account));
  const isOwn = (address: SQL) => sql`exists (
    select from ahs.account_fact f where f.chain_id = o.chain_id and f.address = ${address} and f.creator = o.wallet)`;
  await tx.execute(sql`
    update ahs.contact c set calls = (
      select count(*) from ahs.own_call o
      where o.chain_id = c.chain_id and o.wallet = c.account and o.source = 'enrich' and (
        coalesce(o.recipient, o."to") = c.counterparty
        or (o.recipient is null and c.counterparty = any(o.emitters) and c.counterparty <> o."to"
            and ${isOwn(sql`o."to"`)} and not ${isOwn(sql`c.counterparty`)})))
    where c.chain_id = ${chainId} and c.account = any(${known}::text[])`);
  await tx.execute(sql`
    delete from ahs.contact
    where chain_id = ${chainId} and account = any(${known}::text[]) and calls = 0 and sent_micro_usd = 0`);
}
