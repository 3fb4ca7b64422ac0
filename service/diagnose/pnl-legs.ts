import type { Address } from "viem";
import type { Market } from "../features/market.ts";
import type { DailyPrice, OwnCall, TokenList } from "../features/types.ts";

/** One token that a call brought in or took out. */
export type Leg = {
  readonly token: Address;
  /** Smallest unit, above 0. */
  readonly amount: bigint;
  /** Millionths of a US dollar; null where neither a feed nor the other side of the trade tells it. */
  readonly worth: bigint | null;
};

/** What a call moved: a trade gives something for something, anything else only gives or only gets. */
type CallLegs = {
  readonly kind: "trade" | "transfer";
  readonly given: readonly Leg[];
  readonly got: readonly Leg[];
};

/** Reads the legs of calls; null of a call that moved no token, or whose receipt was not read. */
export type LegReader = (call: OwnCall) => CallLegs | null;

/** One side of a trade: the tokens and, where it was given, the native coin. */
type Side = {
  readonly worths: readonly (bigint | null)[];
  /** Sum of the worths; null where one is not known. */
  readonly worth: bigint | null;
  /** How far the prices of the side move. */
  readonly spread: number;
};

/**
 * Both sides of a trade are worth the same: what the feeds say of the one whose prices move least, else of the one that they
 * price. Native coin that a call returns is in no log of it: such a sale looks like a transfer.
 */
export function createLegReader(list: TokenList, market: Market): LegReader {
  const spreads = new Map(list.tokens.map(({ address, prices }) => [address, spreadOf(prices)]));
  const nativeSpread = spreadOf(list.native.prices);
  const sideOf = (legs: readonly Leg[], native: bigint | null | undefined): Side => {
    const worths = [...legs.map(({ worth }) => worth), ...(native === undefined ? [] : [native])];
    const moving = legs.map(({ token }) => spreads.get(token) ?? Number.POSITIVE_INFINITY);
    return {
      worths,
      worth: sumOf(worths),
      spread: Math.max(native === undefined ? 0 : nativeSpread, ...moving),
    };
  };
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
    if (!isTrade) return { kind: "transfer", given, got };
    const sides = { given: sideOf(given, native), got: sideOf(got, undefined) };
    const worth = tradeWorth(sides.given, sides.got);
    return {
      kind: "trade",
      given: shareOut(given, sides.given, worth),
      got: shareOut(got, sides.got, worth),
    };
  };
}

function tradeWorth(given: Side, got: Side): bigint | null {
  if (given.worth === null) return got.worth;
  if (got.worth === null) return given.worth;
  return given.spread < got.spread ? given.worth : got.worth;
}

/** The worth of a trade over the legs of one side: whole to a single one, else by what the feeds say of each. */
function shareOut(legs: readonly Leg[], side: Side, worth: bigint | null): readonly Leg[] {
  if (worth !== null && side.worths.length === 1) return legs.map((leg) => ({ ...leg, worth }));
  const { worth: total } = side;
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

/** Highest over lowest price, less one: 0 of a token that never moved. */
function spreadOf(prices: readonly DailyPrice[]): number {
  const micros = prices.map(([, price]) => price);
  const lowest = Math.min(...micros);
  return micros.length === 0 || lowest === 0 ? Number.POSITIVE_INFINITY : Math.max(...micros) / lowest - 1;
}

/** Whole millionths of a dollar. */
function toMicros(worth: number | null): bigint | null {
  return worth === null ? null : BigInt(Math.round(worth));
}
