import { type SQL, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { indexOf } from "../../db/index-tables.ts";
import { preparedByChain } from "../../db/statement.ts";

// No bench row measures this; the builder has no recursive CTE.

export type WalkRow = {
  readonly address: Address;
  /** Unix seconds. */
  readonly lastCallAt: number | null;
  /** Followed wallets on the whole walk. */
  readonly found: number;
  readonly cut: boolean;
};

/** Wallets examined, the wallet itself included. */
const MAX_WALLETS = 100;
/** Accounts that one account created, and that it first funded: the first ones by address. */
const MAX_CHILDREN = 500;
/** Accounts walked over in all. */
const MAX_WALKED = 5_000;
/** Senders of the wallet: with more, no account sent it most of its funds. */
const MAX_FUNDERS = 500;

/** Generations of creators and funders that are followed. */
export const MAX_GENERATIONS = 12;

const WALLET = sql.placeholder("wallet");
const PUBLIC = sql`${sql.placeholder("publicFunders")}::text[]`;

/** As `parentsOf` of the model: a contract belongs to its creator, another account to its first funder. */
const [BY_CREATOR, BY_FUNDER] = [sql`f.creator`, sql`f.first_funder`].map(
  (parent) => sql`(${parent} is not null and ${parent} <> f.address and ${parent} <> all(${PUBLIC}))`,
);

/**
 * Walks from the wallet to its ancestors and its main funder, and from each of these to all that it created or first funded, the
 * nearest first. The wallet's own payees are only walked to if they sent something back. `place` shows where children are left out.
 * "between" takes the place of "=", since its order comes from one index alone: by "=" the planner may read all accounts by address.
 */
export const ownerWalk = preparedByChain<{
  readonly wallet: Address;
  readonly publicFunders: readonly Address[];
}>("owner_cluster", (chainId) => {
  const children = (column: SQL) => sql`
    select f.*, row_number() over (order by f.address) as place from (
      select address, creator, first_funder from ahs.account_fact
      where chain_id = ${chainId} and ${column} between family.address and family.address
      order by ${column}, address limit ${MAX_CHILDREN + 1}
    ) as f`;
  const { wallet } = indexOf(chainId);
  const w = alias(wallet, "w");
  return sql`
    with recursive line (address, depth) as (
      select ${WALLET}::text, 0
      union all
      select case when ${BY_CREATOR} then f.creator else f.first_funder end, line.depth + 1
      from line join ahs.account_fact as f on f.chain_id = ${chainId} and f.address = line.address
      where line.depth < ${MAX_GENERATIONS} and line.address <> all(${PUBLIC}) and (${BY_CREATOR} or ${BY_FUNDER})
    ), partner as (
      select account as address from (
        select account, sent_micro_usd as sent, sum(sent_micro_usd) over () as total, count(*) over () as senders from (
          select account, sent_micro_usd from ahs.contact
          where chain_id = ${chainId} and counterparty between ${WALLET} and ${WALLET} order by counterparty, account limit ${MAX_FUNDERS + 1}
        ) as first
      ) as funder
      where senders <= ${MAX_FUNDERS} and 2 * sent > total and account <> all(${PUBLIC})
    ), family (address, place) as (
      select address, 0::bigint from (select address from line union all select address from partner) as start
      union
      select child.address, child.place
      from family cross join lateral (
        select address, place from (${children(sql`creator`)}) as f
        union all
        select address, place from (${children(sql`first_funder`)}) as f
        where not ${BY_CREATOR} and (family.address <> ${WALLET} or exists (
          select from ahs.contact as back where back.chain_id = ${chainId} and back.counterparty = ${WALLET} and back.account = f.address))
      ) as child
      where family.address <> all(${PUBLIC})
    ), walked as (
      select address, place, row_number() over () as turn from (select * from family limit ${MAX_WALKED + 1}) as first
    ), followed as (
      select ${w.address}, ${w.lastCallAt}, min(walked.turn) as turn
      from walked join ${wallet} ${w} on ${w.address} = walked.address group by 1, 2
    )
    select address, greatest(last_call_at, (
        select c.timestamp from ahs.own_call c where c.chain_id = ${chainId} and c.wallet = followed.address
        order by c.block desc, c.transaction_index desc, c.position desc limit 1
      ))::float8 as "lastCallAt", (count(*) over ())::int as found,
      (select count(*) > ${MAX_WALKED} or bool_or(place > ${MAX_CHILDREN}) from walked) as cut
    from followed order by address <> ${WALLET}, turn limit ${MAX_WALLETS}`;
});
