import type { SQL } from "drizzle-orm";
import type { ClientBase, QueryResultRow } from "pg";
import { type Address, zeroAddress } from "viem";
import { lowerCase } from "../../db/columns.ts";
import { NUMERIC_AS_BIGINT } from "../../db/database.ts";
import { toQuery } from "../../db/statement.ts";
import type { Payment } from "../../model/backing/cost-basis.ts";
import { VETTED_SHARE, WINDOW_DAYS } from "../../model/backing/policy.ts";
import { priceOn } from "../../model/features/market.ts";
import { dayOf, SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { AsOf, TokenList } from "../../model/features/types.ts";
import {
  type Bounded,
  bondsOf,
  feesOf,
  type Prices,
  paymentsOf,
  receiptsOf,
  type SpendingQuery,
  venueFeesOf,
  type WalletCost,
  type WalletReceipt,
} from "./read-spending.sql.ts";

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

/**
 * Reads what followed wallets (lower-case) spent, paid and were paid up to a block, and their bonds. A payment counts if its payee has no
 * code, is followed or is vetted: what goes to any other contract is a swap or a deposit, and still its sender's own money.
 */
export async function readSpending(
  client: ClientBase,
  query: SpendingQuery,
  wallets: readonly Address[],
): Promise<WalletSpending> {
  const reading = { ...query, wallets, prices: pricesOf(query), ...windowOf(query.asOf) };
  const read = async <Row extends QueryResultRow>(statement: SQL): Promise<Row[]> =>
    (await client.query<Row>({ ...NUMERIC_AS_BIGINT, ...toQuery(statement) })).rows;
  const own = new Map<Address, bigint>();
  const fees = await read<WalletCost>(feesOf(reading));
  if (query.accounts.venues.length > 0) fees.push(...(await read<WalletCost>(venueFeesOf(reading))));
  for (const { wallet, microUsd } of fees) own.set(wallet, (own.get(wallet) ?? 0n) + microUsd);
  const payments = await read<Bounded<Payment>>(paymentsOf(reading));
  const vetted = new Set(query.accounts.vettedServices.map(lowerCase));
  for (const { payer, payee, microUsd } of payments) {
    if (!vetted.has(payee)) continue;
    const cost = (VETTED_SHARE.numerator * microUsd) / VETTED_SHARE.denominator;
    own.set(payer, (own.get(payer) ?? 0n) + cost);
  }
  const receipts = await read<Bounded<WalletReceipt>>(receiptsOf(reading));
  // One USDC counts as one US dollar, as it does in prices.
  const available = query.hasBonds ? await read<WalletCost>(bondsOf(reading)) : [];
  const bonds = new Map(available.map(({ wallet, microUsd }) => [wallet, microUsd]));
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

function countLeftOut(rows: readonly Bounded<unknown>[]): number {
  return rows.reduce((sum, { leftOut }) => sum + leftOut, 0);
}
