import type { ClientBase } from "pg";
import type { Address } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import { readContacts } from "../store/contact-graph.ts";
import {
  type CacheReader,
  type ContactCache,
  type KnownUsers,
  loadFacts,
  loadFirstUsers,
  loadMainFunders,
} from "./contact-cache.ts";
import { type Contact, type ContactGraph, describeCounterparties } from "./describe-counterparties.ts";
import type { CounterpartyFact, OwnCall } from "./types.ts";

export type CounterpartiesQuery = {
  readonly chainId: number;
  readonly wallets: readonly CounterpartyWallet[];
  readonly cache: ContactCache;
  readonly publicFunders: ReadonlySet<Address>;
  readonly flags: ReadonlyMap<Address, "sanctioned" | "mixer">;
  readonly policy: Policy;
};

/** A wallet whose counterparties are to be described. */
type CounterpartyWallet = {
  readonly wallet: Address;
  readonly addresses: ReadonlySet<Address>;
  /** Unix seconds. */
  readonly windowStart: number;
  /** Calls that the contacts may not know of: those that a history source told. Empty where all are known. */
  readonly untoldCalls: readonly OwnCall[];
};

/** Callers looked at first, as a multiple of those that can count: some are the owner's or captive. */
const FIRST_LOOK = 1.2;
/** How many times as many are looked at next, where too few of them count. */
const NEXT_LOOK = 4;

/**
 * Describes the counterparties of each wallet, in the order given. Of an account with many users only the first are read,
 * and more of them while these are not as many as can count: the answer is the one that the whole graph gives.
 */
export async function readCounterparties(
  client: ClientBase,
  query: CounterpartiesQuery,
): Promise<readonly (readonly CounterpartyFact[])[]> {
  const { chainId, wallets, cache, publicFunders, policy } = query;
  const reader: CacheReader = { client, chainId, cache };
  const own = wallets.map(({ wallet }) => wallet);
  const asked = new Set(wallets.flatMap(({ addresses }) => [...addresses]));
  await loadFacts(reader, [...own, ...asked], publicFunders);
  const contacts = await readContacts(client, chainId, own);
  const owned = [...asked].filter((account) => cache.facts.get(account)?.hasCode === false);
  await loadMainFunders(reader, [...own, ...owned]);

  let described: readonly (readonly CounterpartyFact[])[] = [];
  let open: ReadonlySet<Address> = asked;
  for (let looks = Math.ceil(FIRST_LOOK * policy.credit.usersCounted); ; looks *= NEXT_LOOK) {
    await loadFirstUsers(reader, open, looks);
    described = wallets.map((wallet, place) => {
      const before = described[place];
      if (before !== undefined && !before.some(({ address }) => open.has(address))) return before;
      return describe(wallet, contacts.get(wallet.wallet) ?? [], query);
    });
    open = new Set(described.flatMap((facts) => facts.filter((fact) => isOpen(fact, query)).map(addressOf)));
    if (open.size === 0) return described;
  }
}

function addressOf({ address }: CounterpartyFact): Address {
  return address;
}

/** Whether users that were not read could add to those counted. */
function isOpen(
  { address, outsideUsers }: CounterpartyFact,
  { cache, policy }: CounterpartiesQuery,
): boolean {
  return cache.users.get(address)?.extent === "first callers" && outsideUsers < policy.credit.usersCounted;
}

function describe(
  asked: CounterpartyWallet,
  contacts: readonly Contact[],
  query: CounterpartiesQuery,
): readonly CounterpartyFact[] {
  const { wallet, addresses, windowStart } = asked;
  const { cache, publicFunders, flags, policy } = query;
  return describeCounterparties({
    wallet,
    addresses,
    windowStart,
    graph: graphOf(asked, contacts, cache),
    facts: cache.facts,
    publicFunders,
    flags,
    policy,
  });
}

/** The contacts that matter to one wallet: its own with each account, and those of the users that were read. */
function graphOf(
  { wallet, addresses, untoldCalls }: CounterpartyWallet,
  contacts: readonly Contact[],
  cache: ContactCache,
): ContactGraph {
  const own = new Map(contacts.map((contact) => [contact.counterparty, contact]));
  for (const contact of contactsIn(untoldCalls, wallet)) {
    const told = own.get(contact.counterparty);
    if (told === undefined || contact.firstTime < told.firstTime)
      own.set(contact.counterparty, { ...(told ?? contact), firstTime: contact.firstTime });
  }
  const usersOf = new Map<Address, readonly Contact[]>();
  const mainFunderOf = new Map<Address, Address>();
  for (const account of [wallet, ...addresses]) {
    usersOf.set(account, withOwn(cache.users.get(account), own.get(account)));
    const funder = cache.mainFunders.get(account);
    if (funder !== undefined && funder !== null) mainFunderOf.set(account, funder);
  }
  return { usersOf, mainFunderOf, contactsOf: cache.doings, callsOf: cache.calls };
}

/** The users that were read, with the wallet's own contact first, which they need not hold. */
function withOwn(users: KnownUsers | undefined, own: Contact | undefined): readonly Contact[] {
  const contacts = users?.contacts ?? [];
  return own === undefined ? contacts : [own, ...contacts];
}

/** Contacts as calls alone tell them: with whom each pays, else with whom it calls, and with nobody where that is the wallet. */
function contactsIn(calls: readonly OwnCall[], wallet: Address): Iterable<Contact> {
  const contacts = new Map<Address, Contact>();
  for (const { to, recipient, timestamp } of calls) {
    const counterparty = recipient ?? to;
    if (counterparty === null || counterparty === wallet) continue;
    const known = contacts.get(counterparty);
    contacts.set(counterparty, {
      counterparty,
      account: wallet,
      calls: (known === undefined ? 0 : known.calls) + 1,
      sentMicroUsd: 0n,
      firstTime: Math.min(timestamp, known?.firstTime ?? timestamp),
      lastTime: Math.max(timestamp, known?.lastTime ?? timestamp),
    });
  }
  return contacts.values();
}
