import type { ClientBase } from "pg";
import type { Address } from "viem";
import type { ChainFacts } from "../../chain/deployments.ts";
import { dayOf } from "../../model/features/time.ts";
import type { AsOf, DailyPrice, ListedToken, TokenList } from "../../model/features/types.ts";

const MICRO_DECIMALS = 6;

export type TokenListQuery = {
  readonly chainId: number;
  readonly market: ChainFacts["market"];
  /** The block up to which the chain is enriched. */
  readonly enriched: AsOf;
};

/**
 * The tokens of a deployment with their prices on the days before the block's, or on the first day with one where there is
 * none before: a day's price is final once the day is over, so that there is one list a day.
 */
export async function readTokenList(client: ClientBase, query: TokenListQuery): Promise<TokenList> {
  const { native, tokens } = query.market;
  const feeds = [native, ...tokens].flatMap(({ feed }) => (feed === null ? [] : [lower(feed)]));
  const { rows } = await client.query({
    name: "token-list",
    text: `select feed, day, answer::text, decimals from ahs.feed_price
           where chain_id = $1 and feed = any($2::text[]) and block <= $3 order by feed, day`,
    values: [query.chainId, feeds, query.enriched.blockNumber],
    rowMode: "array",
  });
  const prices = new Map<string, DailyPrice[]>();
  for (const [feed, day, answer, decimals] of rows as [string, number, string, number][]) {
    const known = prices.get(feed);
    const price: DailyPrice = [day, toMicroUsd(BigInt(answer), decimals)];
    if (known === undefined) prices.set(feed, [price]);
    else if (day < dayOf(query.enriched.timestamp)) known.push(price);
  }
  const listed = <Token extends ChainFacts["market"]["native"]>(token: Token) => ({
    symbol: token.symbol,
    decimals: token.decimals,
    prices: token.feed === null ? [] : (prices.get(lower(token.feed)) ?? []),
  });
  return {
    native: listed(native),
    tokens: tokens
      .map((token): ListedToken => ({ address: lower(token.address), ...listed(token) }))
      .sort((a, b) => (a.address < b.address ? -1 : 1)),
  };
}

/** Millionths of a US dollar, rounded half up; prices are never negative. */
function toMicroUsd(answer: bigint, decimals: number): number {
  if (decimals <= MICRO_DECIMALS) return Number(answer * 10n ** BigInt(MICRO_DECIMALS - decimals));
  const unit = 10n ** BigInt(decimals - MICRO_DECIMALS);
  return Number((answer + unit / 2n) / unit);
}

function lower(address: Address): Address {
  return address.toLowerCase() as Address;
}
