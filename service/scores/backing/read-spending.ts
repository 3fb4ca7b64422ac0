import type { ClientBase } from "pg";
import { type Address, zeroAddress } from "viem";
import { addressesIn, type ChainFacts } from "../../chain/deployments.ts";
import { lowerCase } from "../../db/columns.ts";
import { NUMERIC_AS_BIGINT } from "../../db/database.ts";
import type { Payment } from "../../model/backing/cost-basis.ts";
import type { Receipt } from "../../model/backing/seller-profile.ts";
import { priceOn } from "../../model/features/market.ts";
import { dayOf, SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, TokenList } from "../../model/features/types.ts";

/** Days of chain time whose costs and payments count. */
const WINDOW_DAYS = 180;
/** ρ = 3/10: the part of a payment to a vetted service that is a cost; some of such payments come back as resale or kickback. */
const VETTED_SHARE = { numerator: 3n, denominator: 10n } as const;

/** Costs and payments of followed wallets over the window, in millionths of a US dollar. */
export type WalletSpending = {
  readonly own: Map<Address, bigint>;
  /** By the wallets; those to accounts that are left out for their number are one payment to the zero address. */
  readonly payments: Payment[];
  /** To the wallets, those of one payer in one week together. */
  readonly receipts: WalletReceipt[];
  /** The part of each bond that is neither committed to a job nor unbonding. */
  readonly bonds: Map<Address, bigint>;
  /** Payments and receipts left out for their number. */
  leftOut: number;
};

export type WalletReceipt = Receipt & {
  readonly payee: Address;
  /** The part of it within the last day of the window. */
  readonly lastDayMicroUsd: bigint;
};

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

/**
 * Reads what followed wallets (lower-case) spent, paid and were paid up to a block, and their bonds. A payment counts if its payee has no
 * code, is followed or is vetted: what goes to any other contract is a swap or a deposit, and still its sender's own money.
 */
export async function readSpending(
  client: ClientBase,
  query: SpendingQuery,
  wallets: readonly Address[],
): Promise<WalletSpending> {
  const prices = pricesOf(query);
  const own = await readFees(client, { ...query, wallets, prices });
  for (const { wallet, microUsd } of await readVenueFees(client, { ...query, wallets, prices }))
    own.set(wallet, (own.get(wallet) ?? 0n) + microUsd);
  const payments = await readPayments(client, { ...query, wallets, prices });
  const vetted = new Set(query.accounts.vettedServices.map(lowerCase));
  for (const { payer, payee, microUsd } of payments) {
    if (!vetted.has(payee)) continue;
    const cost = (VETTED_SHARE.numerator * microUsd) / VETTED_SHARE.denominator;
    own.set(payer, (own.get(payer) ?? 0n) + cost);
  }
  const receipts = await readReceipts(client, { ...query, wallets, prices });
  const bonds = await readBonds(client, query, wallets);
  return { own, payments, receipts, bonds, leftOut: countLeftOut(payments) + countLeftOut(receipts) };
}

/** The window of a block: its first moment, and the moment a day before its end, in Unix seconds. */
export function windowOf({ timestamp }: Pick<AsOf, "timestamp">) {
  return { since: timestamp - WINDOW_DAYS * SECONDS_PER_DAY, lastDay: timestamp - SECONDS_PER_DAY };
}

/** Whether the native coin has a price, without which no cost is known. */
export function isPriced({ native }: TokenList): boolean {
  return native.prices.length > 0;
}

/** Price of each token on each day of the window; the native coin is the zero address. Units are powers of ten as digits. */
type Prices = {
  readonly tokens: string[];
  readonly days: number[];
  readonly prices: number[];
  readonly units: string[];
};

type Reading = SpendingQuery & { readonly wallets: readonly Address[]; readonly prices: Prices };

function pricesOf({ asOf, tokens }: SpendingQuery): Prices {
  const all: Prices = { tokens: [], days: [], prices: [], units: [] };
  for (const token of [{ ...tokens.native, address: zeroAddress }, ...tokens.tokens]) {
    for (let day = dayOf(windowOf(asOf).since); day <= dayOf(asOf.timestamp); day += 1) {
      const price = priceOn(token.prices, day);
      if (price === null) continue;
      all.tokens.push(token.address);
      all.days.push(day);
      all.prices.push(price);
      all.units.push(`1${"0".repeat(token.decimals)}`);
    }
  }
  return all;
}

/** First parameters of every statement: the chain, the wallets, the last block, the first moment and the prices. */
const PRICED = `
  price as materialized (
    select * from unnest($5::text[], $6::int[], $7::numeric[], $8::numeric[]) as one (token, day, price, unit))`;

function parametersOf({ chainId, wallets, asOf, prices }: Reading) {
  const { tokens, days, prices: list, units } = prices;
  return [chainId, wallets, asOf.blockNumber, windowOf(asOf).since, tokens, days, list, units];
}

/**
 * Fees of own transactions by wallet. Executions of smart accounts and Safes are left out: others sent them, and the payment to a
 * bundler can come back.
 */
async function readFees(client: ClientBase, reading: Reading): Promise<Map<Address, bigint>> {
  const { rows } = await client.query<{ wallet: Address; microUsd: bigint }>({
    ...NUMERIC_AS_BIGINT,
    text: `
      with ${PRICED}, spent as (
        select wallet, (timestamp / 86400)::int as day, sum(fee_wei + coalesce(l1_fee_wei, 0)) as wei from ahs.own_call
        where chain_id = $1 and wallet = any($2::text[]) and block <= $3 and timestamp >= $4
          and origin = 'transaction' and position = 0
        group by 1, 2)
      select wallet, sum(div(wei * price, unit)) as "microUsd"
      from spent join price on token = '${zeroAddress}' and price.day = spent.day group by wallet`,
    values: parametersOf(reading),
  });
  return new Map(rows.map(({ wallet, microUsd }) => [wallet, microUsd]));
}

/**
 * Fees of swaps at listed venues, by wallet and venue: of what a call gave while it brought a listed token. A call that brings none,
 * such as a deposit, costs no such fee.
 */
async function readVenueFees(client: ClientBase, reading: Reading) {
  const { venues } = reading.accounts;
  if (venues.length === 0) return [];
  const { rows } = await client.query<{ wallet: Address; microUsd: bigint }>({
    ...NUMERIC_AS_BIGINT,
    text: `
      with ${PRICED}, venue as (
        select * from unnest($9::text[], $10::numeric[]) as one (address, bps)
      ), call as (
        select wallet, "to", value, moves, (timestamp / 86400)::int as day from ahs.own_call
        where chain_id = $1 and wallet = any($2::text[]) and block <= $3 and timestamp >= $4
          and origin = 'transaction' and position = 0 and ok and "to" = any($9::text[])
          and exists (select from unnest(moves) move where split_part(move, ':', 1) = any($5::text[])
            and split_part(move, ':', 2) not like '-%')
      ), given as (
        select wallet, "to", day, split_part(move, ':', 1) as token, -split_part(move, ':', 2)::numeric as amount
        from call cross join unnest(moves) move where split_part(move, ':', 2) like '-%'
        union all
        select wallet, "to", day, '${zeroAddress}', value from call where value > 0)
      select wallet, sum(div(amount * price * bps, unit * 10000)) as "microUsd"
      from given join venue on venue.address = given."to" join price using (token, day) group by wallet`,
    values: [
      ...parametersOf(reading),
      venues.map((venue) => lowerCase(venue.address)),
      venues.map(({ feeBps }) => feeBps),
    ],
  });
  return rows;
}

/** A row, and how many were left out beside it. */
type Bounded<Row> = Row & { readonly leftOut: number };

function countLeftOut(rows: readonly Bounded<unknown>[]): number {
  return rows.reduce((sum, { leftOut }) => sum + leftOut, 0);
}

/** Addresses whose payments are withdrawals of their customers' own money. */
function fundersOf({ publicFunders, mixers }: ChainFacts["accounts"]): readonly Address[] {
  return [zeroAddress, ...addressesIn(publicFunders), ...addressesIn(mixers)];
}

function followedSql(chainId: number, account: string): string {
  return `exists (select from "chain_${chainId}".wallet w where w.address = ${account} and w.followed_block <= $3)`;
}

async function readPayments(client: ClientBase, reading: Reading): Promise<Bounded<Payment>[]> {
  const { rows } = await client.query<Bounded<Payment>>({
    ...NUMERIC_AS_BIGINT,
    text: `
      with ${PRICED}, moved as (
        select "from", "to", token, (timestamp / 86400)::int as day, sum(amount) as amount from ahs.enrich_transfer
        where chain_id = $1 and "from" = any($2::text[]) and block <= $3 and timestamp >= $4
          and standard in ('native', 'erc20') and token = any($5::text[]) and amount > 0
          and "from" <> "to" and "to" <> '${zeroAddress}' and "from" <> all($9::text[])
        group by 1, 2, 3, 4
      ), paid as (
        select "from", "to", sum(div(amount * price, unit)) as worth from moved join price using (token, day) group by 1, 2
      ), ranked as (
        select "from", "to", worth, row_number() over (order by worth desc, "from", "to") as place from paid
        left join ahs.account_fact f on f.chain_id = $1 and f.address = "to"
        where worth > 0 and (f.has_code is not true or "to" = any($10::text[]) or ${followedSql(reading.chainId, '"to"')}))
      select "from" as payer, case when place <= $11 then "to" else '${zeroAddress}' end as payee, sum(worth) as "microUsd",
        (count(*) filter (where place > $11))::int as "leftOut"
      from ranked group by 1, 2`,
    values: [
      ...parametersOf(reading),
      fundersOf(reading.accounts),
      reading.accounts.vettedServices.map(lowerCase),
      reading.most,
    ],
  });
  return rows;
}

/** Transfers by a contract within the wallet's own call are a swap or a withdrawal; those in calls of others are payments. */
async function readReceipts(client: ClientBase, reading: Reading): Promise<Bounded<WalletReceipt>[]> {
  const { rows } = await client.query<Bounded<WalletReceipt>>({
    ...NUMERIC_AS_BIGINT,
    text: `
      with ${PRICED}, moved as (
        select "from", "to", token, (timestamp / 86400)::int as day, coalesce(sender = "to", false) as pulled,
          sum(amount) as amount, sum(amount) filter (where timestamp > $10) as late
        from ahs.enrich_transfer
        where chain_id = $1 and "to" = any($2::text[]) and block <= $3 and timestamp >= $4
          and standard in ('native', 'erc20') and token = any($5::text[]) and amount > 0
          and "from" <> "to" and "from" <> all($9::text[])
        group by 1, 2, 3, 4, 5
      ), paid as (
        select "from", "to", (day + 3) / 7 as week, sum(div(amount * price, unit)) as worth,
          coalesce(sum(div(late * price, unit)), 0) as late
        from moved join price using (token, day)
        left join ahs.account_fact f on f.chain_id = $1 and f.address = "from"
        where not pulled or f.has_code is false or ${followedSql(reading.chainId, '"from"')}
        group by 1, 2, 3)
      select "from" as payer, "to" as payee, week, worth as "microUsd", late as "lastDayMicroUsd",
        case when row_number() over (order by worth desc) = 1 then greatest(count(*) over () - $11, 0) else 0 end::int as "leftOut"
      from paid where worth > 0 order by worth desc, "from", "to" limit $11`,
    values: [
      ...parametersOf(reading),
      fundersOf(reading.accounts),
      windowOf(reading.asOf).lastDay,
      reading.most,
    ],
  });
  return rows;
}

/** Available bonds. One USDC counts as one US dollar, as it does in prices. */
async function readBonds(
  client: ClientBase,
  { chainId, asOf, hasBonds }: SpendingQuery,
  wallets: readonly Address[],
): Promise<Map<Address, bigint>> {
  if (!hasBonds) return new Map();
  const { rows } = await client.query<{ wallet: Address; microUsd: bigint }>({
    ...NUMERIC_AS_BIGINT,
    text: `
      select wanted.wallet, newest.available as "microUsd" from unnest($1::text[]) as wanted (wallet)
      cross join lateral (
        select available from "chain_${chainId}".bond_change
        where wallet = wanted.wallet and block <= $2 order by block desc limit 1
      ) as newest
      where newest.available > 0`,
    values: [wallets, asOf.blockNumber],
  });
  return new Map(rows.map(({ wallet, microUsd }) => [wallet, microUsd]));
}
