import { type SQL, sql } from "drizzle-orm";
import type { NodePgDatabase } from "drizzle-orm/node-postgres";
import { type Address, zeroAddress } from "viem";
import { inStatements, insertRows } from "../../db/insert-rows.ts";
import type { contact } from "../../db/tables/enrich.ts";

/** Counts and sums that one range adds to the contact of an account and a counterparty. */
export type ContactIncrement = Omit<typeof contact.$inferInsert, "chainId">;

type Pair = Pick<ContactIncrement, "counterparty" | "account">;

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
