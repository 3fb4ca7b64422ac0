import type { ClientBase } from "pg";
import type { Address } from "viem";
import { type Doings, numberOf, type UserLists, type Users } from "../../model/features/user-lists.ts";

/** Who called one account, by rising address: the first of its callers, or all of them. */
export type KnownUsers = {
  readonly users: Users;
  readonly extent: "first callers" | "callers";
};

/** Users that the batches of a run share. */
export type UserCache = {
  readonly lists: UserLists;
  readonly users: Map<Address, CachedUsers>;
  /** Pairs in the lists and the users. */
  readonly size: { pairs: number };
};

type CachedUsers = KnownUsers & {
  /** Length of the start of `users` in which the calls of each are known. */
  readonly known: number;
};

export type UserReader = {
  readonly client: ClientBase;
  readonly chainId: number;
  readonly cache: UserCache;
};

export function emptyUserCache(lists: UserLists): UserCache {
  return { lists, users: new Map(), size: { pairs: 0 } };
}

/** Users of which one statement reads the calls, and users that it returns at most, unless it is of a single account. */
const [USERS_AT_ONCE, RETURNED_AT_ONCE] = [2_000, 100_000];

/**
 * Reads so many of the first users of the accounts, or all callers where they are fewer, and what these users called. The calls of
 * a wallet that alone asks for an account are left out: it never counts as a user there.
 */
export async function loadFirstUsers(
  reader: UserReader,
  /** Accounts, each with the only wallet of the batch that asks for it, or null if several do. */
  asked: ReadonlyMap<Address, Address | null>,
  limit: number,
): Promise<ReadonlyMap<Address, KnownUsers>> {
  const { users } = reader.cache;
  for (;;) {
    const { unread, unknown } = findMissing(reader.cache, asked, limit);
    if (unread.length === 0 && unknown.size === 0) {
      // At once: another batch may add users whose calls this one needs.
      return new Map([...asked.keys()].flatMap((account) => withUsers(account, users.get(account))));
    }
    await loadDoings(reader, unknown);
    for (const part of inParts(unread, Math.max(1, Math.floor(RETURNED_AT_ONCE / limit))))
      await loadMoreUsers(reader, { accounts: part, asked, limit });
  }
}

function withUsers(account: Address, users: CachedUsers | undefined): [Address, KnownUsers][] {
  return users === undefined ? [] : [[account, users]];
}

/** The accounts of which too few users are known, and users of the others whose calls are not known. */
function findMissing(cache: UserCache, asked: ReadonlyMap<Address, Address | null>, limit: number) {
  const unread: Address[] = [];
  const unknown = new Set<number>();
  for (const [account, asker] of asked) {
    const cached = cache.users.get(account);
    if (cached === undefined || !isRead(cached, limit)) {
      unread.push(account);
      continue;
    }
    if (cached.known === cached.users.length) continue;
    const left = addUnknown(cache.lists, { users: cached.users, from: cached.known, asker }, unknown);
    if (left === 0) cache.users.set(account, { ...cached, known: cached.users.length });
  }
  return { unread, unknown };
}

function isRead({ users, extent }: KnownUsers, limit: number): boolean {
  return extent === "callers" || users.length >= 2 * limit;
}

/** Adds users whose calls are to be read; returns how many have none, the asker included. */
function addUnknown(
  { doings, numbers }: UserLists,
  { users, from, asker }: { readonly users: Users; readonly from: number; readonly asker: Address | null },
  unknown: Set<number>,
): number {
  const except = asker === null ? undefined : numbers.get(asker);
  let left = 0;
  for (let place = from; place < users.length; place += 2) {
    const user = users[place];
    if (user === undefined || doings[user] !== undefined) continue;
    left += 1;
    if (user !== except) unknown.add(user);
  }
  return left;
}

/** Reads the next users of the accounts; they are cached once their calls are. */
async function loadMoreUsers(
  reader: UserReader,
  of: {
    readonly accounts: readonly Address[];
    readonly asked: ReadonlyMap<Address, Address | null>;
    readonly limit: number;
  },
): Promise<void> {
  const { cache } = reader;
  const { lists } = cache;
  const bases = of.accounts.map((account) => cache.users.get(account)?.users ?? NO_USERS);
  const found = await readNextUsers(reader, {
    counterparties: of.accounts,
    limit: of.limit,
    after: bases.map((users) => lists.accounts[users.at(-2) ?? -1] ?? ""),
  });
  const unknown = new Set<number>();
  for (const [account, users] of found)
    addUnknown(lists, { users, from: 0, asker: of.asked.get(account) ?? null }, unknown);
  await loadDoings(reader, unknown);
  for (const [place, account] of of.accounts.entries()) {
    const base = bases[place] ?? NO_USERS;
    const cached = cache.users.get(account);
    // Another batch read more of them meanwhile.
    if ((cached?.users ?? NO_USERS) !== base) continue;
    const next = found.get(account) ?? NO_USERS;
    const users = new Float64Array(base.length + next.length);
    users.set(base);
    users.set(next, base.length);
    const extent = next.length < 2 * of.limit ? "callers" : "first callers";
    cache.users.set(account, { users, extent, known: cached?.known ?? 0 });
    cache.size.pairs += next.length / 2;
  }
}

const NO_USERS: Users = new Float64Array(0);

async function loadDoings(reader: UserReader, users: ReadonlySet<number>): Promise<void> {
  const { lists, size } = reader.cache;
  for (const part of inParts([...users], USERS_AT_ONCE)) {
    const accounts = part.map((user) => lists.accounts[user] ?? "0x");
    const found = await readDoings(reader, accounts);
    for (const [place, user] of part.entries()) {
      if (lists.doings[user] !== undefined) continue;
      const doings = found.get(accounts[place] ?? "0x") ?? NO_DOINGS;
      lists.doings[user] = doings;
      size.pairs += doings.pairs.length / 2;
    }
  }
}

const NO_DOINGS: Doings = { pairs: new Uint32Array(0), total: 0 };

function* inParts<Item>(items: readonly Item[], size: number): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/**
 * The next callers of each of the accounts by rising address, at most `limit`: followed wallets, and others in sampled blocks.
 * Accounts without any have no entry.
 */
async function readNextUsers(
  { client, chainId, cache: { lists } }: UserReader,
  query: {
    readonly counterparties: readonly Address[];
    /** The last caller of each that is known; empty for none. */
    readonly after: readonly string[];
    readonly limit: number;
  },
): Promise<ReadonlyMap<Address, Users>> {
  const { rows } = await client.query({
    name: "next-users-of",
    text: `
      select wanted.counterparty, next.users
      from unnest($2::text[], $3::text[]) as wanted (counterparty, after)
      cross join lateral (
        select string_agg(account || last_time, ' ' order by account) as users from (
          (select account, last_time from ahs.contact
           where chain_id = $1 and counterparty = wanted.counterparty and account > wanted.after and calls > 0
             and ${isFollowed("account")}
           order by account limit $4)
          union all
          (select account, last_time from ahs.sampled_contact
           where chain_id = $1 and counterparty = wanted.counterparty and account > wanted.after
             and calls > 0 and not ${isFollowed("account")}
           order by account limit $4)
          order by account limit $4
        ) users
      ) next
      where next.users is not null`,
    values: [chainId, query.counterparties, query.after, query.limit],
    rowMode: "array",
  });
  return new Map(
    (rows as [Address, string][]).map(([counterparty, text]) => [
      counterparty,
      Float64Array.from(
        text.split(" ").flatMap((entry) => [accountIn(lists, entry), Number(entry.slice(ADDRESS_LENGTH))]),
      ),
    ]),
  );
}

/**
 * SQL: whether the contacts of an account are complete. $1 is the chain's id. A scalar, which is looked up for each account: a join
 * walks all followed wallets for a counterparty with a single user.
 */
function isFollowed(account: string): string {
  return `((select w.wallet from ahs.enrich_wallet w where w.chain_id = $1 and w.wallet = ${account}) is not null)`;
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
  { client, chainId, cache: { lists } }: UserReader,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, Doings>> {
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
  return new Map((rows as [Address, string][]).map(([account, text]) => [account, doingsIn(lists, text)]));
}

function doingsIn(lists: UserLists, text: string): Doings {
  const entries = text.split(" ");
  const pairs = new Uint32Array(2 * entries.length);
  let total = 0;
  for (const [place, entry] of entries.entries()) {
    const calls = Number(entry.slice(ADDRESS_LENGTH));
    pairs[2 * place] = accountIn(lists, entry);
    pairs[2 * place + 1] = calls;
    total += calls;
  }
  return { pairs, total };
}

const ADDRESS_LENGTH = 42;

/** The number of the account that an entry begins with. */
function accountIn(lists: UserLists, entry: string): number {
  const account = entry.slice(0, ADDRESS_LENGTH) as Address;
  const known = lists.numbers.get(account);
  // A part of a longer text keeps all of that in memory; its copy does not.
  return known ?? numberOf(lists, Buffer.from(account, "latin1").toString("latin1") as Address);
}
