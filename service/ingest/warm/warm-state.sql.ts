/** Groups of wallets and facts of many at once: the builder has no unnest, lateral read or chain of ordered tables. */
import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";

/** A followed wallet of which the time before the index is not read to its end. */
export type WarmWallet = {
  /** Lower-case. */
  readonly wallet: Address;
  /** First block in which the index follows it. */
  readonly followedBlock: number;
  /** Transactions that it had sent before what is read of it; null where that is not known. */
  readonly fromNonce: number | null;
};

/** The group of wallets to read next, each with what is read of it. */
export function warmGroup({
  chainId,
  most,
  now,
}: {
  readonly chainId: number;
  readonly most: number;
  readonly now: Date;
}): SQL {
  const { wallet } = indexOf(chainId);
  const w = alias(wallet, "w");
  return sql`
    with open as (
      select e.wallet, ${w.followedBlock} as followed_block, k.from_block as covered, k.from_nonce, exists (
        select from ahs.alert_subscription s
        where s.chain_id = ${chainId} and s.wallet = e.wallet and s.ended_at is null and s.expires_at > ${now}
      ) as watched
      from ahs.enrich_wallet e
      join ${wallet} ${w} on ${w.address} = e.wallet
      left join ahs.stored_history k on k.chain_id = e.chain_id and k.wallet = e.wallet
      where e.chain_id = ${chainId} and e.warm_open and not exists (
        select from ahs.quarantine q
        where q.chain_id = ${chainId} and q.kind = 'warm' and q.subject = e.wallet and q.next_try_at > ${now})
    ), first as (
      select covered from open order by covered is null, watched desc, followed_block desc, wallet limit 1
    )
    select wallet, followed_block::float8 as "followedBlock", open.covered::float8 as covered, from_nonce::float8 as "fromNonce"
    from open join first on open.covered is not distinct from first.covered
    order by watched desc, followed_block desc, wallet limit ${most}`;
}

/** Own calls of a wallet as they are stored. */
export type CallFacts = {
  /** Unix seconds. */
  readonly lastCallAt: number | null;
  readonly isFull: boolean;
};

/** Newest own calls of a wallet with which its past is read far enough: a record is made of fewer. */
export const ENOUGH_CALLS = 20_000;

/** `CallFacts` of each wallet by its calls from a block on. */
export function callFacts(of: {
  readonly chainId: number;
  readonly wallets: readonly { readonly wallet: Address }[];
  readonly fromBlock: number;
}): SQL {
  const wallets = sql.param(of.wallets.map(({ wallet }) => wallet));
  return sql`
    select asked.wallet, newest.calls = ${ENOUGH_CALLS} as "isFull", newest.last::float8 as "lastCallAt"
    from unnest(${wallets}::text[]) as asked (wallet)
    cross join lateral (
      select count(*) as calls, max(timestamp) as last from (
        select timestamp from ahs.own_call o
        where o.chain_id = ${of.chainId} and o.wallet = asked.wallet and o.block >= ${of.fromBlock}
        order by block desc, transaction_index desc, position desc limit ${ENOUGH_CALLS}
      ) newest
    ) newest`;
}

/** The nonce of each wallet's first own transaction after the block in which the index began to follow it. */
export function firstNonces(chainId: number, of: readonly WarmWallet[]): SQL {
  const { transaction } = indexOf(chainId);
  const wallets = sql.param(of.map(({ wallet }) => wallet));
  const since = sql.param(of.map(({ followedBlock }) => followedBlock));
  return sql`
    select asked.wallet, first.nonce::float8 as nonce
    from unnest(${wallets}::text[], ${since}::bigint[]) as asked (wallet, since)
    cross join lateral (
      select ${transaction.nonce} from ${transaction}
      where ${transaction.from} = asked.wallet and ${transaction.own} and ${transaction.block} > asked.since
      order by ${transaction.block}, ${transaction.transactionIndex} limit 1
    ) first`;
}
