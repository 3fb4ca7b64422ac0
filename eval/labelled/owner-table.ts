import type { Address } from "viem";
import { findOwners } from "../../service/model/features/find-owners.ts";
import type { AccountFact } from "../../service/model/features/types.ts";
import { csvRows } from "../../service/sanctions/csv-rows.ts";

/** Payments as a graph of accounts; times and amounts are left out. */
type Edges = {
  /** Recipients by sender, of the coin and of tokens. */
  readonly paid: ReadonlyMap<Address, ReadonlySet<Address>>;
  /** Senders of the coin by recipient. */
  readonly coinFrom: ReadonlyMap<Address, ReadonlySet<Address>>;
};

/** Results of the owner finder among labelled accounts that paid one another. */
type OwnerTable = {
  readonly edges: number;
  readonly groups: number;
  readonly members: number;
  /** Pairs that it takes for one owner's, both labelled; of them those in one group. */
  readonly found: number;
  readonly right: number;
  /** Pairs of one group with a payment between them; of them those that it finds. */
  readonly related: number;
  readonly foundRelated: number;
};

/** Reads edge lists with the columns from and to; addresses may start with \x. */
export function readEdges(coin: Iterable<string>, tokens: Iterable<string>): Edges {
  const paid = new Map<Address, Set<Address>>();
  const coinFrom = new Map<Address, Set<Address>>();
  for (const [texts, isCoin] of [[coin, true] as const, [tokens, false] as const])
    for (const text of texts)
      for (const [from, to] of csvRows(text)) {
        const [sender, recipient] = [addressOf(from), addressOf(to)];
        if (sender === null || recipient === null || sender === recipient) continue;
        add(paid, sender, recipient);
        if (isCoin) add(coinFrom, recipient, sender);
      }
  return { paid, coinFrom };
}

function addressOf(cell: string | undefined): Address | null {
  const text = cell?.trim().toLowerCase().replace(/^\\x/, "0x") ?? "";
  return /^0x[0-9a-f]{40}$/.test(text) ? (text as Address) : null;
}

function add(lists: Map<Address, Set<Address>>, key: Address, value: Address): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, new Set([value]));
  else known.add(value);
}

/** Labelled accounts: members by the group that they belong to, others by none. */
export function readGroups(groups: string, others: string | null): ReadonlyMap<Address, string | null> {
  const labelled = new Map<Address, string | null>();
  for (const line of (others ?? "").split("\n")) {
    const address = addressOf(line);
    if (address !== null) labelled.set(address, null);
  }
  const list = JSON.parse(groups) as readonly { groupName: string; eliminatedAddresses: readonly string[] }[];
  for (const { groupName, eliminatedAddresses } of list)
    for (const member of eliminatedAddresses) {
      const address = addressOf(member);
      if (address !== null) labelled.set(address, groupName);
    }
  return labelled;
}

/**
 * Runs the owner finder on each labelled account that paid or was paid by another one. The lists have no times: an account's
 * first funder is known only where one account alone sent it coin. Senders to more than `mostFunded` accounts count as public.
 */
export function ownerTable(
  { paid, coinFrom }: Edges,
  labelled: ReadonlyMap<Address, string | null>,
  mostFunded: number,
): OwnerTable {
  const publicFunders = new Set<Address>();
  for (const [sender, recipients] of paid) if (recipients.size > mostFunded) publicFunders.add(sender);
  const facts = new Map<Address, AccountFact>();
  for (const [address, senders] of coinFrom) {
    const [only, ...more] = senders;
    if (only === undefined || more.length > 0) continue;
    facts.set(address, { address, hasCode: false, creator: null, firstFunder: only, existedAt: null });
  }
  const peersOf = new Map<Address, Set<Address>>();
  let edges = 0;
  for (const [sender, recipients] of paid) {
    edges += recipients.size;
    for (const recipient of recipients) {
      add(peersOf, sender, recipient);
      add(peersOf, recipient, sender);
    }
  }
  const sums = { found: 0, right: 0, related: 0, foundRelated: 0 };
  for (const [wallet, group] of labelled) {
    // Half of the pairs would be counted from both sides; each wallet is judged for itself.
    const peers = [...(peersOf.get(wallet) ?? [])].filter((peer) => labelled.has(peer)).sort();
    if (peers.length === 0) continue;
    const sent = paid.get(wallet) ?? new Set();
    const payersBack = new Set(
      peers.filter((peer) => sent.has(peer) && paid.get(peer)?.has(wallet) === true),
    );
    const graph = { mainFunderOf: new Map<Address, Address>() };
    const { cluster } = findOwners({ wallet, addresses: peers, graph, facts, publicFunders, payersBack });
    for (const peer of peers) {
      const isOne = group !== null && labelled.get(peer) === group;
      const isFound = cluster.has(peer);
      if (isFound) sums.found += 1;
      if (isFound && isOne) sums.right += 1;
      if (isOne) sums.related += 1;
      if (isOne && isFound) sums.foundRelated += 1;
    }
  }
  const members = [...labelled.values()].filter((group) => group !== null);
  return { edges, groups: new Set(members).size, members: members.length, ...sums };
}
