import type { Address } from "viem";
import type { DailyPrice, TokenList } from "../../model/features/types.ts";

/** A stablecoin of the dollar stays so near to it even in a bad week. */
const PEG_TOLERANCE = 0.05;
const DOLLAR_MICRO_USD = 1_000_000;

/** Tokens that are money: every daily price of theirs is within 5 % of one US dollar, and there is one. */
export function currenciesOf({ tokens }: Pick<TokenList, "tokens">): ReadonlySet<Address> {
  return new Set(tokens.filter(({ prices }) => isPegged(prices)).map(({ address }) => address));
}

function isPegged(prices: readonly DailyPrice[]): boolean {
  return (
    prices.length > 0 &&
    prices.every(([, price]) => Math.abs(price - DOLLAR_MICRO_USD) <= PEG_TOLERANCE * DOLLAR_MICRO_USD)
  );
}

/** Highest over lowest price, less one: 0 of a token that never moved, infinite of one without a price. */
export function spreadOf(prices: readonly DailyPrice[]): number {
  const micros = prices.map(([, price]) => price);
  const lowest = Math.min(...micros);
  return micros.length === 0 || lowest === 0 ? Number.POSITIVE_INFINITY : Math.max(...micros) / lowest - 1;
}
