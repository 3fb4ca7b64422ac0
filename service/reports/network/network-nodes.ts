import type { Address } from "viem";
import type { AccountFact } from "../../model/features/types.ts";
import { compareTexts } from "../diagnosis/compare.ts";
import type { Neighbourhood } from "./wallet-network-graph.ts";

/** Distance from the wallet, over the links by which an account was found. */
export type Hops = 0 | 1 | 2;

/** Accounts of a map, in the order of their choice, the wallet first. */
export type ChosenNodes = {
  readonly nodes: ReadonlyMap<Address, Hops>;
  /** Accounts that share the wallet's creator or first funder, in order of address; those that were left out as well. */
  readonly siblings: ReadonlySet<Address>;
  /** Accounts within two hops that were found and found no room. */
  readonly leftOut: number;
};

export type NodesQuestion = {
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
