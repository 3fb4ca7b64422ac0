/** Lines of creators and first funders, walked by a recursive query, which the builder does not have. */
import { type SQL, sql } from "drizzle-orm";
import type { Address } from "viem";

/** Accounts of a line of creators and first funders. */
const MOST_ANCESTORS = 8;

/** Each wallet with the last account of its line, which ends before a public funder. */
export function rootsOf({
  chainId,
  wallets,
  publicFunders,
}: {
  readonly chainId: number;
  readonly wallets: readonly Address[];
  /** Lower-case. */
  readonly publicFunders: readonly Address[];
}): SQL {
  return sql`
    with recursive line (wallet, account, depth) as (
      select wallet, wallet, 0 from unnest(${sql.param(wallets)}::text[]) as asked (wallet)
      union all
      select line.wallet, coalesce(f.creator, f.first_funder), line.depth + 1
      from line join ahs.account_fact f on f.chain_id = ${chainId} and f.address = line.account
      where line.depth < ${MOST_ANCESTORS} and coalesce(f.creator, f.first_funder) <> f.address
        and coalesce(f.creator, f.first_funder) <> all(${sql.param(publicFunders)}::text[])
    )
    select distinct on (wallet) wallet, account as root from line order by wallet, depth desc`;
}
