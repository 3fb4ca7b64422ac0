/** Native payments to many wallets, each found by a lateral read that the planner may not merge; the builder cannot say `offset 0`. */
import { type SQL, sql } from "drizzle-orm";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";

/** Those to the payees, or to all followed wallets where it is null. Wallet by wallet: no plan may read all transactions. */
export function nativePayments(
  chainId: number,
  {
    from,
    to,
    payees,
  }: { readonly from: number; readonly to: number; readonly payees: readonly Address[] | null },
): SQL {
  const { wallet, transaction: sent } = indexOf(chainId);
  const payee =
    payees === null ? sql`${wallet} as w` : sql`unnest(${sql.param(payees)}::text[]) as w (address)`;
  return sql`
    select t.hash, t.block::float8 as block, t.transaction_index as "transactionIndex", t.timestamp::float8 as timestamp,
      t."from", t."to", t.value
    from ${payee}
    cross join lateral (
      select ${sent.hash}, ${sent.block}, ${sent.transactionIndex}, ${sent.timestamp}, ${sent.from}, ${sent.to}, ${sent.value}
      from ${sent}
      where ${sent.to} = w.address and not ${sent.own} and ${sent.ok} and ${sent.value} > 0
        and ${sent.block} between ${from} and ${to} offset 0
    ) t`;
}
