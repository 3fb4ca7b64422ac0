import type { Address } from "viem";
import type { Owners } from "../../model/features/find-owners.ts";
import type { AccountFact, Contact } from "../../model/features/types.ts";
import { compareTexts } from "../diagnosis/compare.ts";
import type { AccountLinks, Neighbourhood } from "./wallet-network-graph.ts";

/** Distance from the wallet, over the links by which an account was found. */
export type Hops = 0 | 1 | 2;

/** Accounts of a map, in the order of their choice, the wallet first. */
type ChosenNodes = {
  readonly nodes: ReadonlyMap<Address, Hops>;
  /** Accounts that share the wallet's creator or first funder, in order of address; those that were left out as well. */
  readonly siblings: ReadonlySet<Address>;
  /** Accounts within two hops that were found and found no room. */
  readonly leftOut: number;
};

type NodesQuestion = {
  readonly wallet: Address;
  /** All whom the wallet dealt with, most frequent first. */
  readonly peers: readonly Address[];
  readonly around: Neighbourhood;
  readonly publicFunders: ReadonlySet<Address>;
  readonly maxNodes: number;
};

/** Peers whose own links are looked at, and that have room before whatever is two hops away. */
export const CLOSE_PEERS = 60;

/**
 * Chooses the accounts of a map: who made and funded the wallet, whom it made and funded, who shares its funder, its most
 * frequent peers, who made and funded those and whom they call most, and then its other peers. A public funder is shown and
 * leads nowhere.
 */
export function chooseNodes({ wallet, peers, around, publicFunders, maxNodes }: NodesQuestion): ChosenNodes {
  const close = peers.slice(0, CLOSE_PEERS);
  const parents = parentsOf(around.facts.get(wallet));
  const children = around.children.toSorted((one, other) => compareTexts(one.address, other.address));
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
  return { nodes, siblings, leftOut: found.size - nodes.size };
}

/** Creator, then first funder, as far as they are known. */
function parentsOf(fact: AccountFact | undefined): readonly Address[] {
  return [fact?.creator, fact?.firstFunder].flatMap((parent) => parent ?? []);
}

/** How one account is linked to another. */
export type NetworkEdge = {
  readonly from: Address;
  readonly to: Address;
  readonly kind: "funded" | "created" | "shares_funder" | "paid" | "called";
  /** Calls of `from` to `to`, payments included; null for links that no call is known of. */
  readonly calls: number | null;
  /** What `from` sent at the prices of the days, in millionths of a US dollar; null where nothing with a price is known. */
  readonly microUsd: bigint | null;
  /** Unix seconds. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
};

type ChosenEdges = {
  readonly edges: readonly NetworkEdge[];
  readonly leftOut: number;
};

type EdgesQuestion = {
  readonly wallet: Address;
  readonly chosen: ChosenNodes;
  readonly links: Pick<AccountLinks, "facts" | "contacts">;
  /** What the wallet itself did, where no contact tells it. */
  readonly ownContacts: readonly Contact[];
  readonly maxEdges: number;
};

/**
 * The links among the accounts of a map: first who made, funded and shares a funder with whom, then what the wallet gave and
 * got, then what the others gave one another, each by falling worth and calls.
 */
export function chooseEdges({ wallet, chosen, links, ownContacts, maxEdges }: EdgesQuestion): ChosenEdges {
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

/** What touches the wallet comes first. */
function rankOf({ account, counterparty }: Contact, wallet: Address): number {
  return account === wallet || counterparty === wallet ? 0 : 1;
}

function compareContacts(one: Contact, other: Contact): number {
  if (one.sentMicroUsd !== other.sentMicroUsd) return one.sentMicroUsd > other.sentMicroUsd ? -1 : 1;
  return other.calls - one.calls || compareTexts(keyOf(one), keyOf(other));
}

/** The cluster of each account of a map: the lowest address of those that share its owner; null where nothing links it to another. */
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
