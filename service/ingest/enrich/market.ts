import type { Address } from "viem";
import type { Deployment } from "../../chain/deployments.ts";

/** A coin or token that is worth something, and the feed that says what. */
export type PricedToken = { readonly decimals: number; readonly feed: Address };

/** What the chain's deployment says of value; addresses are lower-case. */
export type Market = {
  /** Null where no feed prices the native coin. */
  readonly native: PricedToken | null;
  readonly wrappedNative: Address | null;
  /** Recognised ERC-20 tokens: what they log is so. */
  readonly listed: ReadonlySet<Address>;
  /** Recognised ERC-20 tokens that a feed prices. */
  readonly tokens: ReadonlyMap<Address, PricedToken>;
  /** Every feed once, by rising address. */
  readonly feeds: readonly Address[];
};

/** The market of a deployment in the form that enrichment compares with. */
export function marketOf({ market }: Deployment): Market {
  const native = priced(market.native);
  const tokens = new Map<Address, PricedToken>();
  for (const token of market.tokens) {
    const known = priced(token);
    if (known !== null) tokens.set(lowerCase(token.address), known);
  }
  const feeds = [...(native === null ? [] : [native]), ...tokens.values()].map(({ feed }) => feed);
  const wrappedNative = market.wrappedNative === null ? null : lowerCase(market.wrappedNative);
  const recognised = market.tokens.map(({ address }) => lowerCase(address));
  return {
    native,
    wrappedNative,
    listed: new Set([...recognised, ...(wrappedNative === null ? [] : [wrappedNative])]),
    tokens,
    feeds: [...new Set(feeds)].toSorted(),
  };
}

/** The form of an address in the database and in a node's answers as we read them. */
export function lowerCase(address: Address): Address {
  return address.toLowerCase() as Address;
}

function priced(token: { readonly decimals: number; readonly feed: Address | null }): PricedToken | null {
  return token.feed === null ? null : { decimals: token.decimals, feed: lowerCase(token.feed) };
}
