import type { Address } from "viem";
import type { Market } from "../../model/features/market.ts";
import type { DailyPrice, OwnCall, TokenList } from "../../model/features/types.ts";

/** Amount of one token that a call moved in or out. */
export type Leg = {
  readonly token: Address;
  /** Smallest unit, above 0. */
  readonly amount: bigint;
  /** Millionths of a US dollar; null if neither a feed nor the other side of the trade prices it. */
  readonly worth: bigint | null;
};

/** Movements of a call. A trade gives and gets; a transfer only gives or only gets. */
type CallLegs = {
  readonly kind: "trade" | "transfer";
  readonly given: readonly Leg[];
  readonly got: readonly Leg[];
  /** Legs taken for worthless: of a token on no list, beside another of known worth. */
  readonly worthless: number;
};

/** Reads the legs of a call; null if it moved no token or its receipt was not read. */
type LegReader = (call: OwnCall) => CallLegs | null;

/** Ranks money before all tokens: a price paid in money is better than a daily price. */
const MONEY_SPREAD = -1;

/** One side of a trade: tokens and, if given, native coin. */
type Side = {
  readonly legs: readonly Leg[];
  readonly worthless: number;
  /** The tokens and the coin. */
  readonly parts: number;
  /** Sum of the worths; null if one is unknown. */
  readonly worth: bigint | null;
  /** How far the prices of the side move. */
  readonly spread: number;
};

/**
 * Both sides of a trade have equal worth: the feed price of the side with the steadier prices, else of the only priced
 * side. Returned native coin appears in no log, so that such a sale looks like a transfer.
 */
export function createLegReader(list: TokenList, market: Market): LegReader {
  const sideOf = sideReader(list, market);
  return (call) => {
    const moves = call.receipt === null ? [] : call.receipt.moves;
    if (moves.length === 0) return null;
    const legOf = (token: Address, amount: bigint): Leg => ({
      token,
      amount,
      worth: toMicros(market.tokenWorth(token, amount, call.timestamp)),
    });
    const given = moves.filter(({ amount }) => amount < 0n).map((move) => legOf(move.token, -move.amount));
    const got = moves.filter(({ amount }) => amount > 0n).map((move) => legOf(move.token, move.amount));
    const native = call.value > 0n ? toMicros(market.nativeWorth(call.value, call.timestamp)) : undefined;
    const isTrade =
      got.length > 0 && (given.length > 0 || native !== undefined) && call.receipt?.effect !== "wrap";
    if (!isTrade) return { kind: "transfer", given, got, worthless: 0 };
    const sides = { given: sideOf(given, native), got: sideOf(got, undefined) };
    const worth = tradeWorth(sides.given, sides.got);
    return {
      kind: "trade",
      given: shareOut(sides.given, worth),
      got: shareOut(sides.got, worth),
      worthless: sides.given.worthless + sides.got.worthless,
    };
  };
}

/** Reads one side of a trade. `native` is undefined if no coin was given, null if it has no price. */
function sideReader(
  list: TokenList,
  market: Market,
): (legs: readonly Leg[], native: bigint | null | undefined) => Side {
  const money = currenciesOf(list);
  const spreads = new Map(
    list.tokens.map(({ address, prices }) => [address, money.has(address) ? MONEY_SPREAD : spreadOf(prices)]),
  );
  const nativeSpread = spreadOf(list.native.prices);
  return (told, native) => {
    const coins = native === undefined ? [] : [native];
    const isPriced = [...told.map(({ worth }) => worth), ...coins].some((worth) => worth !== null);
    // Otherwise any token that a swap logs besides the bought one would hide its cost.
    const isWorthless = ({ worth, token }: Leg) => isPriced && worth === null && !market.isListed(token);
    const legs = told.map((leg) => (isWorthless(leg) ? { ...leg, worth: 0n } : leg));
    const moving = told
      .filter((leg) => !isWorthless(leg))
      .map(({ token }) => spreads.get(token) ?? Number.POSITIVE_INFINITY);
    return {
      legs,
      worthless: told.filter(isWorthless).length,
      parts: legs.length + coins.length,
      worth: sumOf([...legs.map(({ worth }) => worth), ...coins]),
      spread: Math.max(...(native === undefined ? [] : [nativeSpread]), ...moving),
    };
  };
}

function tradeWorth(given: Side, got: Side): bigint | null {
  if (given.worth === null) return got.worth;
  if (got.worth === null) return given.worth;
  return given.spread < got.spread ? given.worth : got.worth;
}

/** Splits the worth of a trade over the legs of one side by their feed prices; a single leg gets all. */
function shareOut({ legs, parts, worth: total }: Side, worth: bigint | null): readonly Leg[] {
  if (worth !== null && parts === 1) return legs.map((leg) => ({ ...leg, worth }));
  if (worth === null || total === null || total === 0n) return legs.map((leg) => ({ ...leg, worth: null }));
  return legs.map((leg) => ({ ...leg, worth: leg.worth === null ? null : (worth * leg.worth) / total }));
}

function sumOf(worths: readonly (bigint | null)[]): bigint | null {
  let sum = 0n;
  for (const worth of worths) {
    if (worth === null) return null;
    sum += worth;
  }
  return sum;
}

/** Whole millionths of a dollar. */
function toMicros(worth: number | null): bigint | null {
  return worth === null ? null : BigInt(Math.round(worth));
}

/** A stablecoin of the dollar stays so near to it even in a bad week. */
const PEG_TOLERANCE = 0.05;
const DOLLAR_MICRO_USD = 1_000_000;

/** Tokens that count as money: they have daily prices, all within 5 % of one US dollar. */
export function currenciesOf({ tokens }: Pick<TokenList, "tokens">): ReadonlySet<Address> {
  return new Set(tokens.filter(({ prices }) => isPegged(prices)).map(({ address }) => address));
}

function isPegged(prices: readonly DailyPrice[]): boolean {
  return (
    prices.length > 0 &&
    prices.every(([, price]) => Math.abs(price - DOLLAR_MICRO_USD) <= PEG_TOLERANCE * DOLLAR_MICRO_USD)
  );
}

/** Highest over lowest price, minus 1: 0 for a constant price, infinite without prices. */
function spreadOf(prices: readonly DailyPrice[]): number {
  const micros = prices.map(([, price]) => price);
  const lowest = Math.min(...micros);
  return micros.length === 0 || lowest === 0 ? Number.POSITIVE_INFINITY : Math.max(...micros) / lowest - 1;
}
