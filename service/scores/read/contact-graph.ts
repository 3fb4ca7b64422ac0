import type { ClientBase } from "pg";
import type { Address } from "viem";
import { ancestorsOf, paysBack } from "../../model/features/find-owners.ts";
import type { AccountFact, Contact, Doing } from "../../model/features/types.ts";

/** Who called one account: the first of its callers, or all of them. */
export type KnownUsers = {
  readonly contacts: readonly Contact[];
  readonly extent: "first callers" | "callers";
};

/**
 * Contacts and account facts as of one block, cached for the batches of a run: most wallets deal with the same
 * contracts.
 */
export type ContactCache = Readonly<ReturnType<typeof emptyCache>>;

/** Keeps the cache of the block that was asked for last. */
export type ContactCaches = (blockHash: string) => ContactCache;

/** Contacts that a run caches, about 100 MB; above that the cache starts empty. */
const MOST_ACCOUNTS = 100_000;

/** Accounts that one statement reads: more of them take a process's time for too long at once, and the database's. */
const ACCOUNTS_AT_ONCE = 5_000;

/** Caches for one run of scoring. */
export function createContactCaches(): ContactCaches {
  let held: { readonly blockHash: string; readonly cache: ContactCache } | null = null;
  return (blockHash) => {
    if (held === null || held.blockHash !== blockHash || held.cache.doings.size > MOST_ACCOUNTS)
      held = { blockHash, cache: emptyCache() };
    return held.cache;
  };
}

function emptyCache() {
  return {
    facts: new Map<Address, AccountFact>(),
    /** Accounts whose facts were asked for, whether there are any or not. */
    factsRead: new Set<Address>(),
    users: new Map<Address, KnownUsers>(),
    /** The sender of more than half of an account's received funds; null without one. */
    mainFunders: new Map<Address, Address | null>(),
    /** Counterparties that each user called. */
    doings: new Map<Address, readonly Doing[]>(),
    /** The calls of each user, added up. */
    calls: new Map<Address, number>(),
    /** One copy of each address: comparing equal copies costs more. */
    names: new Map<string, Address>(),
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
  // All at once: another batch that finds an account here finds its ancestors as well.
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

/** Reads the contacts of each wallet with its requested counterparties, by wallet and counterparty. */
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

function isRead(users: KnownUsers | undefined, limit: number): boolean {
  if (users === undefined) return false;
  return users.extent !== "first callers" || users.contacts.length >= limit;
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

/** Runs before the users are cached: a user in the cache then has its calls there. */
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
  found: ReadonlyMap<Address, readonly Doing[]>,
): void {
  for (const account of accounts) {
    const called = found.get(account) ?? [];
    cache.doings.set(account, called);
    cache.calls.set(
      account,
      called.reduce((sum, { calls }) => sum + calls, 0),
    );
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
        select sum(sent_micro_usd) as total, max(sent_micro_usd) as most from ahs.contact
        where chain_id = $1 and counterparty = wanted.account
      ) received
      cross join lateral (
        select account from ahs.contact
        where chain_id = $1 and counterparty = wanted.account and sent_micro_usd = received.most limit 1
      ) most
      where 2 * received.most > received.total`,
    values: [chainId, accounts],
    rowMode: "array",
  });
  return new Map(rows as [Address, Address][]);
}

/** The first callers of each of the accounts by rising address, at most `limit`: followed wallets, and others in sampled blocks. */
async function readFirstUsers(
  client: ClientBase,
  query: { readonly chainId: number; readonly counterparties: readonly Address[]; readonly limit: number },
): Promise<ReadonlyMap<Address, readonly Contact[]>> {
  const { rows } = await client.query({
    name: "first-users-of",
    text: `
      select wanted.counterparty, string_agg(first.line, E'\\n')
      from unnest($2::text[]) as wanted (counterparty)
      cross join lateral (
        select concat_ws(' ', account, calls, sent, first_time, last_time) as line from (
          (select account, calls, sent_micro_usd as sent, first_time, last_time from ahs.contact
           where chain_id = $1 and counterparty = wanted.counterparty and calls > 0 and ${isFollowed("account")}
           order by account limit $3)
          union all
          (select account, calls, 0, first_time, last_time from ahs.sampled_contact
           where chain_id = $1 and counterparty = wanted.counterparty and not ${isFollowed("account")}
           order by account limit $3)
        ) users
        order by account limit $3
      ) first
      group by wanted.counterparty`,
    values: [query.chainId, query.counterparties, query.limit],
    rowMode: "array",
  });
  return new Map(
    (rows as [Address, string][]).map(([counterparty, text]) => [counterparty, usersIn(counterparty, text)]),
  );
}

function usersIn(counterparty: Address, text: string): readonly Contact[] {
  return text.split("\n").map((line) => {
    const [account, calls, sent, firstTime, lastTime] = line.split(" ");
    return contactOf({ counterparty, account: account as Address }, [calls, sent, firstTime, lastTime]);
  });
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

/** SQL: whether the contacts of an account are complete. $1 is the chain's id. */
function isFollowed(account: string): string {
  return `exists (select from ahs.enrich_wallet w where w.chain_id = $1 and w.wallet = ${account})`;
}

/** SQL: the first counterparties of `wanted.account` by rising address, with its calls to each. $1 is the chain's id. */
export function calledSql(limit: number): string {
  const called = (table: string) => `
    select counterparty, calls from ahs.${table}
    where chain_id = $1 and account = wanted.account order by counterparty limit ${limit}`;
  return `
    select counterparty, calls from (${called("contact")}) own where ${isFollowed("wanted.account")}
    union all
    select counterparty, calls from (${called("sampled_contact")}) seen where not ${isFollowed("wanted.account")}`;
}

/**
 * Contacts read of one account: a busy one has millions, and is among the users of many contracts. A thousandth of them
 * shows where its calls go.
 */
const MAX_DOINGS = 2_000;

/** Reads the calls of each account from its first contacts by rising address; accounts without known calls have no entry. */
async function readDoings(
  client: ClientBase,
  query: {
    readonly chainId: number;
    readonly accounts: readonly Address[];
    /** Returns the cached copy of an address. */
    readonly nameOf: (address: string) => Address;
  },
): Promise<ReadonlyMap<Address, readonly Doing[]>> {
  const { chainId, accounts, nameOf } = query;
  const { rows } = await client.query({
    name: "doings-of",
    text: `
      select wanted.account, first.called
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select string_agg(counterparty || calls, ' ') filter (where calls > 0) as called
        from (${calledSql(MAX_DOINGS)}) contacts
      ) first
      where first.called is not null`,
    values: [chainId, accounts],
    rowMode: "array",
  });
  return new Map(
    (rows as [Address, string][]).map(([account, text]) => {
      const called = text.split(" ").map((entry) => ({
        counterparty: nameOf(entry.slice(0, ADDRESS_LENGTH)),
        calls: Number(entry.slice(ADDRESS_LENGTH)),
      }));
      return [account, called];
    }),
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
