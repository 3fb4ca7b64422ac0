import type { Address } from "viem";
import { dayOf } from "./time.ts";
import type { DailyPrice, TokenList } from "./types.ts";

/** Worths in millionths of a US dollar at the prices of the day; the amounts of a token in its smallest unit. */
export type Market = {
  /** Null where no feed prices the native coin. */
  readonly nativeWorth: (wei: bigint, timestamp: number) => number | null;
  /** Null where the token is not listed or has no feed; negative for a negative amount. */
  readonly tokenWorth: (token: Address, amount: bigint, timestamp: number) => number | null;
  /** Whether the token is listed, priced or not. */
  readonly isListed: (token: Address) => boolean;
};

type PricedToken = { readonly decimals: number; readonly prices: readonly DailyPrice[] };

/** No token has more; powers of ten are products, which every engine rounds alike. */
const MAX_DECIMALS = 77;
const TENS = powersOfTen();

/** Creates the market of a token list, its tokens in any order. */
export function createMarket(list: TokenList): Market {
  const known = new Map<Address, PricedToken | null>();
  const tokenOf = (address: Address): PricedToken | null => {
    let token = known.get(address);
    if (token === undefined) {
      token = list.tokens.find((listed) => listed.address === address) ?? null;
      known.set(address, token);
    }
    return token;
  };
  return {
    nativeWorth: (wei, timestamp) => worthOf(list.native, wei, timestamp),
    tokenWorth: (address, amount, timestamp) => {
      const token = tokenOf(address);
      return token === null ? null : worthOf(token, amount, timestamp);
    },
    isListed: (address) => tokenOf(address) !== null,
  };
}

function worthOf({ decimals, prices }: PricedToken, amount: bigint, timestamp: number): number | null {
  const price = priceOn(prices, dayOf(timestamp));
  const unit = TENS[decimals];
  if (unit === undefined) throw new RangeError(`expected at most ${MAX_DECIMALS} decimals, got ${decimals}`);
  return price === null ? null : (Number(amount) * price) / unit;
}

/** The last price before the day, which was known when the day began; else the first that there is. */
export function priceOn(prices: readonly DailyPrice[], day: number): number | null {
  let low = 0;
  let high = prices.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = prices[middle];
    if (entry !== undefined && entry[0] < day) low = middle + 1;
    else high = middle;
  }
  const entry = prices[Math.max(0, low - 1)];
  return entry === undefined ? null : entry[1];
}

function powersOfTen(): readonly number[] {
  const powers = [1];
  for (let power = 1; powers.length <= MAX_DECIMALS; ) {
    power *= 10;
    powers.push(power);
  }
  return powers;
}
