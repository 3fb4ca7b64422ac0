import type { ClientBase } from "pg";
import type { Address } from "viem";
import { ancestorsOf, paysBack } from "../../model/features/find-owners.ts";
import type { AccountFact, Contact } from "../../model/features/types.ts";
import { createUserLists } from "../../model/features/user-lists.ts";
import { emptyUserCache, type UserCache } from "./known-users.ts";

/**
 * Contacts and account facts as of one block, cached for the batches of a run: most wallets deal with the same
 * contracts.
 */
export type ContactCache = UserCache & {
  readonly facts: Map<Address, AccountFact>;
  /** Accounts whose facts were asked for, whether there are any or not. */
  readonly factsRead: Set<Address>;
  /** The sender of more than half of an account's received funds; null without one. */
  readonly mainFunders: Map<Address, Address | null>;
  /** Accounts that several wallets of one batch dealt with. */
  readonly common: Set<Address>;
};

/** Keeps the cache of the block that was asked for last. */
export type ContactCaches = (blockHash: string) => ContactCache;

/** Accounts whose facts a run caches, in about 50 MB; above that only the users of common accounts stay in the cache. */
const MOST_ACCOUNTS = 100_000;
/** Accounts that lists name, and pairs in these, in about 150 MB; above that the cache starts empty. */
const [MOST_NAMED, MOST_PAIRS] = [500_000, 6_000_000];

/** Accounts that one statement reads: more of them take a process's time for too long at once, and the database's. */
const ACCOUNTS_AT_ONCE = 5_000;

/** Caches for one run of scoring. */
export function createContactCaches(): ContactCaches {
  let held: { readonly blockHash: string; readonly cache: ContactCache } | null = null;
  return (blockHash) => {
    if (held === null || held.blockHash !== blockHash) held = { blockHash, cache: emptyCache() };
    const { lists, size, factsRead } = held.cache;
    if (lists.accounts.length > MOST_NAMED || size.pairs > MOST_PAIRS)
      held = { blockHash, cache: emptyCache() };
    // A new one: a batch in progress reads the old one to its end.
    else if (factsRead.size > MOST_ACCOUNTS) held = { blockHash, cache: commonPart(held.cache) };
    return held.cache;
  };
}

/** A block stays the newest final one for a minute, and facts of accounts are learnt meanwhile. */
const RENEWED_AFTER_MS = 5_000;

/** Caches for all readings of a process that serves callers, renewed every few seconds. */
export function createRenewedCaches(monotonicMs: () => number): ContactCaches {
  let held = { caches: createContactCaches(), since: monotonicMs() };
  return (blockHash) => {
    if (monotonicMs() - held.since > RENEWED_AFTER_MS) {
      held = { caches: createContactCaches(), since: monotonicMs() };
    }
    return held.caches(blockHash);
  };
}

function emptyCache(users = emptyUserCache(createUserLists())): ContactCache {
  const facts = { facts: new Map(), factsRead: new Set<Address>() };
  return { ...users, ...facts, mainFunders: new Map(), common: new Set() };
}

/** The users of accounts that several wallets dealt with; what they called is the same object. */
function commonPart({ lists, size, users, common }: ContactCache): ContactCache {
  const usersOf = [...common].flatMap((account) => {
    const known = users.get(account);
    return known === undefined ? [] : [[account, known] as const];
  });
  return { ...emptyCache({ lists, size, users: new Map(usersOf) }), common };
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
  const facts: AccountFact[] = [];
  const isMissing = (account: Address) => !cache.factsRead.has(account) && !asked.has(account);
  let missing = [...new Set(accounts)].filter(isMissing);
  while (missing.length > 0) {
    const found: AccountFact[] = [];
    for (const part of inParts(missing)) found.push(...(await readAccountFacts(client, chainId, part)));
    for (const account of missing) asked.add(account);
    facts.push(...found);
    missing = [...ancestorsOf(new Map(found.map((fact) => [fact.address, fact])), publicFunders)].filter(
      isMissing,
    );
  }
  // All at once: another batch that finds an account here finds its ancestors as well.
  for (const fact of facts) cache.facts.set(fact.address, fact);
  for (const account of asked) cache.factsRead.add(account);
}

/**
 * Reads when each wallet first called its requested counterparties, in Unix seconds; null where it only sent funds. Those that it had
 * no contact with have no entry.
 */
export async function readFirstCalls(
  { client, chainId }: Pick<CacheReader, "client" | "chainId">,
  wallets: readonly { readonly wallet: Address; readonly addresses: ReadonlySet<Address> }[],
): Promise<ReadonlyMap<Address, ReadonlyMap<Address, number | null>>> {
  const asked = wallets.flatMap(({ wallet, addresses }) =>
    [...addresses].map((counterparty) => ({ wallet, counterparty })),
  );
  const first = new Map(wallets.map(({ wallet }) => [wallet, new Map<Address, number | null>()]));
  for (const part of inParts(asked)) {
    const byWallet = Map.groupBy(part, ({ wallet }) => wallet);
    const lists = [...byWallet.values()].map((pairs) =>
      pairs.map(({ counterparty }) => counterparty).join(" "),
    );
    const { rows } = await client.query({
      name: "first-calls-of",
      text: FIRST_CALLS,
      values: [chainId, [...byWallet.keys()], lists],
      rowMode: "array",
    });
    for (const [wallet, contacts] of rows as [Address, string][]) {
      const known = first.get(wallet);
      for (const entry of contacts.split(" ")) {
        const time = entry.slice(ADDRESS_LENGTH);
        known?.set(entry.slice(0, ADDRESS_LENGTH) as Address, time === "" ? null : Number(time));
      }
    }
  }
  return first;
}

const FIRST_CALLS = `
  select wanted.account, own.contacts
  from unnest($2::text[], $3::text[]) as wanted (account, counterparties)
  cross join lateral (
    select string_agg(counterparty || case when calls > 0 then first_time::text else '' end, ' ') as contacts from ahs.contact
    where chain_id = $1 and account = wanted.account and counterparty = any(string_to_array(wanted.counterparties, ' '))
  ) own
  where own.contacts is not null`;

/** The accounts of each wallet that it funded first and that pay it back, see `paysBack`. */
export async function readPayersBack(
  client: ClientBase,
  chainId: number,
  wallets: readonly { readonly wallet: Address; readonly funded: readonly Address[] }[],
): Promise<ReadonlyMap<Address, ReadonlySet<Address>>> {
  const pairs = wallets.flatMap(({ wallet, funded }) =>
    funded.flatMap((account) => [
      { account: wallet, counterparty: account },
      { account, counterparty: wallet },
    ]),
  );
  const contacts = new Map<string, Contact>();
  for (const part of inParts(pairs)) {
    for (const contact of await readContacts(client, chainId, part))
      contacts.set(`${contact.account} ${contact.counterparty}`, contact);
  }
  return new Map(
    wallets.map(({ wallet, funded }) => [
      wallet,
      new Set(
        funded.filter((account) =>
          paysBack(contacts.get(`${wallet} ${account}`), contacts.get(`${account} ${wallet}`)),
        ),
      ),
    ]),
  );
}

/** Reads the main funder of each account, not the crowd that sent dust. */
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

function* inParts<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += ACCOUNTS_AT_ONCE)
    yield items.slice(start, start + ACCOUNTS_AT_ONCE);
}

/** Facts of those of the accounts that something is known of. */
export async function readAccountFacts(
  client: ClientBase,
  chainId: number,
  accounts: readonly Address[],
): Promise<readonly AccountFact[]> {
  const { rows } = await client.query<AccountFact>({
    name: "account-facts",
    text: `select address, has_code as "hasCode", creator, first_funder as "firstFunder", existed_at::float8 as "existedAt"
           from ahs.account_fact where chain_id = $1 and address = any($2::text[])`,
    values: [chainId, accounts],
  });
  return rows;
}

/** Returns, by account, the sender of more than half of its received funds; accounts without one have no entry. */
export async function readMainFunders(
  client: ClientBase,
  chainId: number,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, Address>> {
  const { rows } = await client.query({
    name: "main-funders-of",
    text: `
      select wanted.account, most.account
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select account, sent_micro_usd as sent, sum(sent_micro_usd) over () as total from ahs.contact
        where chain_id = $1 and counterparty = wanted.account order by sent_micro_usd desc limit 1
      ) most
      where 2 * most.sent > most.total`,
    values: [chainId, accounts],
    rowMode: "array",
  });
  return new Map(rows as [Address, Address][]);
}

/** Reads the contacts of accounts with counterparties, pair by pair; pairs without dealings are left out. */
async function readContacts(
  client: ClientBase,
  chainId: number,
  pairs: readonly { readonly account: Address; readonly counterparty: Address }[],
): Promise<readonly Contact[]> {
  const { rows } = await client.query({
    name: "contacts-of",
    text: `
      select wanted.account, wanted.counterparty, own.calls::text, own.sent_micro_usd::text, own.first_time::text, own.last_time::text
      from unnest($2::text[], $3::text[]) as wanted (account, counterparty)
      cross join lateral (
        select calls, sent_micro_usd, first_time, last_time from ahs.contact
        where chain_id = $1 and counterparty = wanted.counterparty and account = wanted.account limit 1
      ) own`,
    values: [chainId, pairs.map(({ account }) => account), pairs.map(({ counterparty }) => counterparty)],
    rowMode: "array",
  });
  return (rows as [Address, Address, ...string[]][]).map(([account, counterparty, ...numbers]) =>
    contactOf({ account, counterparty }, numbers),
  );
}

const ADDRESS_LENGTH = 42;

function contactOf(
  who: Pick<Contact, "counterparty" | "account">,
  [calls, sent, firstTime, lastTime]: readonly (string | undefined)[],
): Contact {
  if (sent === undefined || lastTime === undefined)
    throw new Error(`a contact of ${who.account} is cut short`);
  return {
    ...who,
    calls: Number(calls),
    sentMicroUsd: sent === "0" ? 0n : BigInt(sent),
    firstTime: Number(firstTime),
    lastTime: Number(lastTime),
  };
}
