import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, zeroAddress } from "viem";
import { inStatements, insertRows } from "../../db/insert-rows.ts";
import type { contact } from "../../db/tables/enrich.ts";

/** Counts and sums that one range adds to the contact of an account and a counterparty. */
export type ContactIncrement = Omit<typeof contact.$inferInsert, "chainId">;

type Pair = Pick<ContactIncrement, "counterparty" | "account">;

/** Calls of a stranger to one counterparty, since it is known as a user of it; the last one in Unix seconds. */
export type Slot = { readonly calls: number; readonly lastTime: number };

/** An account that is not followed: all its calls since it is known, without those of slots that it lost, and its slots. */
export type KnownStranger = { readonly calls: number; readonly slots: number };

/** Adds calls and funds, each pair at most once among the increments; not idempotent, so it belongs into the transaction of their facts. */
export async function addContacts(
  tx: NodePgDatabase,
  chainId: number,
  increments: readonly ContactIncrement[],
): Promise<void> {
  await insertRows(tx, {
    table: "contact",
    rows: increments.map((increment) => ({ chainId, ...increment })),
    end: ADD_TO_CONTACT,
  });
}

const ADD_TO_CONTACT = sql`
  on conflict (chain_id, counterparty, account) do update set
    calls = contact.calls + excluded.calls,
    sent_micro_usd = contact.sent_micro_usd + excluded.sent_micro_usd,
    first_block = least(contact.first_block, excluded.first_block),
    first_time = least(contact.first_time, excluded.first_time),
    last_block = greatest(contact.last_block, excluded.last_block),
    last_time = greatest(contact.last_time, excluded.last_time)`;

/** Accounts that sent one counterparty funds without a call: dust comes from any number, and each is read with the counterparty. */
export const MAX_PAYERS = 256;

/** Account of the contact that sums up the payers that were dropped; transfers from it are mints and make no contact. */
export const OTHER_PAYERS = zeroAddress;

/** Counterparties of one statement: each has at least as many contacts as payers are kept. */
const PAID_AT_ONCE = 500;
/** Payers that one statement drops, so that no statement runs into its time limit. */
const DROPPED_AT_ONCE = 20_000;

/** Sums up the payers beyond MAX_PAYERS that sent least to each counterparty as OTHER_PAYERS. Returns how many were dropped. */
export async function dropPayers(tx: NodePgDatabase, chainId: number, paid: readonly Pair[]) {
  const counterparties = await paidByStrangers(tx, chainId, paid);
  let dropped = 0;
  for (let start = 0; start < counterparties.length; start += PAID_AT_ONCE) {
    const some = counterparties.slice(start, start + PAID_AT_ONCE);
    for (let last = DROPPED_AT_ONCE; last === DROPPED_AT_ONCE; dropped += last)
      last = await dropSomePayers(tx, chainId, some);
  }
  return dropped;
}

/** Counterparties of payments by accounts that are not followed: of all others no payer can be new. */
async function paidByStrangers(tx: NodePgDatabase, chainId: number, paid: readonly Pair[]) {
  const found = new Set<Address>();
  for (const some of inStatements(paid)) {
    const { rows } = await tx.execute<{ counterparty: Address }>(sql`
      select distinct counterparty from ${rowsOf(some)} as paid (counterparty, account)
      where not exists (select from ahs.enrich_wallet w where w.chain_id = ${chainId} and w.wallet = paid.account)`);
    for (const { counterparty } of rows) found.add(counterparty);
  }
  return [...found];
}

function rowsOf(pairs: readonly Pair[]): SQL {
  const counterparties = sql.param(pairs.map(({ counterparty }) => counterparty));
  const accounts = sql.param(pairs.map(({ account }) => account));
  return sql`unnest(${counterparties}::text[], ${accounts}::text[])`;
}

async function dropSomePayers(tx: NodePgDatabase, chainId: number, counterparties: readonly Address[]) {
  const { rows } = await tx.execute<{ dropped: number }>(sql`
    with beyond as (
      select gone.* from unnest(${sql.param(counterparties)}::text[]) as paid (address)
      cross join lateral (
        select c.counterparty, c.account from ahs.contact c
        where c.chain_id = ${chainId} and c.counterparty = paid.address and c.calls = 0 and c.account <> ${OTHER_PAYERS}
          and not exists (select from ahs.enrich_wallet w where w.chain_id = ${chainId} and w.wallet = c.account)
        order by c.sent_micro_usd desc, c.first_block, c.account offset ${MAX_PAYERS}
      ) gone
      limit ${DROPPED_AT_ONCE}
    ), dropped as (
      delete from ahs.contact c using beyond b
      where c.chain_id = ${chainId} and c.counterparty = b.counterparty and c.account = b.account
      returning c.*
    ), added as (
      insert into ahs.contact
        (chain_id, counterparty, account, calls, sent_micro_usd, first_block, first_time, last_block, last_time)
      select ${chainId}::integer, counterparty, ${OTHER_PAYERS}::text, 0, sum(sent_micro_usd),
        min(first_block), min(first_time), max(last_block), max(last_time)
      from dropped group by counterparty
      ${ADD_TO_CONTACT}
    )
    select count(*)::int as dropped from dropped`);
  return rows[0]?.dropped ?? 0;
}

/** Stores all calls of strangers; null deletes a stranger. */
export async function storeStrangerCalls(
  tx: NodePgDatabase,
  chainId: number,
  counts: ReadonlyMap<Address, number | null>,
): Promise<void> {
  const rows = [...counts].flatMap(([account, calls]) => (calls === null ? [] : { chainId, account, calls }));
  const gone = [...counts].flatMap(([account, calls]) => (calls === null ? account : []));
  for (const some of inStatements(gone))
    await tx.execute(
      sql`delete from ahs.stranger where chain_id = ${chainId} and account = any(${sql.param(some)}::text[])`,
    );
  const end = sql`on conflict (chain_id, account) do update set calls = excluded.calls`;
  await insertRows(tx, { table: "stranger", rows, end });
}

/** Forgets calls of strangers, not their funds; those of an account once followed stay, since nothing would count them again. */
export async function forgetStrangerCalls(tx: NodePgDatabase, chainId: number, left: readonly Pair[]) {
  for (const some of inStatements(left))
    await tx.execute(sql`
      with gone as (
        select * from ${rowsOf(some)} as gone (counterparty, account)
        where not exists (
          select from ahs.own_call o where o.chain_id = ${chainId} and o.wallet = gone.account and o.source = 'enrich')
      ), freed as (
        delete from ahs.contact c using gone
        where c.chain_id = ${chainId} and c.counterparty = gone.counterparty and c.account = gone.account
          and c.sent_micro_usd = 0
      )
      update ahs.contact c set calls = 0 from gone
      where c.chain_id = ${chainId} and c.counterparty = gone.counterparty and c.account = gone.account
        and c.sent_micro_usd > 0`);
}

/** Accounts that followed wallets deal with: since which block, and the strangers that are known to use them. */
export async function readKnownCounterparties(
  tx: NodePgDatabase,
  chainId: number,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, { readonly since: number; readonly strangers: ReadonlyMap<Address, Slot> }>> {
  const known = new Map<Address, { since: number; strangers: Map<Address, Slot> }>();
  for (const some of inStatements(accounts)) {
    const dealt = await tx.execute<{ counterparty: Address; since: number }>(sql`
      select c.counterparty, min(c.first_block)::float8 as since
      from ahs.contact c join ahs.enrich_wallet w on w.chain_id = c.chain_id and w.wallet = c.account
      where c.chain_id = ${chainId} and c.counterparty = any(${sql.param(some)}::text[])
      group by c.counterparty`);
    for (const { counterparty, since } of dealt.rows)
      known.set(counterparty, { since, strangers: new Map() });
    const counterparties = sql.param(dealt.rows.map(({ counterparty }) => counterparty));
    const users = await tx.execute<Pair & Slot>(sql`
      select c.counterparty, c.account, c.calls, c.last_time::float8 as "lastTime"
      from ahs.contact c join ahs.stranger s on s.chain_id = c.chain_id and s.account = c.account
      where c.chain_id = ${chainId} and c.counterparty = any(${counterparties}::text[]) and c.calls > 0`);
    for (const { counterparty, account, ...slot } of users.rows)
      known.get(counterparty)?.strangers.set(account, slot);
  }
  return known;
}

/** Those of the accounts that are known as strangers. */
export async function readStrangers(tx: NodePgDatabase, chainId: number, accounts: readonly Address[]) {
  const known = new Map<Address, KnownStranger>();
  for (const some of inStatements(accounts)) {
    const { rows } = await tx.execute<{ account: Address } & KnownStranger>(
      sql`select s.account, s.calls::float8 as calls, count(c.account)::int as slots
          from ahs.stranger s
          left join ahs.contact c on c.chain_id = s.chain_id and c.account = s.account and c.calls > 0
          where s.chain_id = ${chainId} and s.account = any(${sql.param(some)}::text[])
          group by s.account, s.calls`,
    );
    for (const { account, ...stranger } of rows) known.set(account, stranger);
  }
  return known;
}

/** Turns strangers into followed wallets, whose contacts count only their own calls, direct or through contracts of their own. */
export async function recountStrangers(tx: NodePgDatabase, chainId: number, accounts: readonly Address[]) {
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
      where o.chain_id = c.chain_id and o.wallet = c.account and o.source = 'enrich'
        and (o.position = 0 or (o.ok and (o.recipient is not null or o."to" = any(o.emitters)))) and (
        coalesce(o.recipient, o."to") = c.counterparty
        or (o.recipient is null and c.counterparty = any(o.emitters) and c.counterparty <> o."to"
            and ${isOwn(sql`o."to"`)} and not ${isOwn(sql`c.counterparty`)})))
    where c.chain_id = ${chainId} and c.account = any(${known}::text[])`);
  await tx.execute(sql`
    delete from ahs.contact
    where chain_id = ${chainId} and account = any(${known}::text[]) and calls = 0 and sent_micro_usd = 0`);
}
