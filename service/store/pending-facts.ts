import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { Database } from "./database.ts";

/** An account that facts are wanted of, and the wallet that they matter to. */
export type WantedFact = {
  readonly address: Address;
  readonly wallet: Address;
  /** Unix seconds since when it matters; of two, the earlier is asked for first. */
  readonly since: number;
};

/** Accounts asked for in one pass for the sake of one wallet: a flood of new counterparties holds up its sender alone. */
const PER_WALLET = 8;
/** Pause after the first answer that nobody knows anything; it doubles, up to the longest. */
const FIRST_PAUSE_SECONDS = 600;
const LONGEST_PAUSE_SECONDS = 86_400;
/** Ten minutes doubled as often are more than a day. */
const MOST_DOUBLINGS = 8;

/**
 * Notes the accounts whose facts are wanted by followed wallets, and those that are known to have created or first funded one
 * of them; an account that all is known of already is left out.
 */
export async function wantFacts(
  tx: NodePgDatabase,
  chainId: number,
  wanted: readonly WantedFact[],
): Promise<void> {
  if (wanted.length === 0) return;
  const addresses = sql.param(wanted.map(({ address }) => address));
  const wallets = sql.param(wanted.map(({ wallet }) => wallet));
  const since = sql.param(wanted.map((want) => want.since));
  await tx.execute(sql`
    with direct as (
      select d.address, d.wallet, d.since
      from unnest(${addresses}::text[], ${wallets}::text[], ${since}::bigint[]) as d (address, wallet, since)
      join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = d.wallet
    ), wanted as (
      select address, wallet, false as ancestor, since from direct
      union all
      select parent, d.wallet, true, d.since
      from direct d join ahs.account_fact f on f.chain_id = ${chainId} and f.address = d.address
      cross join lateral (values (f.creator), (f.first_funder)) as parents (parent)
      where parent is not null
    )
    insert into ahs.pending_fact as held (chain_id, address, wallet, ancestor, due_at, asked)
    select ${chainId}::integer, address, wallet, bool_and(ancestor), min(since), 0 from wanted w
    where not exists (select from ahs.account_fact f where f.chain_id = ${chainId} and f.address = w.address)
      or exists (select from ahs.pending_fact p where p.chain_id = ${chainId} and p.address = w.address)
    group by address, wallet
    on conflict (chain_id, address, wallet) do update set ancestor = false
      where held.ancestor and not excluded.ancestor`);
}

/**
 * Accounts to ask facts of now, at most `limit`, none of those to leave out, and so many per wallet: first those of wallets
 * that wait for few, among these of wallets without a score, last those of scored wallets that wait for many.
 */
export async function readDueAccounts(
  db: Database,
  query: {
    readonly chainId: number;
    /** Unix seconds of chain time. */
    readonly now: number;
    readonly limit: number;
    readonly leaveOut: readonly Address[];
  },
): Promise<readonly Address[]> {
  const { chainId, now, limit, leaveOut } = query;
  // Steps from wallet to wallet by the index, and looks at a few accounts of each: however many wait, few are read.
  const { rows } = await db.execute<{ address: Address }>(sql`
    with recursive waiting as (
      select min(wallet) as wallet from ahs.pending_fact where chain_id = ${chainId}
      union all
      select (select min(p.wallet) from ahs.pending_fact p where p.chain_id = ${chainId} and p.wallet > w.wallet)
      from waiting w where w.wallet is not null
    ), due as (
      select w.wallet, p.address,
        count(*) over (partition by w.wallet) as pending,
        row_number() over (partition by w.wallet order by p.due_at, p.address) as place
      from waiting w
      cross join lateral (
        select address, due_at from ahs.pending_fact
        where chain_id = ${chainId} and wallet = w.wallet and due_at <= ${now}
          and address <> all(${sql.param(leaveOut)}::text[])
        order by due_at, address limit ${PER_WALLET + 1}
      ) p
    )
    select d.address from due d
    left join ahs.current_score s on s.chain_id = ${chainId} and s.wallet = d.wallet
    where d.place <= ${PER_WALLET}
    group by d.address
    order by min(array[
      (s.wallet is not null and d.pending > ${PER_WALLET})::int, d.pending, (s.wallet is not null)::int, d.place
    ]), d.address
    limit ${limit}`);
  return rows.map(({ address }) => address);
}

/**
 * Takes accounts off whose facts are stored and known, and notes who created or first funded those among them that wallets
 * dealt with.
 */
export async function takeOffPending(
  tx: NodePgDatabase,
  chainId: number,
  known: readonly Address[],
): Promise<void> {
  await tx.execute(sql`
    with settled as (
      delete from ahs.pending_fact where chain_id = ${chainId} and address = any(${sql.param(known)}::text[])
      returning address, wallet, ancestor, due_at
    )
    insert into ahs.pending_fact (chain_id, address, wallet, ancestor, due_at, asked)
    select ${chainId}::integer, parent, s.wallet, true, min(s.due_at), 0
    from settled s join ahs.account_fact f on f.chain_id = ${chainId} and f.address = s.address
    cross join lateral (values (f.creator), (f.first_funder)) as parents (parent)
    where not s.ancestor and parent is not null
      and not exists (select from ahs.account_fact g where g.chain_id = ${chainId} and g.address = parent)
    group by parent, s.wallet
    on conflict do nothing`);
}

/**
 * Has accounts that nobody knows anything of asked for again, ten minutes of chain time from `now` in Unix seconds, after
 * twice as long each time that this happens, and at last once a day.
 */
export async function putOffPending(
  tx: NodePgDatabase,
  chainId: number,
  { unknown, now }: { readonly unknown: readonly Address[]; readonly now: number },
): Promise<void> {
  await tx.execute(sql`
    update ahs.pending_fact set asked = asked + 1,
      due_at = ${now} + least(${LONGEST_PAUSE_SECONDS}, ${FIRST_PAUSE_SECONDS} * 2 ^ least(asked, ${MOST_DOUBLINGS}))::bigint
    where chain_id = ${chainId} and address = any(${sql.param(unknown)}::text[])`);
}
