import type { Address } from "viem";
import type { Contact } from "../../model/features/types.ts";
import { compareTexts } from "../diagnosis/compare.ts";
import type { ChosenNodes } from "./network-nodes.ts";
import type { AccountLinks } from "./wallet-network-graph.ts";

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

export type ChosenEdges = {
  readonly edges: readonly NetworkEdge[];
  readonly leftOut: number;
};

export type EdgesQuestion = {
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
