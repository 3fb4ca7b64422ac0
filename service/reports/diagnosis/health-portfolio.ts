import type { Address } from "viem";
import { NO_HOLDINGS } from "../../model/features/holdings.ts";
import { compareTexts } from "./compare.ts";
import type { ReportFacts } from "./health-facts.ts";

/** A token that the wallet's own calls left it with. */
export type Position = {
  readonly token: Address;
  /** Of the token list; null, as are the decimals, for a token not on it. */
  readonly symbol: string | null;
  readonly decimals: number | null;
  /** In the token's smallest unit. */
  readonly amount: bigint;
  readonly recognised: boolean;
  /** Whole millionths of a US dollar; null where neither a feed nor the wallet's own trades price it. */
  readonly microUsd: number | null;
  /** own_trade: by what the wallet itself gave for it, which is anything where both sides of the trade are its own. */
  readonly pricedBy: "feed" | "own_trade" | null;
};

export type Portfolio =
  | { readonly kind: "unread" | "none"; readonly reason: string }
  | {
      readonly kind: "held";
      /** Dearest first, those without a price last. */
      readonly positions: readonly Position[];
      /** Of recognised positions that a feed prices; null without any. */
      readonly recognisedMicroUsd: number | null;
      /** Of the others that have a price: what they are said to be worth rests on the wallet's word. Null without any. */
      readonly otherMicroUsd: number | null;
      readonly unpriced: number;
    };

/** What a portfolio rests on, for whoever reads it. */
export const PORTFOLIO_BASIS =
  "What the wallet's own calls of the 180 days before its last one brought in, less what they took out. What others sent, what was held before, and the balance of the native coin are not in it. Worth: the daily feed price on the day of the last own call, or what the wallet itself gave for the token; the total is of recognised tokens with a feed price alone.";

/** The tokens that own calls left the wallet with. */
export function describePortfolio({
  holdings,
  rows,
  history,
  market,
}: Pick<ReportFacts, "holdings" | "rows" | "history" | "market">): Portfolio {
  if (holdings.kind !== "held") return { kind: holdings.kind, reason: NO_HOLDINGS[holdings.kind] };
  const listed = new Map(rows.tokens.tokens.map((token) => [token.address, token]));
  const pricedAt = history.calls.at(-1)?.timestamp;
  const isFed = (token: Address) => pricedAt !== undefined && market.tokenWorth(token, 1n, pricedAt) !== null;
  const positions = holdings.tokens.map(({ token, amount, recognised, worth }): Position => {
    const known = listed.get(token);
    return {
      token,
      symbol: known?.symbol ?? null,
      decimals: known?.decimals ?? null,
      amount,
      recognised,
      microUsd: worth === null ? null : Math.round(worth),
      pricedBy: worth === null ? null : isFed(token) ? "feed" : "own_trade",
    };
  });
  const isVouched = ({ recognised, pricedBy }: Position) => recognised && pricedBy === "feed";
  return {
    kind: "held",
    positions: positions.toSorted(byWorth),
    recognisedMicroUsd: knownSum(positions.filter(isVouched)),
    otherMicroUsd: knownSum(positions.filter((position) => !isVouched(position))),
    unpriced: positions.filter(({ microUsd }) => microUsd === null).length,
  };
}

function knownSum(positions: readonly Position[]): number | null {
  const known = positions.flatMap(({ microUsd }) => (microUsd === null ? [] : [microUsd]));
  return known.length === 0 ? null : known.reduce((sum, worth) => sum + worth, 0);
}

function byWorth(a: Position, b: Position): number {
  if (a.microUsd === null || b.microUsd === null) {
    if (a.microUsd !== b.microUsd) return a.microUsd === null ? 1 : -1;
    return compareTexts(a.token, b.token);
  }
  return b.microUsd - a.microUsd || compareTexts(a.token, b.token);
}
