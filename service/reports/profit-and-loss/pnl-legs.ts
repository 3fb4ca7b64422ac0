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

/** Ranks money before all tokens: a price paid in money is better than a daily price. */
const MONEY_SPREAD = -1;

type Side = ReturnType<ReturnType<typeof sideReader>>;

/**
 * Reads the movements of a call; null if it moved no token or its receipt was not read. A trade gives and gets; a transfer
 * only gives or only gets. `worthless` counts legs of a token on no list, beside another of known worth.
 * Both sides of a trade have equal worth: the feed price of the side with the steadier prices, else of the only priced
 * side. Returned native coin appears in no log, so that such a sale looks like a transfer.
 */
export function createLegReader(list: TokenList, market: Market) {
  const sideOf = sideReader(list, market);
  return (call: OwnCall) => {
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
    if (!isTrade) return { kind: "transfer" as const, given, got, worthless: 0 };
    const sides = { given: sideOf(given, native), got: sideOf(got, undefined) };
    const worth = tradeWorth(sides.given, sides.got);
    return {
      kind: "trade" as const,
      given: shareOut(sides.given, worth),
      got: shareOut(sides.got, worth),
      worthless: sides.given.worthless + sides.got.worthless,
    };
  };
}

/** Reads one side of a trade. `native` is undefined if no coin was given, null if it has no price. */
function sideReader(list: TokenList, market: Market) {
  const money = currenciesOf(list);
  const spreads = new Map(
    list.tokens.map(({ address, prices }) => [address, money.has(address) ? MONEY_SPREAD : spreadOf(prices)]),
  );
  const nativeSpread = spreadOf(list.native.prices);
  return (read: readonly Leg[], native: bigint | null | undefined) => {
    const coins = native === undefined ? [] : [native];
    const isPriced = [...read.map(({ worth }) => worth), ...coins].some((worth) => worth !== null);
    // Otherwise any token that a swap logs besides the bought one would hide its cost.
    const isWorthless = ({ worth, token }: Leg) => isPriced && worth === null && !market.isListed(token);
    const legs = read.map((leg) => (isWorthless(leg) ? { ...leg, worth: 0n } : leg));
    const moving = read
      .filter((leg) => !isWorthless(leg))
      .map(({ token }) => spreads.get(token) ?? Number.POSITIVE_INFINITY);
    return {
      legs,
      worthless: read.filter(isWorthless).length,
      /** The tokens and the coin. */
      parts: legs.length + coins.length,
      /** Null if one worth is unknown. */
      worth: sumOf([...legs.map(({ worth }) => worth), ...coins]),
      /** How far the prices of the side move. */
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
  return worths.reduce<bigint | null>(
    (sum, worth) => (sum === null || worth === null ? null : sum + worth),
    0n,
  );
}

function toMicros(worth: number | null): bigint | null {
  return worth === null ? null : BigInt(Math.round(worth));
}

/** A stablecoin of the dollar stays so near to it even in a bad week. */
const PEG_TOLERANCE = 0.05;
const DOLLAR_MICRO_USD = 1_000_000;

/** Tokens that count as money: they have daily prices, all within 5 % of one US dollar. */
export function currenciesOf({ tokens }: Pick<TokenList, "tokens">): ReadonlySet<Address> {
  const isPegged = ([, price]: DailyPrice) =>
    Math.abs(price - DOLLAR_MICRO_USD) <= PEG_TOLERANCE * DOLLAR_MICRO_USD;
  const pegged = tokens.filter(({ prices }) => prices.length > 0 && prices.every(isPegged));
  return new Set(pegged.map(({ address }) => address));
}

/** Highest over lowest price, minus 1: 0 for a constant price, infinite without prices. */
function spreadOf(prices: readonly DailyPrice[]): number {
  const micros = prices.map(([, price]) => price);
  const lowest = Math.min(...micros);
  return micros.length === 0 || lowest === 0 ? Number.POSITIVE_INFINITY : Math.max(...micros) / lowest - 1;
}
