import type { Address } from "viem";
import { createMarket, type Market } from "../features/market.ts";
import { SECONDS_PER_DAY } from "../features/time.ts";
import type { AsOf, OwnCall, WalletRows } from "../features/types.ts";
import { sortCalls } from "../features/weigh-calls.ts";
import { type LedgerKeeper, openLedger, type TokenLedger } from "./pnl-ledger.ts";
import { createLegReader } from "./pnl-legs.ts";

/** Profit and loss with one token; money in millionths of a US dollar. */
export type TokenPnl = TokenLedger & {
  readonly token: Address;
  /** Null where no list knows the token. */
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** What is left of what came by own calls. */
  readonly held: bigint;
  /** What those parts of it cost whose cost is known, and what they are worth now; null where nothing tells it. */
  readonly cost: bigint | null;
  readonly worth: bigint | null;
  /** What the worth is told by: a price feed, or the wallet's own newest trade of it. */
  readonly pricedBy: "feed" | "own_trade" | null;
  /** worth less cost; null where either is not known. */
  readonly unrealised: bigint | null;
};

/** Profit and loss of a wallet by its own calls. */
export type Pnl = {
  /** By what their sales gained or lost, the largest first. */
  readonly tokens: readonly TokenPnl[];
  /** 0 where nothing was sold; null where something was and no gain of it is known. */
  readonly realised: bigint | null;
  /** Of tokens that a feed prices; 0 where nothing is held, null where nothing held has a known cost and such a price. */
  readonly unrealised: bigint | null;
  /** Wei paid for all its calls, at the prices of their days; null where no feed prices the native coin. */
  readonly fees: bigint | null;
  readonly trades: number;
  readonly sales: number;
  readonly wins: number;
  readonly losses: number;
  /** Wins among wins and losses; null without any. */
  readonly winRate: number | null;
  /** Purchases and sales without a known price or cost among all of them; null without any. */
  readonly unpricedShare: number | null;
  /** Successful calls whose receipts were not read: what they moved is not known. */
  readonly unreadCalls: number;
};

/**
 * Realised gains by lots, first in, first out: a token costs what was given for it, or, where nothing was, what it was worth
 * when it came; it is sold for what was got for it, and what is paid or deposited leaves at its cost. Own calls before the
 * last `days` before the block are not looked at.
 */
export function profitAndLoss(
  { rows, asOf }: { readonly rows: WalletRows; readonly asOf: AsOf },
  days: number,
): Pnl {
  const market = createMarket(rows.tokens);
  const readLegs = createLegReader(rows.tokens, market);
  const ledgers = new Map<Address, LedgerKeeper>();
  let trades = 0;
  let unreadCalls = 0;
  const from = asOf.timestamp - days * SECONDS_PER_DAY;
  const calls = sortCalls(rows.calls).filter(({ timestamp }) => timestamp >= from);
  for (const call of calls) {
    if (call.ok && call.receipt === null) unreadCalls += 1;
    const legs = readLegs(call);
    if (legs === null) continue;
    const isTrade = legs.kind === "trade";
    if (isTrade) trades += 1;
    for (const leg of legs.given) ledgerOf(ledgers, leg.token)[isTrade ? "sell" : "send"](leg);
    for (const leg of legs.got) ledgerOf(ledgers, leg.token)[isTrade ? "buy" : "receive"](leg);
  }
  const tokens = [...ledgers]
    .map(([token, ledger]) => toToken(token, ledger.close(), { rows, market, asOf }))
    .sort(byResult);
  return { tokens, trades, unreadCalls, fees: feesOf(calls, market), ...totalsOf(tokens) };
}

function ledgerOf(ledgers: Map<Address, LedgerKeeper>, token: Address): LedgerKeeper {
  const known = ledgers.get(token);
  if (known !== undefined) return known;
  const made = openLedger();
  ledgers.set(token, made);
  return made;
}

function toToken(
  token: Address,
  ledger: TokenLedger,
  { rows, market, asOf }: { readonly rows: WalletRows; readonly market: Market; readonly asOf: AsOf },
): TokenPnl {
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
    symbol: listed?.symbol ?? null,
    decimals: listed?.decimals ?? null,
    held,
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
): { readonly worth: bigint; readonly by: "feed" | "own_trade" } | null {
  if (byFeed !== null) return { worth: BigInt(Math.round(byFeed)), by: "feed" };
  return lastTrade === null
    ? null
    : { worth: (lastTrade.worth * amount) / lastTrade.amount, by: "own_trade" };
}

type Totals = Pick<
  Pnl,
  "realised" | "unrealised" | "sales" | "wins" | "losses" | "winRate" | "unpricedShare"
>;

function totalsOf(tokens: readonly TokenPnl[]): Totals {
  const count = (of: (token: TokenPnl) => number) => tokens.reduce((sum, token) => sum + of(token), 0);
  const [sales, wins, losses] = [
    count((token) => token.sales),
    count((token) => token.wins),
    count((token) => token.losses),
  ];
  const legs = count((token) => token.legs);
  // The price of an own trade can be anything that both of its sides agreed on.
  const byFeed = tokens.filter(({ pricedBy }) => pricedBy === "feed");
  const isHeld = tokens.some(({ held }) => held > 0n);
  return {
    realised: knownSum(
      tokens.map(({ realised }) => realised),
      sales === 0,
    ),
    unrealised: knownSum(
      byFeed.map(({ unrealised }) => unrealised),
      !isHeld,
    ),
    sales,
    wins,
    losses,
    winRate: wins + losses === 0 ? null : wins / (wins + losses),
    unpricedShare: legs === 0 ? null : count((token) => token.unpricedLegs) / legs,
  };
}

/** Sum of what is known; of nothing it is 0 only where there is nothing to know. */
function knownSum(parts: readonly (bigint | null)[], isNone: boolean): bigint | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return isNone ? 0n : null;
  return known.reduce((sum, part) => sum + part, 0n);
}

function feesOf(calls: readonly OwnCall[], market: Market): bigint | null {
  let sum = 0n;
  for (const { fee, timestamp } of calls) {
    const worth = market.nativeWorth(fee, timestamp);
    if (worth === null) return null;
    sum += BigInt(Math.round(worth));
  }
  return sum;
}

/** The largest result first, whatever its sign; without one last, by address. */
function byResult(a: TokenPnl, b: TokenPnl): number {
  const [one, other] = [sizeOf(a.realised), sizeOf(b.realised)];
  if (one !== other) return one > other ? -1 : 1;
  return a.token < b.token ? -1 : 1;
}

function sizeOf(result: bigint | null): bigint {
  if (result === null) return -1n;
  return result < 0n ? -result : result;
}
