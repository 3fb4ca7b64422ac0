import { setImmediate } from "node:timers/promises";
import type { ClientBase } from "pg";
import type { Address } from "viem";
import { createDescriber, sortedAddresses } from "../../model/features/describe-counterparties.ts";
import type { Contact, ContactGraph, CounterpartyFact, OwnCall } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import {
  type CacheReader,
  type ContactCache,
  type KnownUsers,
  loadFacts,
  loadFirstUsers,
  loadMainFunders,
  readOwnContacts,
  readPayersBack,
} from "./contact-graph.ts";

type CounterpartiesQuery = {
  readonly chainId: number;
  readonly wallets: readonly CounterpartyWallet[];
  readonly cache: ContactCache;
  readonly publicFunders: ReadonlySet<Address>;
  readonly popularContracts: ReadonlySet<Address>;
  readonly flags: ReadonlyMap<Address, "sanctioned" | "mixer">;
  readonly policy: Policy;
};

/** A wallet whose counterparties are to be described. */
type CounterpartyWallet = {
  readonly wallet: Address;
  readonly addresses: ReadonlySet<Address>;
  /** Unix seconds. */
  readonly windowStart: number;
  /** Calls from a history source, which contacts may lack. Empty if contacts are complete. */
  readonly untoldCalls: readonly OwnCall[];
};

/** Callers read first, as a multiple of those that can count: some are own or captive. */
const FIRST_LOOK = 1.2;
/** Growth of each further reading, if too few callers count. */
const NEXT_LOOK = 4;
/** Counterparties described before other work gets its turn. */
const PAUSE_AFTER = 1_000;

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
  const contacts = await readOwnContacts(reader, wallets);
  const payersBack = await readPayersBack(
    client,
    chainId,
    wallets.map(({ wallet, addresses }) => ({
      wallet,
      funded: [...addresses].filter((account) => cache.facts.get(account)?.firstFunder === wallet),
    })),
  );
  const owned = [...asked].filter((account) => cache.facts.get(account)?.hasCode === false);
  await loadMainFunders(reader, [...own, ...owned]);

  const described = wallets.map((wallet) =>
    startWallet(wallet, {
      own: contacts.get(wallet.wallet) ?? new Map(),
      payersBack: payersBack.get(wallet.wallet) ?? new Set(),
      query,
    }),
  );
  let open: ReadonlySet<Address> = asked;
  for (let looks = Math.ceil(FIRST_LOOK * policy.credit.usersCounted); ; looks *= NEXT_LOOK) {
    await loadFirstUsers(reader, open, looks);
    const stillOpen = new Set<Address>();
    for (const wallet of described)
      for (const address of await describeOpen(wallet, open, query)) stillOpen.add(address);
    open = stillOpen;
    if (open.size === 0) return described.map(({ facts }) => [...facts.values()]);
  }
}

/** A wallet whose counterparties are described as their users are read. */
type WalletUnderWay = {
  readonly asked: CounterpartyWallet;
  /** Its own contacts by counterparty. */
  readonly own: ReadonlyMap<Address, Contact>;
  readonly usersOf: Map<Address, readonly Contact[]>;
  /** Finds owners and captive users once. */
  readonly describe: (address: Address) => CounterpartyFact;
  /** By rising address. */
  readonly facts: Map<Address, CounterpartyFact>;
};

function startWallet(
  asked: CounterpartyWallet,
  {
    own,
    payersBack,
    query: { cache, publicFunders, popularContracts, flags, policy },
  }: {
    /** The wallet's contacts with others, by these. */
    readonly own: ReadonlyMap<Address, Contact>;
    readonly payersBack: ReadonlySet<Address>;
    readonly query: CounterpartiesQuery;
  },
): WalletUnderWay {
  const { wallet, addresses, windowStart } = asked;
  const usersOf = new Map<Address, readonly Contact[]>();
  const mainFunderOf = new Map<Address, Address>();
  for (const account of [wallet, ...addresses]) {
    const funder = cache.mainFunders.get(account);
    if (funder !== undefined && funder !== null) mainFunderOf.set(account, funder);
  }
  const graph: ContactGraph = { usersOf, mainFunderOf, contactsOf: cache.doings, callsOf: cache.calls };
  const describe = createDescriber({
    ...{ wallet, addresses, windowStart, graph, publicFunders, popularContracts, flags, policy },
    payersBack,
    facts: cache.facts,
  });
  return { asked, own: ownContacts(asked, own), usersOf, describe, facts: new Map() };
}

/**
 * Describes the counterparties of which more users were read; returns those of which still more users could count.
 * Yields to other work now and then.
 */
async function describeOpen(
  { asked, own, usersOf, describe, facts }: WalletUnderWay,
  open: ReadonlySet<Address>,
  { cache, policy }: CounterpartiesQuery,
): Promise<readonly Address[]> {
  const stillOpen: Address[] = [];
  const addresses = sortedAddresses(asked).filter((address) => open.has(address));
  for (const [place, address] of addresses.entries()) {
    if (place > 0 && place % PAUSE_AFTER === 0) await setImmediate();
    // Another batch may read more users meanwhile; this one counts the users that it described.
    const users = cache.users.get(address);
    usersOf.set(address, withOwn(users, own.get(address)));
    const fact = describe(address);
    facts.set(address, fact);
    if (users?.extent === "first callers" && fact.outsideUsers < policy.credit.usersCounted)
      stillOpen.push(address);
  }
  return stillOpen;
}

/** The wallet's own contacts, with first moments that only its calls show. */
function ownContacts(
  { wallet, untoldCalls }: CounterpartyWallet,
  contacts: ReadonlyMap<Address, Contact>,
): ReadonlyMap<Address, Contact> {
  if (untoldCalls.length === 0) return contacts;
  const own = new Map(contacts);
  for (const contact of contactsIn(untoldCalls, wallet)) {
    const told = own.get(contact.counterparty);
    if (told === undefined || contact.firstTime < told.firstTime)
      own.set(contact.counterparty, { ...(told ?? contact), firstTime: contact.firstTime });
  }
  return own;
}

/** The users that were read, with the wallet's own contact first, which they need not hold. */
function withOwn(users: KnownUsers | undefined, own: Contact | undefined): readonly Contact[] {
  const contacts = users?.contacts ?? [];
  return own === undefined ? contacts : [own, ...contacts];
}

/**
 * Contacts derived from calls alone: with the account paid, else the account called; none if that is the wallet itself.
 */
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
