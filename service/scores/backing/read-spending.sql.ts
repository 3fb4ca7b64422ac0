/**
 * Sums over half a year of the payments of a batch of wallets, in the database: the builder has no unnest of parallel arrays, by which
 * the prices enter, and a row for each payment would be too many. Times are in Unix seconds.
 */
import { type SQL, sql } from "drizzle-orm";
import { type Address, zeroAddress } from "viem";
import { addressesIn, type ChainFacts } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import { indexOf } from "../../db/index-tables.ts";
import type { Receipt } from "../../model/backing/seller-profile.ts";
import type { AsOf, TokenList } from "../../model/features/types.ts";

/** Values that the statements of one pass have in common. */
export type SpendingQuery = {
  readonly chainId: number;
  readonly asOf: AsOf;
  readonly tokens: TokenList;
  readonly accounts: ChainFacts["accounts"];
  /** False for an index that older code built. */
  readonly hasBonds: boolean;
  /** Rows of each kind that one statement returns at most, the largest. */
  readonly most: number;
};

/** Price of each token on each day of the window; the native coin is the zero address. Units are powers of ten as digits. */
export type Prices = {
  readonly tokens: string[];
  readonly days: number[];
  readonly prices: number[];
  readonly units: string[];
};

type Reading = SpendingQuery & {
  readonly wallets: readonly Address[];
  readonly prices: Prices;
  /** The first moment of the window, and the moment a day before its end. */
  readonly since: number;
  readonly lastDay: number;
};

export type WalletCost = { readonly wallet: Address; readonly microUsd: bigint };

export type WalletReceipt = Receipt & {
  readonly payee: Address;
  /** The part of it within the last day of the window. */
  readonly lastDayMicroUsd: bigint;
};

/** A row, and how many were left out beside it. */
export type Bounded<Row> = Row & { readonly leftOut: number };

const NATIVE = sql.raw(`'${zeroAddress}'`);
const DAY = sql.raw("(timestamp / 86400)::int as day");

function priceTable({ tokens, days, prices, units }: Prices): SQL {
  return sql`price as materialized (
    select * from unnest(${sql.param(tokens)}::text[], ${sql.param(days)}::int[], ${sql.param(prices)}::numeric[],
      ${sql.param(units)}::numeric[]) as one (token, day, price, unit))`;
}

/** Own transactions of the wallets. Executions of smart accounts and Safes are left out: others sent them. */
function isOwn({ chainId, wallets, asOf, since }: Reading): SQL {
  return sql`chain_id = ${chainId} and wallet = any(${sql.param(wallets)}::text[]) and block <= ${asOf.blockNumber}
    and timestamp >= ${since} and origin = 'transaction' and position = 0`;
}

/** Fees of own transactions by wallet; a payment to a bundler can come back, so it does not count. */
export function feesOf(reading: Reading): SQL {
  return sql`
    with ${priceTable(reading.prices)}, spent as (
      select wallet, ${DAY}, sum(fee_wei + coalesce(l1_fee_wei, 0)) as wei from ahs.own_call
      where ${isOwn(reading)} group by 1, 2)
    select wallet, sum(div(wei * price, unit)) as "microUsd"
    from spent join price on token = ${NATIVE} and price.day = spent.day group by wallet`;
}

/**
 * Fees of swaps at listed venues by wallet: of what a call gave while it brought a listed token. A call that brings none, such as a
 * deposit, costs no such fee.
 */
export function venueFeesOf(reading: Reading): SQL {
  const { venues } = reading.accounts;
  const addresses = sql.param(venues.map((venue) => lowerCase(venue.address)));
  const bps = sql.param(venues.map(({ feeBps }) => feeBps));
  return sql`
    with ${priceTable(reading.prices)}, venue as (
      select * from unnest(${addresses}::text[], ${bps}::numeric[]) as one (address, bps)
    ), call as (
      select wallet, "to", value, moves, ${DAY} from ahs.own_call
      where ${isOwn(reading)} and ok and "to" = any(${addresses}::text[])
        and exists (select from unnest(moves) move where split_part(move, ':', 1) = any(${sql.param(reading.prices.tokens)}::text[])
          and split_part(move, ':', 2) not like '-%')
    ), given as (
      select wallet, "to", day, split_part(move, ':', 1) as token, -split_part(move, ':', 2)::numeric as amount
      from call cross join unnest(moves) move where split_part(move, ':', 2) like '-%'
      union all
      select wallet, "to", day, ${NATIVE}, value from call where value > 0)
    select wallet, sum(div(amount * price * bps, unit * 10000)) as "microUsd"
    from given join venue on venue.address = given."to" join price using (token, day) group by wallet`;
}

/** Transfers of priced tokens within the window, without those of an account to itself and from the funders of many. */
function isPayment({ chainId, asOf, since, prices, accounts }: Reading): SQL {
  return sql`chain_id = ${chainId} and block <= ${asOf.blockNumber} and timestamp >= ${since}
    and standard in ('native', 'erc20') and token = any(${sql.param(prices.tokens)}::text[]) and amount > 0
    and "from" <> "to" and "from" <> all(${sql.param(fundersOf(accounts))}::text[])`;
}

/** Addresses whose payments are withdrawals of their customers' own money. */
function fundersOf({ publicFunders, mixers }: ChainFacts["accounts"]): readonly Address[] {
  return [zeroAddress, ...addressesIn(publicFunders), ...addressesIn(mixers)];
}

function isFollowed({ chainId, asOf }: Reading, account: SQL): SQL {
  const { wallet } = indexOf(chainId);
  return sql`exists (select from ${wallet} where ${wallet.address} = ${account} and ${wallet.followedBlock} <= ${asOf.blockNumber})`;
}

/** Payments by payer and payee; those beyond the most of one statement are one to the zero address for each payer. */
export function paymentsOf(reading: Reading): SQL {
  const { chainId, wallets, accounts, most } = reading;
  const vetted = sql.param(accounts.vettedServices.map(lowerCase));
  return sql`
    with ${priceTable(reading.prices)}, moved as (
      select "from", "to", token, ${DAY}, sum(amount) as amount from ahs.enrich_transfer
      where "from" = any(${sql.param(wallets)}::text[]) and "to" <> ${NATIVE} and ${isPayment(reading)}
      group by 1, 2, 3, 4
    ), paid as (
      select "from", "to", sum(div(amount * price, unit)) as worth from moved join price using (token, day) group by 1, 2
    ), ranked as (
      select "from", "to", worth, row_number() over (order by worth desc, "from", "to") as place from paid
      left join ahs.account_fact f on f.chain_id = ${chainId} and f.address = "to"
      where worth > 0 and (f.has_code is not true or "to" = any(${vetted}::text[]) or ${isFollowed(reading, sql`"to"`)}))
    select "from" as payer, case when place <= ${most} then "to" else ${NATIVE} end as payee, sum(worth) as "microUsd",
      (count(*) filter (where place > ${most}))::int as "leftOut"
    from ranked group by 1, 2`;
}

/** Receipts by week. Transfers by a contract within the wallet's own call are a swap or a withdrawal; those in calls of others are payments. */
export function receiptsOf(reading: Reading): SQL {
  const { chainId, wallets, lastDay, most } = reading;
  return sql`
    with ${priceTable(reading.prices)}, moved as (
      select "from", "to", token, ${DAY}, coalesce(sender = "to", false) as pulled,
        sum(amount) as amount, sum(amount) filter (where timestamp > ${lastDay}) as late
      from ahs.enrich_transfer
      where "to" = any(${sql.param(wallets)}::text[]) and ${isPayment(reading)}
      group by 1, 2, 3, 4, 5
    ), paid as (
      select "from", "to", (day + 3) / 7 as week, sum(div(amount * price, unit)) as worth,
        coalesce(sum(div(late * price, unit)), 0) as late
      from moved join price using (token, day)
      left join ahs.account_fact f on f.chain_id = ${chainId} and f.address = "from"
      where not pulled or f.has_code is false or ${isFollowed(reading, sql`"from"`)}
      group by 1, 2, 3)
    select "from" as payer, "to" as payee, week, worth as "microUsd", late as "lastDayMicroUsd",
      case when row_number() over (order by worth desc) = 1 then greatest(count(*) over () - ${most}, 0) else 0 end::int as "leftOut"
    from paid where worth > 0 order by worth desc, "from", "to" limit ${most}`;
}

/** Available bonds of the wallets at a block, one index row each. One USDC counts as one US dollar, as it does in prices. */
export function bondsOf({ chainId, asOf, wallets }: Pick<Reading, "chainId" | "asOf" | "wallets">): SQL {
  const { bondChange } = indexOf(chainId);
  const { wallet, block, available } = bondChange;
  return sql`
    select wanted.wallet, newest.available as "microUsd" from unnest(${sql.param(wallets)}::text[]) as wanted (wallet)
    cross join lateral (
      select ${available} from ${bondChange}
      where ${wallet} = wanted.wallet and ${block} <= ${asOf.blockNumber} order by ${block} desc limit 1
    ) as newest
    where newest.available > 0`;
}
