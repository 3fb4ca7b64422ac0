import type { Address } from "viem";
import { createMarket, type Market } from "../../model/features/market.ts";
import type { AsOf, WalletRows } from "../../model/features/types.ts";
import { readPaidWindow, sumMoney } from "../diagnosis/report-facts.ts";
import { type LedgerKeeper, openCurrencyLedger, openLedger, type TokenLedger } from "./pnl-ledger.ts";
import { createLegReader, currenciesOf } from "./pnl-legs.ts";

/** Profit and loss with one token; money in millionths of a US dollar. */
export type TokenPnl = TokenLedger & {
  readonly token: Address;
  /** Null where no list knows the token. */
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** Whether it is money: no sale, cost or result of its own. */
  readonly isCurrency: boolean;
  /** Remaining amount from own calls. */
  readonly held: bigint;
  /** Cost and current worth of the parts with known cost; null if unknown. */
  readonly cost: bigint | null;
  readonly worth: bigint | null;
  /** Source of the worth: a price feed, or the wallet's own newest trade. */
  readonly pricedBy: "feed" | "own_trade" | null;
  /** worth less cost; null where either is not known. */
  readonly unrealised: bigint | null;
};

/** Profit and loss of a wallet by its own calls. */
export type Pnl = {
  /** By absolute realised result, largest first. */
  readonly tokens: readonly TokenPnl[];
  /** 0 where nothing was sold; null where something was and no gain of it is known. */
  readonly realised: bigint | null;
  /** Of tokens with a feed price; 0 if nothing is held, null if nothing held has both a known cost and such a price. */
  readonly unrealised: bigint | null;
  /** Wei paid for all its calls, at the prices of their days; null where no feed prices the native coin. */
  readonly fees: bigint | null;
  readonly trades: number;
  /** Number of times that a trade gave a token other than a currency. */
  readonly sales: number;
  readonly wins: number;
  readonly losses: number;
  /** Wins among wins and losses; null without any. */
  readonly winRate: number | null;
  /** Share of purchases and sales with an unknown price or cost; null without any. */
  readonly unpricedShare: number | null;
  /** Number of times that a token returned from the contract that it was sent to, at its original cost. */
  readonly returns: number;
  /** Legs of unlisted tokens counted as worthless, since the rest of their side has a price. */
  readonly worthlessLegs: number;
  /** Successful calls without a read receipt: their movements are unknown. */
  readonly unreadReceipts: number;
};

/**
 * Computes realised gains by lots, first in, first out. A token costs what was given for it, else its worth on arrival.
 * It is sold for what the trade returned. Payments and deposits leave at cost and return from the same contract at that
 * cost. Own calls before the last `days` are ignored.
 */
export function profitAndLoss(
  { rows, asOf }: { readonly rows: WalletRows; readonly asOf: AsOf },
  days: number,
): Pnl {
  const market = createMarket(rows.tokens);
  const readLegs = createLegReader(rows.tokens, market);
  const ledgers = openLedgers(currenciesOf(rows.tokens));
  const counts = { trades: 0, unreadReceipts: 0, worthlessLegs: 0 };
  const paid = readPaidWindow({ rows, asOf, market }, days);
  for (const { call } of paid.calls) {
    if (call.ok && call.receipt === null) counts.unreadReceipts += 1;
    const legs = readLegs(call);
    if (legs === null) continue;
    counts.worthlessLegs += legs.worthless;
    if (legs.kind === "trade") {
      counts.trades += 1;
      for (const leg of legs.given) ledgers.of(leg.token).sell(leg);
      for (const leg of legs.got) ledgers.of(leg.token).buy(leg);
    } else {
      for (const leg of legs.given) ledgers.of(leg.token).send(leg, call.recipient ?? call.to);
      for (const leg of legs.got) ledgers.of(leg.token).receive(leg, call.to);
    }
  }
  const tokens = ledgers
    .close()
    .map((closed) => toToken(closed, { rows, market, asOf }))
    .sort(byResult);
  const { microUsd } = sumMoney(paid.calls.map(({ fee }) => fee));
  return { tokens, ...counts, fees: microUsd === null ? null : BigInt(microUsd), ...totalsOf(tokens) };
}

type ClosedLedger = {
  readonly token: Address;
  readonly isCurrency: boolean;
  readonly ledger: TokenLedger;
};

function openLedgers(currencies: ReadonlySet<Address>) {
  const ledgers = new Map<Address, LedgerKeeper>();
  return {
    of(token: Address): LedgerKeeper {
      const known = ledgers.get(token);
      if (known !== undefined) return known;
      const made = currencies.has(token) ? openCurrencyLedger() : openLedger();
      ledgers.set(token, made);
      return made;
    },
    close: (): readonly ClosedLedger[] =>
      [...ledgers].map(([token, ledger]) => ({
        token,
        isCurrency: currencies.has(token),
        ledger: ledger.close(),
      })),
  };
}

function toToken(
  { token, isCurrency, ledger }: ClosedLedger,
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
    isCurrency,
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

function totalsOf(
  tokens: readonly TokenPnl[],
): Pick<
  Pnl,
  "realised" | "unrealised" | "sales" | "wins" | "losses" | "winRate" | "unpricedShare" | "returns"
> {
  const count = (of: (token: TokenPnl) => number) => tokens.reduce((sum, token) => sum + of(token), 0);
  const [sales, wins, losses] = [
    count((token) => token.sales),
    count((token) => token.wins),
    count((token) => token.losses),
  ];
  const legs = count((token) => token.legs);
  // The price of an own trade is arbitrary.
  const byFeed = tokens.filter(({ pricedBy }) => pricedBy === "feed");
  const isHeld = tokens.some(({ held, isCurrency }) => held > 0n && !isCurrency);
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
    returns: count((token) => token.returns),
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
