import type { Address } from "viem";
import type { AccountFact, Contact, ContactGraph, OwnerLink } from "./types.ts";

/** Who belongs together by the traces of a common owner. */
export type Owners = {
  /** The owner cluster of the wallet, with how each account is linked to it; it holds at least the wallet. */
  readonly cluster: ReadonlyMap<Address, OwnerLink>;
  /** Of the addresses outside the cluster that share an owner: the lowest of those that share it. */
  readonly groups: ReadonlyMap<Address, Address>;
};

export type OwnerQuestion = {
  readonly wallet: Address;
  /** By rising address. */
  readonly addresses: readonly Address[];
  readonly graph: Pick<ContactGraph, "mainFunderOf">;
  readonly facts: ReadonlyMap<Address, AccountFact>;
  readonly publicFunders: ReadonlySet<Address>;
  /** Accounts that gave the wallet back half or more of what they got of it, see `paysBack`. */
  readonly payersBack: ReadonlySet<Address>;
};

type Link = { readonly to: Address; readonly by: OwnerLink };

/** The owner cluster of the wallet: by account its link to a member that is one step nearer to the wallet. */
export function linkToOwner(question: OwnerQuestion): ReadonlyMap<Address, Link> {
  return componentOf(question.wallet, linksOf(question));
}

/**
 * Connected components over creators, first funders and mutual funding; public funders are in none. An account that the
 * wallet itself funded first is linked only if it pays back: else it is a new account that was paid.
 */
export function findOwners(question: OwnerQuestion): Owners {
  const links = linksOf(question);
  const cluster = new Map([...componentOf(question.wallet, links)].map(([account, { by }]) => [account, by]));
  const groups = new Map<Address, Address>();
  const asked = new Set(question.addresses);
  const seen = new Set<Address>();
  for (const address of question.addresses) {
    if (cluster.has(address) || seen.has(address) || !links.has(address)) continue;
    const members = componentOf(address, links);
    for (const member of members.keys()) seen.add(member);
    // Member by member: to look through all addresses for every group takes seconds where there are many groups.
    const merged = [...members.keys()].filter((member) => asked.has(member)).sort();
    if (merged.length > 1) for (const member of merged) groups.set(member, address);
  }
  return { cluster, groups };
}

/**
 * True if an account gave back half or more of what it got: of known worth, or of calls where neither side sent any.
 * A wallet that funds a new account first pays it; only one that gives the money back is its own.
 */
export function paysBack(
  sent: Pick<Contact, "calls" | "sentMicroUsd"> | undefined,
  returned: Pick<Contact, "calls" | "sentMicroUsd"> | undefined,
): boolean {
  if (sent === undefined || returned === undefined) return false;
  if (sent.sentMicroUsd > 0n || returned.sentMicroUsd > 0n)
    return 2n * returned.sentMicroUsd >= sent.sentMicroUsd;
  return returned.calls > 0 && 2 * returned.calls >= sent.calls;
}

/** The accounts that pay a wallet back, by all contacts of a graph. */
export function payersBackIn(usersOf: ContactGraph["usersOf"], wallet: Address): ReadonlySet<Address> {
  const returned = usersOf.get(wallet) ?? [];
  return new Set(
    returned
      .filter((contact) =>
        paysBack(
          usersOf.get(contact.account)?.find(({ account }) => account === wallet),
          contact,
        ),
      )
      .map(({ account }) => account),
  );
}

/** By account, the sender of more than half of all that its contacts sent it; no entry without such a sender. */
export function mainFundersIn(
  usersOf: ReadonlyMap<Address, readonly Pick<Contact, "account" | "sentMicroUsd">[]>,
): ReadonlyMap<Address, Address> {
  const funders = new Map<Address, Address>();
  for (const [account, contacts] of usersOf) {
    const total = contacts.reduce((sum, { sentMicroUsd }) => sum + sentMicroUsd, 0n);
    const most = contacts.find(({ sentMicroUsd }) => 2n * sentMicroUsd > total);
    if (most !== undefined) funders.set(account, most.account);
  }
  return funders;
}

/** Creators and first funders that the facts name and do not hold. Callers repeat it with their facts until it returns no more. */
export function ancestorsOf(
  facts: ReadonlyMap<Address, AccountFact>,
  publicFunders: ReadonlySet<Address>,
): ReadonlySet<Address> {
  const missing = new Set<Address>();
  for (const fact of facts.values()) {
    for (const { to } of parentsOf(fact, publicFunders)) if (!facts.has(to)) missing.add(to);
  }
  return missing;
}

/** Links of the wallet, the addresses and their ancestors, both ways; what else the facts hold does not matter. */
function linksOf(question: OwnerQuestion): ReadonlyMap<Address, readonly Link[]> {
  const { wallet, addresses, facts, publicFunders } = question;
  const links = new Map<Address, Link[]>();
  const connect = (one: Address, other: Address, by: OwnerLink) => {
    linkList(links, one).push({ to: other, by });
    linkList(links, other).push({ to: one, by });
  };
  const asked = addresses.includes(wallet) ? addresses : [wallet, ...addresses];
  const seen = new Set(asked);
  // The set grows while it is walked, so that ancestors are walked as well.
  for (const account of seen) {
    const fact = facts.get(account);
    if (fact === undefined || publicFunders.has(account)) continue;
    for (const { to, by } of parentsOf(fact, publicFunders)) {
      if (by === "first_funder" && to === wallet && !question.payersBack.has(account)) continue;
      connect(account, to, by);
      seen.add(to);
    }
  }
  const funders = mainFunders(asked, question);
  for (const [account, funder] of funders) {
    // Each pair is seen from both sides.
    if (account < funder && funders.get(funder) === account) connect(account, funder, "mutual_funding");
  }
  return links;
}

function linkList(links: Map<Address, Link[]>, account: Address): Link[] {
  const known = links.get(account);
  if (known !== undefined) return known;
  const made: Link[] = [];
  links.set(account, made);
  return made;
}

/**
 * A contract belongs to its creator, since any account may send it value first. Other accounts belong to their first
 * funder.
 */
function parentsOf(
  { address, creator, firstFunder }: AccountFact,
  publicFunders: ReadonlySet<Address>,
): readonly Link[] {
  const counts = (parent: Address | null) =>
    parent !== null && parent !== address && !publicFunders.has(parent);
  if (creator !== null && counts(creator)) return [{ to: creator, by: "creator" }];
  if (firstFunder !== null && counts(firstFunder)) return [{ to: firstFunder, by: "first_funder" }];
  return [];
}

/** Who sent each account more than half of all that it received, where all that it received is known. */
function mainFunders(
  accounts: readonly Address[],
  { wallet, graph, facts, publicFunders }: OwnerQuestion,
): ReadonlyMap<Address, Address> {
  const funders = new Map<Address, Address>();
  for (const account of accounts) {
    // Of an account with code only what followed wallets sent it is known.
    const isKnown = account === wallet || facts.get(account)?.hasCode === false;
    if (!isKnown || publicFunders.has(account)) continue;
    const funder = graph.mainFunderOf.get(account);
    if (funder !== undefined && !publicFunders.has(funder)) funders.set(account, funder);
  }
  return funders;
}

/** Every account that links lead to from one, each with its nearest link and the account that this leads back to. */
function componentOf(
  start: Address,
  links: ReadonlyMap<Address, readonly Link[]>,
): ReadonlyMap<Address, Link> {
  const members = new Map<Address, Link>([[start, { to: start, by: "itself" }]]);
  // The map grows while it is walked: breadth first.
  for (const account of members.keys()) {
    for (const { to, by } of links.get(account) ?? []) {
      if (!members.has(to)) members.set(to, { to: account, by });
    }
  }
  return members;
}
