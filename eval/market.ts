import type { Address } from "viem";
import type { Random } from "../devnet/population/random.ts";
import type { DailyPrice, ListedToken, TokenList } from "../service/model/features/types.ts";
import { newAddress } from "./addresses.ts";
import { gaussian } from "./draw.ts";

const DAY = 86_400;
const HOUR = 3_600;
const GWEI = 1e9;

export type MarketToken = { readonly address: Address; readonly decimals: number };

/** Prices of a simulated world, and the gas prices of its blocks. */
export type Market = {
  readonly list: TokenList;
  readonly usdc: MarketToken;
  readonly wrapped: MarketToken;
  /** Listed and priced, apart from the two above. */
  readonly majors: readonly MarketToken[];
  /** Real tokens that are on no list. */
  readonly unlisted: readonly MarketToken[];
  /** Wei per gas that the block's base fee and median tip make. */
  gasPriceAt(time: number): number;
  /** Units of the token that are worth so many dollars; for an unlisted token, of a nominal price of one cent. */
  unitsOf(token: MarketToken, usd: number, time: number): bigint;
  /** Wei that are worth so many dollars. */
  weiOf(usd: number, time: number): bigint;
};

/** A market of `days` days from a start: prices walk by day, the base fee by hour with now and then a rush. */
export function createMarket(
  random: Random,
  { start, days }: { readonly start: number; readonly days: number },
): Market {
  const firstDay = Math.floor(start / DAY) - 1;
  const walk = (price: number, volatility: number): readonly DailyPrice[] => {
    let current = price;
    return Array.from({ length: days + 2 }, (_, i) => {
      current *= Math.exp(volatility * gaussian(random));
      return [firstDay + i, Math.round(current * 1e6)] as const;
    });
  };
  const eth = walk(random.between(2_000, 4_500), 0.03);
  const token = (symbol: string, decimals: number, prices: readonly DailyPrice[]): ListedToken => ({
    address: newAddress(random),
    symbol,
    decimals,
    prices,
  });
  const usdc = token("USDC", 6, walk(1, 0.0002));
  const wrapped = token("WETH", 18, eth);
  const majors = [
    token("BTC", 8, walk(90_000, 0.025)),
    token("DEX", 18, walk(1.2, 0.05)),
    token("LEND", 18, walk(40, 0.04)),
  ];
  const unlisted = Array.from({ length: 12 }, () => ({ address: newAddress(random), decimals: 18 }));
  const listed = [usdc, wrapped, ...majors];
  const prices = new Map(listed.map(({ address, prices: own }) => [address, own]));
  const gas = hourlyGas(random, days);
  const priceOf = (own: readonly DailyPrice[], time: number): number => {
    const entry = own[Math.min(own.length - 1, Math.max(0, Math.floor(time / DAY) - 1 - firstDay))];
    if (entry === undefined) throw new RangeError(`no price at ${time}`);
    return entry[1] / 1e6;
  };
  return {
    list: {
      native: { symbol: "ETH", decimals: 18, prices: eth },
      tokens: listed.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
    },
    usdc,
    wrapped,
    majors,
    unlisted,
    gasPriceAt: (time) => {
      const hour = gas[Math.min(gas.length - 1, Math.max(0, Math.floor((time - start) / HOUR)))];
      if (hour === undefined) throw new RangeError(`no gas price at ${time}`);
      return hour;
    },
    unitsOf: ({ address, decimals }, usd, time) => {
      const own = prices.get(address);
      return toUnits(usd / (own === undefined ? 0.01 : priceOf(own, time)), decimals);
    },
    weiOf: (usd, time) => toUnits(usd / priceOf(eth, time), 18),
  };
}

/** Wei per gas by hour: around 0.02 gwei, busier by day, with rushes of some hours that cost 3 to 30 times as much. */
function hourlyGas(random: Random, days: number): readonly number[] {
  let level = 0;
  let rush = 1;
  return Array.from({ length: (days + 1) * 24 }, (_, hour) => {
    level = 0.95 * level + 0.12 * gaussian(random);
    if (random.chance(0.004)) rush = random.between(3, 30);
    else rush = 1 + (rush - 1) * 0.6;
    const daily = 1 + 0.3 * Math.sin(((hour % 24) / 24) * 2 * Math.PI);
    return Math.round(0.02 * GWEI * Math.exp(level) * daily * rush);
  });
}

function toUnits(amount: number, decimals: number): bigint {
  // Nine digits are enough for what is moved, and keep the product an exact integer.
  return (BigInt(Math.round(amount * 1e9)) * 10n ** BigInt(decimals)) / 1_000_000_000n;
}
