import { sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../db/database.ts";
import { insertRows } from "../../db/insert-rows.ts";
import type { accountFact } from "../../db/tables/enrich.ts";
import { holdsGeneration, lockEnrichment } from "./enrich-writes.ts";
import { putOffPending, takeOffPending } from "./pending-facts.ts";

export type AccountFactRow = typeof accountFact.$inferInsert;

/** When an account had acted, or a contract had been called, at the latest, by the contacts of followed wallets. */
export type FirstSeen = { readonly block: number; readonly timestamp: number };

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

/**
 * Stores facts and settles who is pending, unless the chain's data was cleared since they were read; answers of how many
 * accounts something was learnt. What was known of an account stays; what was not is added.
 */
export async function storeAccountFacts(
  db: Database,
  facts: {
    readonly chainId: number;
    readonly generation: string;
    readonly rows: readonly AccountFactRow[];
    /** Those of the accounts that are to be asked for again. */
    readonly unknown: ReadonlySet<Address>;
    /** Unix seconds of chain time. */
    readonly now: number;
  },
): Promise<number> {
  const { chainId, generation, rows, unknown, now } = facts;
  if (rows.length === 0) return 0;
  const known = rows.map(({ address }) => address as Address).filter((address) => !unknown.has(address));
  return db.transaction(async (tx) => {
    await lockEnrichment(tx, chainId);
    if (!(await holdsGeneration(tx, chainId, generation))) return 0;
    const { count } = await insertRows(tx, {
      table: "account_fact",
      rows,
      // The block stays where nothing is learnt: scores are renewed by it.
      end: sql`on conflict (chain_id, address) do update set
        has_code = coalesce(account_fact.has_code, false) or excluded.has_code,
        creator = coalesce(account_fact.creator, excluded.creator),
        first_funder = coalesce(account_fact.first_funder, excluded.first_funder),
        existed_block = least(account_fact.existed_block, excluded.existed_block),
        existed_at = least(account_fact.existed_at, excluded.existed_at),
        source = excluded.source, read_block = excluded.read_block
        where (excluded.has_code and account_fact.has_code is not true)
          or (excluded.creator is not null and account_fact.creator is null)
          or (excluded.first_funder is not null and account_fact.first_funder is null)
          or coalesce(excluded.existed_block < account_fact.existed_block,
            excluded.existed_block is not null and account_fact.existed_block is null)`,
    });
    await takeOffPending(tx, chainId, known);
    await putOffPending(tx, chainId, { unknown: [...unknown], now });
    return count;
  });
}
