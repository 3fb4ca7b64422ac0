import type { Address } from "viem";
import type { Owners } from "../../model/features/find-owners.ts";
import type { AccountFact, Contact } from "../../model/features/types.ts";
import { compare } from "../diagnosis/report-facts.ts";
import type { AccountLinks, Neighbourhood } from "./wallet-network-graph.ts";

/** Distance from the wallet over the links that found the account. */
export type Hops = 0 | 1 | 2;

/** Peers whose own links are read. They are placed before accounts at distance two. */
export const CLOSE_PEERS = 60;

/**
 * Chooses the accounts of a map, in this order: creator and funder of the wallet, accounts that it created or funded,
 * siblings, its most frequent peers, their creators, funders and most called accounts, then other peers. A public
 * funder is shown, but its links are not followed.
 */
export function chooseNodes({
  wallet,
  peers,
  around,
  publicFunders,
  maxNodes,
}: {
  readonly wallet: Address;
  /** All accounts that the wallet dealt with, most frequent first. */
  readonly peers: readonly Address[];
  readonly around: Neighbourhood;
  readonly publicFunders: ReadonlySet<Address>;
  readonly maxNodes: number;
}) {
  const close = peers.slice(0, CLOSE_PEERS);
  const parents = parentsOf(around.facts.get(wallet));
  const children = around.children.toSorted((one, other) => compare(one.address, other.address));
  const own = children.filter(({ parent }) => parent === wallet).map(({ address }) => address);
  const shared = children.filter(({ parent }) => parent !== wallet && !publicFunders.has(parent));
  const siblings = new Set(shared.map(({ address }) => address).filter((address) => address !== wallet));
  const beyond = close
    .filter((peer) => !publicFunders.has(peer))
    .flatMap((peer) => [
      ...parentsOf(around.facts.get(peer)),
      ...around.calls.filter(({ account }) => account === peer).map(({ counterparty }) => counterparty),
    ]);
  const nearest = new Set<Address>([...parents, ...own, ...peers]);
  const found = new Set<Address>([wallet, ...parents, ...own, ...siblings, ...close, ...beyond, ...peers]);
  const hopsOf = (address: Address): Hops => {
    if (address === wallet) return 0;
    return nearest.has(address) ? 1 : 2;
  };
  const nodes = new Map([...found].slice(0, maxNodes).map((address) => [address, hopsOf(address)]));
  /** `nodes` in the order of their choice; `siblings` includes those that were left out. */
  return { nodes, siblings, leftOut: found.size - nodes.size };
}

/** Creator, then first funder, as far as they are known. */
function parentsOf(fact: AccountFact | undefined): readonly Address[] {
  return [fact?.creator, fact?.firstFunder].flatMap((parent) => parent ?? []);
}

export type NetworkEdge = {
  readonly from: Address;
  readonly to: Address;
  readonly kind: "funded" | "created" | "shares_funder" | "paid" | "called";
  /** Calls of `from` to `to`, payments included; null if no call is known. */
  readonly calls: number | null;
  /** Worth sent by `from` at daily prices, in millionths of a US dollar; null if nothing priced is known. */
  readonly microUsd: bigint | null;
  /** Unix seconds. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
};

/**
 * Chooses the links of a map: first creators, funders and shared funders, then dealings of the wallet, then dealings of
 * the others; each by worth and calls.
 */
export function chooseEdges({
  wallet,
  chosen,
  links,
  ownContacts,
  maxEdges,
}: {
  readonly wallet: Address;
  readonly chosen: Omit<ReturnType<typeof chooseNodes>, "leftOut">;
  readonly links: Pick<AccountLinks, "facts" | "contacts">;
  /** The wallet's own dealings that have no contact row. */
  readonly ownContacts: readonly Contact[];
  readonly maxEdges: number;
}) {
  const { nodes, siblings } = chosen;
  const origins: NetworkEdge[] = [];
  for (const address of [...nodes.keys()].sort()) {
    const fact = links.facts.get(address);
    if (fact === undefined) continue;
    const { creator, firstFunder } = fact;
    if (creator !== null && nodes.has(creator)) origins.push(bare(creator, address, "created"));
    if (firstFunder !== null && nodes.has(firstFunder)) origins.push(bare(firstFunder, address, "funded"));
  }
  const shared = [...siblings]
    .filter((sibling) => nodes.has(sibling))
    .sort()
    .map((sibling) => bare(wallet, sibling, "shares_funder"));
  const known = new Set(links.contacts.map(keyOf));
  const contacts = [...links.contacts, ...ownContacts.filter((contact) => !known.has(keyOf(contact)))];
  const dealings = contacts
    .filter(({ account, counterparty }) => nodes.has(account) && nodes.has(counterparty))
    .toSorted((one, other) => rankOf(one, wallet) - rankOf(other, wallet) || compareContacts(one, other))
    .map(edgeOf);
  const all = [...origins, ...shared, ...dealings].filter(({ from, to }) => from !== to);
  return { edges: all.slice(0, maxEdges), leftOut: Math.max(0, all.length - maxEdges) };
}

function bare(from: Address, to: Address, kind: "funded" | "created" | "shares_funder"): NetworkEdge {
  return { from, to, kind, calls: null, microUsd: null, firstAt: null, lastAt: null };
}

function edgeOf({ account, counterparty, calls, sentMicroUsd, firstTime, lastTime }: Contact): NetworkEdge {
  const paid = sentMicroUsd > 0n;
  return {
    from: account,
    to: counterparty,
    kind: paid ? "paid" : "called",
    calls,
    microUsd: paid ? sentMicroUsd : null,
    firstAt: firstTime,
    lastAt: lastTime,
  };
}

function keyOf({ account, counterparty }: Contact): string {
  return `${account} ${counterparty}`;
}

/** Links of the wallet come first. */
function rankOf({ account, counterparty }: Contact, wallet: Address): number {
  return account === wallet || counterparty === wallet ? 0 : 1;
}

function compareContacts(one: Contact, other: Contact): number {
  if (one.sentMicroUsd !== other.sentMicroUsd) return one.sentMicroUsd > other.sentMicroUsd ? -1 : 1;
  return other.calls - one.calls || compare(keyOf(one), keyOf(other));
}

/** Returns the cluster of an account: the lowest address with the same owner; null if nothing links it to another account. */
export function clusterIds(
  owners: Owners,
  accounts: Iterable<Address>,
): (address: Address) => Address | null {
  const members = [...owners.cluster.keys()].sort();
  const own = members.length > 1 ? (members[0] ?? null) : null;
  const ids = new Map<Address, Address | null>();
  for (const account of accounts) {
    ids.set(account, owners.cluster.has(account) ? own : (owners.groups.get(account) ?? null));
  }
  return (address) => ids.get(address) ?? null;
}
