import { sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { inStatements } from "../../db/insert-rows.ts";

/** An account that facts are wanted of, and the wallet that they matter to. */
export type WantedFact = {
  readonly address: Address;
  readonly wallet: Address;
  /** Unix seconds since when it matters; of two, the earlier is asked for first. */
  readonly since: number;
  /** Whether the wallet named it by own calls: it is asked for before accounts that others named. */
  readonly own: boolean;
};

/** Accounts of each kind asked for in one pass for the sake of one wallet: a flood of counterparties holds up its sender alone. */
const PER_WALLET = 8;
/** Accounts named by own calls that are asked for before one that others named. */
const OWN_TURNS = 7;
/** Accounts that wait for one wallet: as many own calls as a score is made of, each with another account. */
const MAX_OWN_PENDING = 20_000;
/** Those of them that others named, by logs of what the wallet's contracts called or by drawing on its approvals. */
const MAX_NAMED_PENDING = 500;
/** Pause after the first request without a result; it doubles, up to the longest. */
const FIRST_PAUSE_SECONDS = 600;
const LONGEST_PAUSE_SECONDS = 86_400;
/** Ten minutes doubled as often are more than a day. */
const MOST_DOUBLINGS = 8;

/**
 * Notes the accounts whose facts followed wallets want, and their known creators and first funders, unless all is known of them.
 * Returns how many were left out since too many wait for their wallet; the next dealing with one notes it.
 */
export async function wantFacts(tx: NodePgDatabase, chainId: number, wanted: readonly WantedFact[]) {
  let leftOut = 0;
  for (const some of inStatements(wanted)) leftOut += await wantSome(tx, chainId, some);
  return leftOut;
}

async function wantSome(tx: NodePgDatabase, chainId: number, wanted: readonly WantedFact[]): Promise<number> {
  const addresses = sql.param(wanted.map(({ address }) => address));
  const wallets = sql.param(wanted.map(({ wallet }) => wallet));
  const since = sql.param(wanted.map((want) => want.since));
  const own = sql.param(wanted.map((want) => want.own));
  const { rows } = await tx.execute<{ leftOut: number }>(sql`
    with direct as (
      select d.* from unnest(${addresses}::text[], ${wallets}::text[], ${since}::bigint[], ${own}::boolean[])
        as d (address, wallet, since, own)
      join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = d.wallet
    ), wanted as (
      select address, wallet, false as ancestor, since, own from direct
      union all
      select parent, d.wallet, true, d.since, d.own
      from direct d join ahs.account_fact f on f.chain_id = ${chainId} and f.address = d.address
      cross join lateral (values (f.creator), (f.first_funder)) as parents (parent)
      where parent is not null
    ), each as (
      select address, wallet, bool_and(ancestor) as ancestor, min(since) as since, bool_or(own) as own,
        exists (select from ahs.pending_fact p
          where p.chain_id = ${chainId} and p.address = w.address and p.wallet = w.wallet) as waits
      from wanted w
      where not exists (select from ahs.account_fact f where f.chain_id = ${chainId} and f.address = w.address)
        or exists (select from ahs.pending_fact p where p.chain_id = ${chainId} and p.address = w.address)
      group by address, wallet
    ), held as materialized (
      select wallet, own, case when own then ${MAX_OWN_PENDING}::integer else ${MAX_NAMED_PENDING}::integer end - (
        select count(*) from ahs.pending_fact p
        where p.chain_id = ${chainId} and p.wallet = w.wallet and p.own = w.own
      ) as room
      from (select distinct wallet, own from each) w
    ), placed as (
      select each.*, waits or row_number() over (partition by wallet, own, waits order by since, address) <= room as fits
      from each join held using (wallet, own)
    ), noted as (
      insert into ahs.pending_fact as held (chain_id, address, wallet, ancestor, due_at, asked, own)
      select ${chainId}::integer, address, wallet, ancestor, since, 0, own from placed where fits
      on conflict (chain_id, address, wallet) do update
        set ancestor = held.ancestor and excluded.ancestor, own = held.own or excluded.own
        where (held.ancestor and not excluded.ancestor) or (excluded.own and not held.own)
    )
    select count(*)::int as "leftOut" from placed where not fits`);
  return rows[0]?.leftOut ?? 0;
}

/**
 * At most `limit` accounts to ask for at `now` (Unix seconds of chain time), a few per wallet. Those that own calls named come
 * before most others; of each kind one of every wallet comes before the second of any, by lot.
 */
export async function readDueAccounts(
  db: Database,
  query: { chainId: number; now: number; limit: number; leaveOut: readonly Address[] },
): Promise<readonly Address[]> {
  const { chainId, now, limit, leaveOut } = query;
  // Steps from wallet to wallet by the index and reads a few accounts of each, so that a long queue costs no more.
  const { rows } = await db.execute<{ address: Address }>(sql`
    with recursive waiting as (
      select min(wallet) as wallet from ahs.pending_fact where chain_id = ${chainId}
      union all
      select (select min(p.wallet) from ahs.pending_fact p where p.chain_id = ${chainId} and p.wallet > w.wallet)
      from waiting w where w.wallet is not null
    ), due as (
      select p.address, kind.own, row_number() over (partition by w.wallet, kind.own order by p.due_at, p.address) as turn
      from waiting w cross join (values (true), (false)) as kind (own)
      cross join lateral (
        select address, due_at from ahs.pending_fact
        where chain_id = ${chainId} and wallet = w.wallet and own = kind.own and due_at <= ${now}
          and address <> all(${sql.param(leaveOut)}::text[])
        order by due_at, address limit ${PER_WALLET}
      ) p
    ), ranked as (
      select address, own, row_number() over (partition by own order by turn, random()) as place
      from (select address, bool_or(own) as own, min(turn) as turn from due group by address) each
    )
    select address from ranked
    order by case when own then (place + ${OWN_TURNS - 1}::integer) / ${OWN_TURNS}::integer else place end, own desc, place
    limit ${limit}`);
  return rows.map(({ address }) => address);
}

/** Removes accounts with stored facts, and adds the creators and first funders of those that wallets dealt with. */
export async function takeOffPending(tx: NodePgDatabase, chainId: number, known: readonly Address[]) {
  for (const some of inStatements(known))
    await tx.execute(sql`
      with settled as (
        delete from ahs.pending_fact where chain_id = ${chainId} and address = any(${sql.param(some)}::text[])
        returning address, wallet, ancestor, due_at, own
      )
      insert into ahs.pending_fact (chain_id, address, wallet, ancestor, due_at, asked, own)
      select ${chainId}::integer, parent, s.wallet, true, min(s.due_at), 0, bool_or(s.own)
      from settled s join ahs.account_fact f on f.chain_id = ${chainId} and f.address = s.address
      cross join lateral (values (f.creator), (f.first_funder)) as parents (parent)
      where not s.ancestor and parent is not null
        and not exists (select from ahs.account_fact g where g.chain_id = ${chainId} and g.address = parent)
      group by parent, s.wallet
      on conflict do nothing`);
}

/** Schedules accounts again: ten minutes of chain time after `now` (Unix seconds), then twice as long each time, at most a day. */
export async function putOffPending(
  tx: NodePgDatabase,
  chainId: number,
  { unknown, now }: { unknown: readonly Address[]; now: number },
): Promise<void> {
  await tx.execute(sql`
    update ahs.pending_fact set asked = asked + 1,
      due_at = ${now} + least(${LONGEST_PAUSE_SECONDS}, ${FIRST_PAUSE_SECONDS} * 2 ^ least(asked, ${MOST_DOUBLINGS}))::bigint
    where chain_id = ${chainId} and address = any(${sql.param(unknown)}::text[])`);
}
