import type { ClientBase } from "pg";
import type { Address } from "viem";
import { OTHER_PAYERS } from "../../ingest/enrich/contact-rows.ts";
import { ancestorsOf, findOwners, mainFundersIn, type Owners } from "../../model/features/find-owners.ts";
import type { AccountFact, Contact } from "../../model/features/types.ts";
import { readAccountFacts } from "../../scores/read/contact-graph.ts";

/** An account that another one created or funded first. */
export type Child = {
  readonly parent: Address;
  readonly address: Address;
  readonly by: "creator" | "first_funder";
};

/** Number of calls from one account to another. */
type Call = { readonly account: Address; readonly counterparty: Address; readonly calls: number };

/**
 * Surroundings of a wallet: facts of it and its peers, accounts created or funded by it or its parents, and the calls
 * of its peers.
 */
export type Neighbourhood = {
  readonly facts: ReadonlyMap<Address, AccountFact>;
  readonly children: readonly Child[];
  /** By account, most calls first. */
  readonly calls: readonly Call[];
  /** True if an account has more children or contacts than the limits. */
  readonly cut: boolean;
};

/** Of each parent by each kind of link, in order of address. */
const MAX_CHILDREN = 40;
/** Most contacts read per peer, by address, and the number of most frequent ones returned. */
const MAX_CONTACTS = 200;
const MAX_CALLED = 3;
/** Most contacts among the accounts of one map. */
const MAX_AMONG = 2_000;

/** Reads the surroundings of a wallet. The cost of the queries does not depend on an account's number of contacts. */
export async function readNeighbourhood(
  client: ClientBase,
  {
    chainId,
    wallet,
    peers,
    publicFunders,
  }: {
    readonly chainId: number;
    /** Lower-case, as are the peers. */
    readonly wallet: Address;
    readonly peers: readonly Address[];
    /** Accounts without link value; their children are not read. */
    readonly publicFunders: ReadonlySet<Address>;
  },
): Promise<Neighbourhood> {
  const found = await readAccountFacts(client, chainId, [...new Set([wallet, ...peers])]);
  const facts = new Map(found.map((fact) => [fact.address, fact]));
  const own = facts.get(wallet);
  const parents = [wallet, own?.creator, own?.firstFunder].flatMap((parent) => parent ?? []);
  const expanded = [...new Set(parents)].filter((parent) => !publicFunders.has(parent));
  const children = [
    ...(await readChildren(client, { chainId, parents: expanded, by: "creator" })),
    ...(await readChildren(client, { chainId, parents: expanded, by: "first_funder" })),
  ];
  const callers = peers.filter((peer) => !publicFunders.has(peer) && facts.get(peer)?.hasCode !== true);
  const called = await readCalled(client, chainId, callers);
  return {
    facts,
    children: children
      .filter(({ place }) => place <= MAX_CHILDREN)
      .map(({ place: _place, ...child }) => child),
    calls: called.calls,
    cut: called.cut || children.some(({ place }) => place > MAX_CHILDREN),
  };
}

async function readChildren(
  client: ClientBase,
  {
    chainId,
    parents,
    by,
  }: {
    readonly chainId: number;
    readonly parents: readonly Address[];
    readonly by: Child["by"];
  },
): Promise<readonly (Child & { readonly place: number })[]> {
  const { rows } = await client.query<{ parent: Address; address: Address; place: number }>({
    name: `children-by-${by}`,
    text: `
      select wanted.parent, child.address, child.place::int
      from unnest($2::text[]) as wanted (parent)
      cross join lateral (
        select address, row_number() over (order by address) as place from (
          select address from ahs.account_fact where chain_id = $1 and ${by} = wanted.parent
          order by address limit ${MAX_CHILDREN + 1}
        ) first
      ) child
      order by 1, 2`,
    values: [chainId, parents],
  });
  return rows.map(({ parent, address, place }) => ({ parent, address, by, place }));
}

async function readCalled(
  client: ClientBase,
  chainId: number,
  accounts: readonly Address[],
): Promise<{ readonly calls: readonly Call[]; readonly cut: boolean }> {
  const { rows } = await client.query<Call & { place: number; looked_at: number }>({
    name: "called-most",
    text: `
      select wanted.account, told.counterparty, told.calls, told.place::int, told.looked_at::int
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select counterparty, calls, looked_at, row_number() over (order by calls desc, counterparty) as place
        from (
          select counterparty, calls, count(*) over () as looked_at from (
            select counterparty, calls from ahs.contact
            where chain_id = $1 and account = wanted.account order by counterparty limit ${MAX_CONTACTS}
          ) first
        ) counted
        where calls > 0
      ) told
      where told.place <= ${MAX_CALLED}
      order by 1, told.place`,
    values: [chainId, accounts],
  });
  const calls = rows.map(({ account, counterparty, calls }) => ({ account, counterparty, calls }));
  return { calls, cut: rows.some(({ looked_at }) => looked_at === MAX_CONTACTS) };
}

/** Links among accounts: owners, facts and contacts. */
export type AccountLinks = KnownOwners & {
  /** By falling funds, then falling calls, then rising addresses. */
  readonly contacts: readonly Contact[];
  /** Whether there are more contacts. */
  readonly cut: boolean;
};

/** Reads the links among the wallet and a few hundred accounts. Contacts without calls and without priced amounts are left out. */
export async function readAccountLinks(client: ClientBase, query: OwnersQuery): Promise<AccountLinks> {
  const known = await readOwners(client, query);
  const accounts = [...new Set([query.wallet, ...query.accounts])];
  // Looks up each pair by primary key. Other plans read all contacts of a hub.
  const { rows } = await client.query({
    name: "contacts-among",
    text: `
      select met.account, met.counterparty, met.calls, met.sent_micro_usd::text, met.first_time::float8, met.last_time::float8
      from unnest($2::text[]) as one (account) cross join unnest($2::text[]) as other (account)
      cross join lateral (
        select * from ahs.contact
        where chain_id = $1 and counterparty = other.account and contact.account = one.account
          and contact.account <> '${OTHER_PAYERS}' and (contact.calls > 0 or contact.sent_micro_usd > 0) limit 1
      ) met
      where one.account <> other.account
      order by met.sent_micro_usd desc, met.calls desc, met.account, met.counterparty limit ${MAX_AMONG + 1}`,
    values: [query.chainId, accounts],
    rowMode: "array",
  });
  const contacts = (rows as [Address, Address, number, string, number, number][]).map(
    ([account, counterparty, calls, sent, firstTime, lastTime]): Contact => ({
      ...{ account, counterparty, calls, firstTime, lastTime },
      sentMicroUsd: BigInt(sent),
    }),
  );
  return { ...known, contacts: contacts.slice(0, MAX_AMONG), cut: contacts.length > MAX_AMONG };
}

type OwnersQuery = {
  readonly chainId: number;
  /** Lower-case, as are the accounts. */
  readonly wallet: Address;
  readonly accounts: readonly Address[];
  /** Accounts without link value. */
  readonly publicFunders: ReadonlySet<Address>;
};

/** Owner clusters, and the facts about wallet, accounts and ancestors that prove them. */
type KnownOwners = { readonly owners: Owners; readonly facts: ReadonlyMap<Address, AccountFact> };

/** Most senders read per account. With more senders, none of them sent most of its funds. */
const MAX_FUNDERS = 500;

/** Most generations of creators and funders that are followed: each is a query. */
const MAX_GENERATIONS = 12;

/** Finds owner clusters. The cost of the queries does not depend on an account's number of contacts. */
export async function readOwners(client: ClientBase, query: OwnersQuery): Promise<KnownOwners> {
  const { chainId, wallet, publicFunders } = query;
  const asked = [...new Set([wallet, ...query.accounts])];
  const facts = new Map<Address, AccountFact>();
  let missing = asked;
  for (let generation = 0; missing.length > 0 && generation < MAX_GENERATIONS; generation += 1) {
    const found = await readAccountFacts(client, chainId, missing);
    for (const fact of found) facts.set(fact.address, fact);
    const told = new Map(found.map((fact) => [fact.address, fact]));
    missing = [...ancestorsOf(told, publicFunders)].filter((ancestor) => !facts.has(ancestor));
  }
  const funded = asked.filter((account) => account === wallet || facts.get(account)?.hasCode === false);
  const mainFunderOf = mainFundersIn(await readFunders(client, chainId, funded));
  const addresses = asked.toSorted();
  return { owners: findOwners({ wallet, addresses, graph: { mainFunderOf }, facts, publicFunders }), facts };
}

type Sender = { readonly account: Address; readonly sentMicroUsd: bigint };

/** Reads all senders of each account; accounts with more than 500 have no entry. */
async function readFunders(
  client: ClientBase,
  chainId: number,
  accounts: readonly Address[],
): Promise<ReadonlyMap<Address, readonly Sender[]>> {
  const { rows } = await client.query({
    name: "funders-of",
    text: `
      select wanted.account, first.account, first.sent_micro_usd::text
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select account, sent_micro_usd from ahs.contact
        where chain_id = $1 and counterparty = wanted.account order by account limit ${MAX_FUNDERS + 1}
      ) first
      order by 1, 2`,
    values: [chainId, accounts],
    rowMode: "array",
  });
  const contacts = new Map<Address, Sender[]>();
  for (const [counterparty, account, sent] of rows as [Address, Address, string][]) {
    const known = contacts.get(counterparty) ?? [];
    known.push({ account, sentMicroUsd: BigInt(sent) });
    contacts.set(counterparty, known);
  }
  for (const [account, known] of contacts) if (known.length > MAX_FUNDERS) contacts.delete(account);
  return contacts;
}
