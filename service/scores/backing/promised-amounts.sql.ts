/** The ledger of promised amounts, which routing reads at every call: rows "read: GET /ahs/route/{address}" of bench/results.md. */
import { sql } from "drizzle-orm";
import { indexOf } from "../../db/index-tables.ts";
import { prepared, preparedByChain } from "../../db/statement.ts";
import type { StoredSellerProfile, walletBacking } from "../../db/tables/backing.ts";
import { IS_LISTED, sanctionsFlagsJoin } from "../../sanctions/sanctions.sql.ts";

/** Promises of one wallet within a day; with more, nothing of its safe amount is available. Bounds rows and reads. */
export const MAX_PROMISES = 10_000;

export type BackingRow = Pick<
  typeof walletBacking.$inferSelect,
  | "wallet"
  | "costBasisMicroUsd"
  | "bondMicroUsd"
  | "safeMicroUsd"
  | "receivedDayMicroUsd"
  | "asOfBlock"
  | "asOfTime"
> & {
  /** As of the newest indexed block. */
  readonly sanctioned: boolean;
  readonly promisedMicroUsd: bigint;
  readonly promises: number;
  readonly sellerProfile: StoredSellerProfile | null;
};

/** No row for a wallet whose backing is unknown; one of zeros for a wallet that was followed and has none. */
export const availableBacking = preparedByChain<{
  readonly wallets: readonly string[];
  readonly since: Date;
}>("available_backing", (chainId) => {
  const { wallet } = indexOf(chainId);
  const since = sql.placeholder("since");
  return sql`
      select wanted.wallet, coalesce(backing.cost_basis_micro_usd, 0) as "costBasisMicroUsd",
        coalesce(backing.bond_micro_usd, 0) as "bondMicroUsd", coalesce(backing.safe_micro_usd, 0) as "safeMicroUsd",
        coalesce(backing.received_day_micro_usd, 0) as "receivedDayMicroUsd", backing.seller_profile as "sellerProfile",
        ${IS_LISTED} as sanctioned, computed.as_of_block::float8 as "asOfBlock", computed.as_of_time as "asOfTime",
        coalesce(promised.micro_usd, 0) as "promisedMicroUsd", promised.promises::float8 as promises
      from unnest(${sql.placeholder("wallets")}::text[]) as wanted (wallet)
      cross join (
        select as_of_block, as_of_time from ahs.wallet_backing where chain_id = ${chainId} and as_of_time > ${since} limit 1
      ) as computed
      left join ahs.wallet_backing as backing on backing.chain_id = ${chainId} and backing.wallet = wanted.wallet
      left join ${wallet} on ${wallet.address} = wanted.wallet
      ${sanctionsFlagsJoin(chainId, sql`wanted.wallet`)}
      cross join lateral (
        select sum(amount_micro_usd) as micro_usd, count(*) as promises from (
          select amount_micro_usd from ahs.routing_promise
          where chain_id = ${chainId} and wallet = wanted.wallet and created_at > ${since} limit ${sql.raw(String(MAX_PROMISES))}
        ) as newest
      ) as promised
      where backing.wallet is not null or ${wallet.followedBlock} <= computed.as_of_block`;
});

/** Locks in the order of their numbers, so that concurrent transactions take turns. */
export const lockWallets = prepared<{ readonly chainId: number; readonly wallets: readonly string[] }>(
  "promise_lock",
  sql`select pg_advisory_xact_lock(lock) from (
    select distinct hashtextextended('ahs-promise:' || ${sql.placeholder("chainId")}::int || ':' || wallet, 0) as lock
    from unnest(${sql.placeholder("wallets")}::text[]) as wanted (wallet) order by lock
  ) as locks`,
);

/** Returns the ids of the new promises in the order of the amounts. */
export const insertPromised = prepared<{
  readonly chainId: number;
  readonly wallets: readonly string[];
  readonly callers: readonly string[];
  readonly amounts: readonly string[];
  readonly at: Date;
}>(
  "promise_insert",
  sql`
    insert into ahs.routing_promise (chain_id, wallet, caller, amount_micro_usd, created_at)
    select ${sql.placeholder("chainId")}, wallet, caller, amount, ${sql.placeholder("at")}
    from unnest(${sql.placeholder("wallets")}::text[], ${sql.placeholder("callers")}::text[], ${sql.placeholder("amounts")}::numeric[])
      with ordinality as promised (wallet, caller, amount, number)
    order by number
    returning id`,
);
