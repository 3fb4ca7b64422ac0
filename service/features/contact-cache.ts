import type { ClientBase } from "pg";
import type { Address } from "viem";
import { readAccountFacts, readContacts, readFirstUsers, readUsers } from "../store/contact-graph.ts";
import type { AccountFact, Contact } from "./describe-counterparties.ts";
import { ancestorsOf } from "./find-owners.ts";

/** Who had to do with one account: the first of its callers, all of its callers, or all that called it or sent it something. */
export type KnownUsers = {
  readonly contacts: readonly Contact[];
  readonly extent: "first callers" | "callers" | "all";
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
  readonly contacts: Map<Address, readonly Contact[]>;
  /** All calls of an account, those that its contacts do not tell included. */
  readonly calls: Map<Address, number>;
};

/** Keeps the cache of the block that was asked for last. */
export type ContactCaches = (blockHash: string) => ContactCache;

/** Contacts that a run keeps in memory, about 100 MB; with more it starts anew. */
const MOST_ACCOUNTS = 100_000;

/** Caches for one run of scoring. */
export function createContactCaches(): ContactCaches {
  let held: { readonly blockHash: string; readonly cache: ContactCache } | null = null;
  return (blockHash) => {
    if (held === null || held.blockHash !== blockHash || held.cache.contacts.size > MOST_ACCOUNTS) {
      held = {
        blockHash,
        cache: {
          facts: new Map(),
          factsRead: new Set(),
          users: new Map(),
          contacts: new Map(),
          calls: new Map(),
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
  const isMissing = (account: Address) => !cache.factsRead.has(account);
  let missing = [...new Set(accounts)].filter(isMissing);
  while (missing.length > 0) {
    const found = await readAccountFacts(client, chainId, missing);
    for (const account of missing) cache.factsRead.add(account);
    for (const fact of found) cache.facts.set(fact.address, fact);
    missing = [...ancestorsOf(new Map(found.map((fact) => [fact.address, fact])), publicFunders)].filter(
      isMissing,
    );
  }
}

/** Reads at least the first users of the accounts, and the contacts of these users. */
export async function loadFirstUsers(
  reader: CacheReader,
  accounts: Iterable<Address>,
  limit: number,
): Promise<void> {
  const { client, chainId, cache } = reader;
  const missing = [...new Set(accounts)].filter((account) => !cache.users.has(account));
  if (missing.length === 0) return;
  const found = await readFirstUsers(client, { chainId, counterparties: missing, limit });
  for (const account of missing) {
    const contacts = found.get(account) ?? [];
    cache.users.set(account, { contacts, extent: contacts.length < limit ? "callers" : "first callers" });
  }
  await loadContacts(reader, usersAmong(cache, missing));
}

/** Reads all that called the accounts or sent them something, and the contacts of these. */
export async function loadAllUsers(reader: CacheReader, accounts: Iterable<Address>): Promise<void> {
  const { client, chainId, cache } = reader;
  const missing = [...new Set(accounts)].filter((account) => cache.users.get(account)?.extent !== "all");
  if (missing.length === 0) return;
  const found = await readUsers(client, chainId, missing);
  for (const account of missing)
    cache.users.set(account, { contacts: found.get(account) ?? [], extent: "all" });
  await loadContacts(reader, usersAmong(cache, missing));
}

/** Reads the contacts of the accounts. */
export async function loadContacts(
  { client, chainId, cache }: CacheReader,
  accounts: Iterable<Address>,
): Promise<void> {
  const missing = [...new Set(accounts)].filter((account) => !cache.contacts.has(account));
  if (missing.length === 0) return;
  const found = await readContacts(client, chainId, missing);
  for (const account of missing) {
    const doings = found.get(account);
    const contacts = doings?.contacts ?? [];
    cache.contacts.set(account, contacts);
    const told = contacts.reduce((sum, { calls }) => sum + calls, 0);
    cache.calls.set(account, Math.max(told, doings?.strangerCalls ?? told));
  }
}

function* usersAmong(cache: ContactCache, accounts: Iterable<Address>): Generator<Address> {
  for (const account of accounts) {
    for (const contact of cache.users.get(account)?.contacts ?? []) yield contact.account;
  }
}
