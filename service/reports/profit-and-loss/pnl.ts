import type { Address } from "viem";
import { createMarket, type Market } from "../../model/features/market.ts";
import type { AsOf, DailyPrice, OwnCall, TokenList, WalletRows } from "../../model/features/types.ts";
import { readPaidWindow, sumMoney } from "../diagnosis/report-facts.ts";
import { type LedgerKeeper, type Leg, openLedger, type TokenLedger } from "./pnl-ledger.ts";

export type Pnl = ReturnType<typeof profitAndLoss>;

/** Profit and loss with one token; money in millionths of a US dollar. */
export type TokenPnl = ReturnType<typeof toToken>;

/**
 * Computes realised gains by lots, first in, first out. A token costs what was given for it, else its worth on arrival.
 * It is sold for what the trade returned. Payments and deposits leave at cost and return from the same contract at that
 * cost. Own calls before the last `days` are ignored.
 */
export function profitAndLoss({ rows, asOf }: { rows: WalletRows; asOf: AsOf }, days: number) {
  const market = createMarket(rows.tokens);
  const readLegs = createLegReader(rows.tokens, market);
  const currencies = currenciesOf(rows.tokens);
  const ledgers = new Map<Address, LedgerKeeper>();
  const ledgerOf = ({ token }: Leg): LedgerKeeper => {
    const ledger = ledgers.get(token) ?? openLedger({ isCurrency: currencies.has(token) });
    ledgers.set(token, ledger);
    return ledger;
  };
  /**
   * unreadReceipts: successful calls whose movements are unknown. worthlessLegs: legs of unlisted tokens counted as
   * worthless, since the rest of their side has a price.
   */
  const counts = { trades: 0, unreadReceipts: 0, worthlessLegs: 0 };
  const paid = readPaidWindow({ rows, asOf, market }, days);
  for (const { call } of paid.calls) {
    if (call.ok && call.receipt === null) counts.unreadReceipts += 1;
    const legs = readLegs(call);
    if (legs === null) continue;
    counts.worthlessLegs += legs.worthless;
    if (legs.kind === "trade") {
      counts.trades += 1;
      for (const leg of legs.given) ledgerOf(leg).sell(leg);
      for (const leg of legs.got) ledgerOf(leg).buy(leg);
    } else {
      for (const leg of legs.given) ledgerOf(leg).send(leg, call.recipient ?? call.to);
      for (const leg of legs.got) ledgerOf(leg).receive(leg, call.to);
    }
  }
  const tokens = [...ledgers]
    .map(([token, ledger]) =>
      toToken(ledger.close(), { token, isCurrency: currencies.has(token), rows, market, asOf }),
    )
    .sort(byResult);
  const { microUsd } = sumMoney(paid.calls.map(({ fee }) => fee));
  return {
    /** By absolute realised result, largest first. */
    tokens,
    ...counts,
    /** Paid for all its calls, at the prices of their days; null where no feed prices the native coin. */
    fees: microUsd === null ? null : BigInt(microUsd),
    ...totalsOf(tokens),
  };
}

function toToken(
  ledger: TokenLedger,
  {
    token,
    isCurrency,
    rows,
    market,
    asOf,
  }: { token: Address; isCurrency: boolean; rows: WalletRows; market: Market; asOf: AsOf },
) {
  const listed = rows.tokens.tokens.find(({ address }) => address === token);
  let held = 0n;
  let known = 0n;
  let cost: bigint | null = null;
  for (const lot of ledger.lots) {
    held += lot.amount;
    if (lot.cost === null) continue;
    known += lot.amount;
    cost = (cost ?? 0n) + lot.cost;
  }
  const priced =
    cost === null ? null : worthOf(known, ledger, market.tokenWorth(token, known, asOf.timestamp));
  return {
    ...ledger,
    token,
    /** Whether it is money: no sale, cost or result of its own. */
    isCurrency,
    /** Null where no list knows the token. */
    symbol: listed?.symbol ?? null,
    decimals: listed?.decimals ?? null,
    held,
    /** Cost and current worth of the parts with known cost; null if unknown. */
    cost,
    worth: priced === null ? null : priced.worth,
    pricedBy: priced === null ? null : priced.by,
    unrealised: priced === null || cost === null ? null : priced.worth - cost,
  };
}

function worthOf(
  amount: bigint,
  { lastTrade }: TokenLedger,
  byFeed: number | null,
): { worth: bigint; by: "feed" | "own_trade" } | null {
  if (byFeed !== null) return { worth: BigInt(Math.round(byFeed)), by: "feed" };
  return lastTrade === null
    ? null
    : { worth: (lastTrade.worth * amount) / lastTrade.amount, by: "own_trade" };
}

function totalsOf(tokens: readonly TokenPnl[]) {
  const count = (of: (token: TokenPnl) => number) => tokens.reduce((sum, token) => sum + of(token), 0);
  const sales = count((token) => token.sales);
  const wins = count((token) => token.wins);
  const losses = count((token) => token.losses);
  const legs = count((token) => token.legs);
  // The price of an own trade is arbitrary.
  const byFeed = tokens.filter(({ pricedBy }) => pricedBy === "feed");
  const isHeld = tokens.some(({ held, isCurrency }) => held > 0n && !isCurrency);
  return {
    /** 0 where nothing was sold; null where something was and no gain of it is known. */
    realised: knownSum(
      tokens.map(({ realised }) => realised),
      sales === 0,
    ),
    /** Of tokens with a feed price; 0 if nothing is held, null if nothing held has both a known cost and such a price. */
    unrealised: knownSum(
      byFeed.map(({ unrealised }) => unrealised),
      !isHeld,
    ),
    sales,
    wins,
    losses,
    /** Wins among wins and losses; null without any. */
    winRate: wins + losses === 0 ? null : wins / (wins + losses),
    returns: count((token) => token.returns),
    /** Share of purchases and sales with an unknown price or cost; null without any. */
    unpricedShare: legs === 0 ? null : count((token) => token.unpricedLegs) / legs,
  };
}

/** Sum of the known parts. Without any it is 0 if there is nothing to know, else null. */
function knownSum(parts: readonly (bigint | null)[], isNone: boolean): bigint | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return isNone ? 0n : null;
  return known.reduce((sum, part) => sum + part, 0n);
}

/** Largest absolute result first, unknown ones last, then by address. */
function byResult(a: TokenPnl, b: TokenPnl): number {
  const [one, other] = [sizeOf(a.realised), sizeOf(b.realised)];
  if (one !== other) return one > other ? -1 : 1;
  return a.token < b.token ? -1 : 1;
}

function sizeOf(result: bigint | null): bigint {
  if (result === null) return -1n;
  return result < 0n ? -result : result;
}

/** Ranks money before all tokens: a price paid in money is better than a daily price. */
const MONEY_SPREAD = -1;

type Side = ReturnType<ReturnType<typeof sideReader>>;

/**
 * Reads the movements of a call; null if it moved no token or its receipt was not read. A trade gives and gets; a transfer
 * only gives or only gets. `worthless` counts legs of a token on no list, beside another of known worth.
 * Both sides of a trade have equal worth: the feed price of the side with the steadier prices, else of the only priced
 * side. Returned native coin appears in no log, so that such a sale looks like a transfer.
 */
function createLegReader(list: TokenList, market: Market) {
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
    const native =
      call.value !== null && call.value > 0n
        ? toMicros(market.nativeWorth(call.value, call.timestamp))
        : undefined;
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
function currenciesOf({ tokens }: Pick<TokenList, "tokens">): ReadonlySet<Address> {
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
