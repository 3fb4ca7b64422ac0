/** Wallets that are to be scored, found by unions and ranks over all followed wallets: bench/scale.ts measures them with a million. */

import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { indexOf } from "../db/index-tables.ts";

export type DueQuery = {
  readonly chainId: number;
  readonly asOfBlock: number;
  /** Unix seconds of the as-of block. */
  readonly asOfTime: number;
  /** Least seconds of chain time between two scores of one wallet. */
  readonly intervalSeconds: number;
};

/** Counterparties of a wallet that are checked for facts; all wallets wait for this statement. */
const MOST_CONTACTS = 5_000;

/** Wallets to score again, the oldest first; `waits` where some of its counterparties have no facts yet. */
export function dueWallets({ chainId, asOfBlock, asOfTime, intervalSeconds }: DueQuery): SQL {
  const { wallet } = indexOf(chainId);
  const w = alias(wallet, "w");
  return sql`
    with candidate as (
      select ${w.address} as wallet, coalesce(c.as_of_block, ${w.followedBlock}) as since
      from ${wallet} ${w}
      join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = ${w.address}
        and e.past_next is null and e.from_block <= ${w.followedBlock}
      left join ahs.current_score c on c.chain_id = ${chainId} and c.wallet = ${w.address}
      where ${w.followedBlock} <= ${asOfBlock}
        and (c.wallet is null or (c.as_of_block < ${asOfBlock}
          and extract(epoch from c.as_of_time) <= ${asOfTime - intervalSeconds}::float8
          and exists (select from ahs.own_call o where o.chain_id = ${chainId} and o.wallet = ${w.address}
            and o.block > c.as_of_block and o.block <= ${asOfBlock})))
      union
      select c.wallet, c.as_of_block from ahs.current_score c
      where c.chain_id = ${chainId} and c.as_of_block < ${asOfBlock} and c.level_until <= to_timestamp(${asOfTime}::float8)
        and not exists (select from ahs.unfollowed u where u.chain_id = ${chainId} and u.address = c.wallet)
    )
    select wallet, exists (
      select from (
        select counterparty from ahs.contact where chain_id = ${chainId} and account = candidate.wallet limit ${MOST_CONTACTS}) k
      where not exists (select from ahs.account_fact f where f.chain_id = ${chainId} and f.address = k.counterparty)) as waits
    from candidate order by since, wallet`;
}

/**
 * Wallets with a score old enough to be renewed, whose rows up to its block have changed since: facts of the wallet or of a
 * counterparty were read at that block or later, a source reported its past after the score was stored, or its past, still
 * to be enriched then, is enriched now: of such a wallet no approvals were frozen. One without enough history does not wait to be
 * renewed once more of its past is read. The oldest score comes first.
 */
export function overtakenWallets({ chainId, asOfBlock, asOfTime, intervalSeconds }: DueQuery): SQL {
  const { wallet } = indexOf(chainId);
  const w = alias(wallet, "w");
  return sql`
    with held as (
      select c.wallet, c.as_of_block, s.created_at, s.inputs_hash, s.coverage ->> 'complete' = 'true' as complete
      from ahs.current_score c join ahs.score s on s.id = c.score_id
      where c.chain_id = ${chainId} and c.as_of_block < ${asOfBlock}
        and extract(epoch from c.as_of_time) <= ${asOfTime - intervalSeconds}::float8
    ), learnt as (
      select address, read_block from ahs.account_fact
      where chain_id = ${chainId} and read_block >= (select min(as_of_block) from held)
    )
    select h.wallet, h.as_of_block from held h join learnt f on f.address = h.wallet and f.read_block >= h.as_of_block
    union
    select h.wallet, h.as_of_block from learnt f
    join ahs.contact k on k.chain_id = ${chainId} and k.counterparty = f.address
    join held h on h.wallet = k.account and f.read_block >= h.as_of_block
    union
    select h.wallet, h.as_of_block from held h
    join ahs.stored_history p on p.chain_id = ${chainId} and p.wallet = h.wallet and p.read_at > h.created_at
    union
    select c.wallet, c.as_of_block from ahs.stored_history p
    join ahs.current_score c on c.chain_id = ${chainId} and c.wallet = p.wallet and c.as_of_block < ${asOfBlock} and c.ahs_score is null
    join ahs.score s on s.id = c.score_id and s.created_at < p.read_at
    where p.chain_id = ${chainId}
    union
    select h.wallet, h.as_of_block from held h
    join ${wallet} ${w} on ${w.address} = h.wallet and ${w.followedBlock} <= ${asOfBlock}
    join ahs.enrich_wallet e on e.chain_id = ${chainId} and e.wallet = ${w.address}
      and e.past_next is null and e.from_block <= ${w.followedBlock}
    join ahs.input_file inputs on inputs.hash = h.inputs_hash
    join ahs.input_file frozen on frozen.hash = inputs.content ->> 'counterparty_file'
    where not h.complete and frozen.content -> 'approvals' = 'null'::jsonb
    order by as_of_block, wallet`;
}

/** Those of the wallets without a score, or with one of a block before this one; in their order. */
export function scoredBefore(of: {
  readonly chainId: number;
  readonly wallets: readonly string[];
  readonly block: number;
}): SQL {
  return sql`
    select wanted.wallet from unnest(${sql.param(of.wallets)}::text[]) with ordinality as wanted (wallet, place)
    left join ahs.current_score c on c.chain_id = ${of.chainId} and c.wallet = wanted.wallet
    where c.wallet is null or c.as_of_block < ${of.block} order by wanted.place`;
}

/** Followed wallets without a score of a block from `reach` on, and which of them are left out as idle ones beyond the bound. */
export function nightlyWallets(of: {
  readonly chainId: number;
  readonly reach: number;
  readonly mostIdle: number;
}): SQL {
  const { wallet } = indexOf(of.chainId);
  const { address, followedBlock } = wallet;
  return sql`
    with followed as (
      select ${address}, c.as_of_block, ${followedBlock}, coalesce(c.as_of_block >= ${of.reach}, false) as done,
        c.wallet is not null and c.ahs_score is null and not c.sanctioned and not exists (
          select from ahs.own_call o where o.chain_id = ${of.chainId} and o.wallet = ${address} and o.block > c.as_of_block) as idle
      from ${wallet}
      left join ahs.current_score c on c.chain_id = ${of.chainId} and c.wallet = ${address}
    ), ranked as (
      select *, idle and row_number() over (partition by idle order by done desc, as_of_block, followed_block, address) > ${of.mostIdle}
        as is_left
      from followed
    )
    select address, is_left as "left" from ranked where not done order by as_of_block nulls first, followed_block, address`;
}
