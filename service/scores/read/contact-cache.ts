import type { ClientBase } from "pg";
import type { Address } from "viem";
import { ancestorsOf } from "../../model/features/find-owners.ts";
import type { AccountFact, Contact, Doing } from "../../model/features/types.ts";
import {
  type Doings,
  readAccountFacts,
  readContacts,
  readDoings,
  readFirstUsers,
  readMainFunders,
} from "./contact-graph.ts";

/** Who called one account: the first of its callers, or all of them. */
export type KnownUsers = {
  readonly contacts: readonly Contact[];
  readonly extent: "first callers" | "callers";
};

/**
 * Contacts and account facts as of one block, read as they are asked for and kept for the batches of a run: most wallets
 * deal with the same contracts.
 */
export type ContactCache = {
  readonly facts: Map<Address, AccountFact>;
  /** Accounts whose facts were asked for, whether there are any or not. */
  readonly factsRead: Set<Address>;
  readonly users: Map<Address, KnownUsers>;
  /** Who sent an account more than half of all that was sent to it; null where nobody did. */
  readonly mainFunders: Map<Address, Address | null>;
  /** What each user called. */
  readonly doings: Map<Address, readonly Doing[]>;
  /** All calls of an account, those that its contacts do not tell included. */
  readonly calls: Map<Address, number>;
  /** Addresses by themselves: of equal ones the first is kept, which costs less to compare than copies of it all over. */
  readonly names: Map<string, Address>;
};

/** Keeps the cache of the block that was asked for last. */
export type ContactCaches = (blockHash: string) => ContactCache;

/** Contacts that a run keeps in memory, about 100 MB; with more it starts anew. */
const MOST_ACCOUNTS = 100_000;

/** Accounts that one statement reads: more of them take a process's time for too long at once, and the database's. */
const ACCOUNTS_AT_ONCE = 5_000;

/** Caches for one run of scoring. */
export function createContactCaches(): ContactCaches {
  let held: { readonly blockHash: string; readonly cache: ContactCache } | null = null;
  return (blockHash) => {
    if (held === null || held.blockHash !== blockHash || held.cache.doings.size > MOST_ACCOUNTS) {
      held = {
        blockHash,
        cache: {
          facts: new Map(),
          factsRead: new Set(),
          users: new Map(),
          mainFunders: new Map(),
          doings: new Map(),
          calls: new Map(),
          names: new Map(),
        },
      };
    }
    return held.cache;
  };
}

export type CacheReader = {
  readonly client: ClientBase;
  readonly chainId: number;
  readonly cache: ContactCache;
};

/** Reads the facts of the accounts and of all their ancestors. */
export async function loadFacts(
  { client, chainId, cache }: CacheReader,
  accounts: Iterable<Address>,
  publicFunders: ReadonlySet<Address>,
): Promise<void> {
  const asked = new Set<Address>();
  const told: AccountFact[] = [];
  const isMissing = (account: Address) => !cache.factsRead.has(account) && !asked.has(account);
  let missing = [...new Set(accounts)].filter(isMissing);
  while (missing.length > 0) {
    const found: AccountFact[] = [];
    for (const part of inParts(missing)) found.push(...(await readAccountFacts(client, chainId, part)));
    for (const account of missing) asked.add(account);
    told.push(...found);
    missing = [...ancestorsOf(new Map(found.map((fact) => [fact.address, fact])), publicFunders)].filter(
      isMissing,
    );
  }
  // All at once: whoever finds an account here, another batch for one, finds its ancestors as well.
  for (const fact of told) cache.facts.set(fact.address, fact);
  for (const account of asked) cache.factsRead.add(account);
}

/** Reads so many of the first users of the accounts, or all callers where they are fewer, and what these users called. */
export async function loadFirstUsers(
  reader: CacheReader,
  accounts: Iterable<Address>,
  limit: number,
): Promise<void> {
  const { client, chainId, cache } = reader;
  const missing = [...new Set(accounts)].filter((account) => !isRead(cache.users.get(account), limit));
  for (const part of inParts(missing)) {
    const found = await readFirstUsers(client, { chainId, counterparties: part, limit });
    await loadDoings(reader, found.values());
    for (const account of part) {
      const contacts = found.get(account) ?? [];
      // Another batch may have read more meanwhile.
      if (isRead(cache.users.get(account), limit)) continue;
      cache.users.set(account, { contacts, extent: contacts.length < limit ? "callers" : "first callers" });
    }
  }
}

/** What each of the wallets did with those of its counterparties that are asked for, by wallet and counterparty. */
export async function readOwnContacts(
  { client, chainId }: CacheReader,
  wallets: readonly { readonly wallet: Address; readonly addresses: ReadonlySet<Address> }[],
): Promise<ReadonlyMap<Address, ReadonlyMap<Address, Contact>>> {
  const asked = wallets.flatMap(({ wallet, addresses }) =>
    [...addresses].map((counterparty) => ({ account: wallet, counterparty })),
  );
  const own = new Map(wallets.map(({ wallet }) => [wallet, new Map<Address, Contact>()]));
  for (const part of inParts(asked)) {
    for (const contact of await readContacts(client, chainId, part))
      own.get(contact.account)?.set(contact.counterparty, contact);
  }
  return own;
}

function isRead(users: KnownUsers | undefined, limit: number): boolean {
  if (users === undefined) return false;
  return users.extent !== "first callers" || users.contacts.length >= limit;
}

/** Reads who sent each of the accounts most of what it received: of a crowd that sent dust nobody but that one is read. */
export async function loadMainFunders(
  { client, chainId, cache }: CacheReader,
  accounts: Iterable<Address>,
): Promise<void> {
  const missing = [...new Set(accounts)].filter((account) => !cache.mainFunders.has(account));
  for (const part of inParts(missing)) {
    const found = await readMainFunders(client, chainId, part);
    for (const account of part) cache.mainFunders.set(account, found.get(account) ?? null);
  }
}

/** Before the users are kept: whoever finds a user in the cache finds what it called. */
async function loadDoings(
  { client, chainId, cache }: CacheReader,
  users: Iterable<readonly Contact[]>,
): Promise<void> {
  const missing = new Set<Address>();
  for (const contacts of users)
    for (const { account } of contacts) if (!cache.doings.has(account)) missing.add(account);
  if (missing.size === 0) return;
  const nameOf = (address: string) => nameIn(cache.names, address);
  for (const part of inParts([...missing]))
    keepDoings(cache, part, await readDoings(client, { chainId, accounts: part, nameOf }));
}

function* inParts<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += ACCOUNTS_AT_ONCE)
    yield items.slice(start, start + ACCOUNTS_AT_ONCE);
}

function keepDoings(
  cache: ContactCache,
  accounts: readonly Address[],
  found: ReadonlyMap<Address, Doings>,
): void {
  for (const account of accounts) {
    const doings = found.get(account);
    const called = doings?.called ?? [];
    cache.doings.set(account, called);
    const told = called.reduce((sum, { calls }) => sum + calls, 0);
    cache.calls.set(account, Math.max(told, doings?.strangerCalls ?? told));
  }
}

function nameIn(names: Map<string, Address>, address: string): Address {
  const known = names.get(address);
  if (known !== undefined) return known;
  // A part of a longer text keeps all of that in memory; its copy does not.
  const name = Buffer.from(address, "latin1").toString("latin1") as Address;
  names.set(name, name);
  return name;
}
