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
  /** Times that a trade gave a token that is no currency. */
  readonly sales: number;
  readonly wins: number;
  readonly losses: number;
  /** Wins among wins and losses; null without any. */
  readonly winRate: number | null;
  /** Purchases and sales without a known price or cost among all of them; null without any. */
  readonly unpricedShare: number | null;
  /** Times that a token came back from the contract that it had been sent to: it costs what it had cost before. */
  readonly returns: number;
  /** Legs of tokens on no list that were taken for worthless, since the rest of their side has a price. */
  readonly worthlessLegs: number;
  /** Successful calls whose receipts were not read: what they moved is not known. */
  readonly unreadReceipts: number;
};

/**
 * Realised gains by lots, first in, first out: a token costs what was given for it, or, where nothing was, what it was worth
 * when it came; it is sold for what was got for it, and what is paid or deposited leaves at its cost, with which it comes back
 * from the same contract. Own calls before the last `days` before the block are not looked at.
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

type Totals = Pick<
  Pnl,
  "realised" | "unrealised" | "sales" | "wins" | "losses" | "winRate" | "unpricedShare" | "returns"
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

/** Sum of what is known; of nothing it is 0 only where there is nothing to know. */
function knownSum(parts: readonly (bigint | null)[], isNone: boolean): bigint | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return isNone ? 0n : null;
  return known.reduce((sum, part) => sum + part, 0n);
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
