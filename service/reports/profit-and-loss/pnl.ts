import type { Address } from "viem";
import { createMarket, type Market } from "../../model/features/market.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import { readPaidWindow, sumMoney } from "../diagnosis/report-facts.ts";
import { type LedgerKeeper, openLedger, type TokenLedger } from "./pnl-ledger.ts";
import { createLegReader, currenciesOf, type Leg } from "./pnl-legs.ts";

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
