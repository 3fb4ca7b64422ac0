import type { Address } from "viem";
import type { Database } from "../db/database.ts";

/** An account of the index with how many others it funded first, or was called by. */
export type Candidate = { readonly address: Address; readonly accounts: number };

/** The most that are returned; a person reads them. */
const MOST = 200;

/** Accounts that were the first funder of so many others or more, the greatest first. It reads all facts of the chain. */
export async function readCommonFunders(
  db: Database,
  { chainId, least }: { readonly chainId: number; readonly least: number },
): Promise<readonly Candidate[]> {
  const { rows } = await db.$client.query<Candidate>(
    `select first_funder as address, count(*)::int as accounts from ahs.account_fact
     where chain_id = $1 and first_funder is not null group by first_funder
     having count(*) >= $2 order by count(*) desc, first_funder limit ${MOST}`,
    [chainId, least],
  );
  return rows;
}

/** Contracts that so many accounts called or more, in sampled blocks or as followed wallets, the greatest first. It reads all contacts of the chain. */
export async function readPopularContracts(
  db: Database,
  { chainId, least }: { readonly chainId: number; readonly least: number },
): Promise<readonly Candidate[]> {
  const { rows } = await db.$client.query<Candidate>(
    `select used.address, used.accounts from (
       select counterparty as address, count(*)::int as accounts from (
         select counterparty, account from ahs.contact where chain_id = $1 and calls > 0
         union
         select counterparty, account from ahs.sampled_contact where chain_id = $1
       ) called
       group by counterparty having count(*) >= $2
     ) used
     join ahs.account_fact fact on fact.chain_id = $1 and fact.address = used.address and fact.has_code
     order by used.accounts desc, used.address limit ${MOST}`,
    [chainId, least],
  );
  return rows;
}
