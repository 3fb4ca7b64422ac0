import { sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "./database.ts";
import { holdsGeneration } from "./enrich-writes.ts";
import { accountFact } from "./tables/enrich.ts";

export type AccountFactRow = typeof accountFact.$inferInsert;

/** When an account had acted, or a contract had been called, at the latest, by the contacts of followed wallets. */
export type FirstSeen = { readonly block: number; readonly timestamp: number };

/**
 * Accounts of which facts are wanted and none are stored: counterparties, followed wallets and spenders, then those who
 * created or first funded one of these, and no further; at most `limit`, none of those to leave out.
 */
export async function readPendingAccounts(
  db: Database,
  query: { readonly chainId: number; readonly limit: number; readonly leaveOut: readonly Address[] },
): Promise<readonly Address[]> {
  const { chainId, limit, leaveOut } = query;
  const { rows } = await db.execute<{ address: Address }>(sql`
    with asked as (
      select wallet as address from ahs.enrich_wallet where chain_id = ${chainId}
      union select counterparty from ahs.contact where chain_id = ${chainId}
      union select spender from ahs.enrich_approval where chain_id = ${chainId}
    ), wanted as (
      select address from asked
      union select f.creator from ahs.account_fact f join asked using (address) where f.chain_id = ${chainId}
      union select f.first_funder from ahs.account_fact f join asked using (address) where f.chain_id = ${chainId}
    )
    select address from wanted
    where address is not null and address <> all(${sql.param(leaveOut)}::text[])
      and not exists (
        select from ahs.account_fact f where f.chain_id = ${chainId} and f.address = wanted.address)
    limit ${limit}`);
  return rows.map(({ address }) => address);
}

/** The earliest calls that contacts tell of, by account: those that it made, or, for the contracts among them, those made to it. */
export async function readFirstSeen(
  db: Database,
  query: {
    readonly chainId: number;
    readonly accounts: readonly Address[];
    readonly contracts: readonly Address[];
  },
): Promise<ReadonlyMap<Address, FirstSeen>> {
  const { chainId, accounts, contracts } = query;
  const { rows } = await db.execute<{ address: Address; block: number; timestamp: number }>(sql`
    select address, min(block)::float8 as block, min(time)::float8 as timestamp from (
      select account as address, first_block as block, first_time as time from ahs.contact
      where chain_id = ${chainId} and account = any(${sql.param(accounts)}::text[]) and calls > 0
      union all
      select counterparty, first_block, first_time from ahs.contact
      where chain_id = ${chainId} and counterparty = any(${sql.param(contracts)}::text[]) and calls > 0
    ) seen group by address`);
  return new Map(rows.map(({ address, ...seen }) => [address, seen]));
}

/** Stores facts unless the chain's data was cleared since they were read; those that are there already stay. */
export async function storeAccountFacts(
  db: Database,
  facts: { readonly chainId: number; readonly generation: string; readonly rows: readonly AccountFactRow[] },
): Promise<number> {
  if (facts.rows.length === 0) return 0;
  return db.transaction(async (tx) => {
    if (!(await holdsGeneration(tx, facts.chainId, facts.generation))) return 0;
    const { rowCount } = await tx
      .insert(accountFact)
      .values([...facts.rows])
      .onConflictDoNothing();
    return rowCount ?? 0;
  });
}
