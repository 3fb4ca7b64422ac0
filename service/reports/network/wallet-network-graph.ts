import type { ClientBase } from "pg";
import type { Address } from "viem";
import type { Deployment } from "../../chain/deployments.ts";
import { type Database, NUMERIC_AS_BIGINT, QUERY_DEADLINE } from "../../db/database.ts";
import { OTHER_PAYERS } from "../../ingest/enrich/contact-rows.ts";
import {
  ancestorsOf,
  findOwners,
  mainFundersIn,
  type OwnerQuestion,
} from "../../model/features/find-owners.ts";
import type { AccountFact, Contact } from "../../model/features/types.ts";
import type { Grade } from "../../model/score/record.ts";
import { readAgentNames } from "../../registries/documents/agent-names.ts";
import { readSanctionsFlags } from "../../sanctions/sanctions.ts";
import { readAccountFacts, readPayersBack } from "../../scores/read/contact-graph.ts";
import { calledSql } from "../../scores/read/known-users.ts";
import type { AccountDetail } from "../labels/chain-labels.ts";
import { MAX_GENERATIONS } from "./owner-cluster.sql.ts";

/** An account that another one created or funded first. */
export type Child = {
  readonly parent: Address;
  readonly address: Address;
  readonly by: "creator" | "first_funder";
};

/**
 * Surroundings of a wallet: facts of it and its peers, accounts created or funded by it or its parents, and the calls of its
 * peers by account, most calls first. `cut`: an account has more children or contacts than the limits.
 */
export type Neighbourhood = Awaited<ReturnType<typeof readNeighbourhood>>;

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
  { chainId, wallet, accounts: peers, publicFunders }: NetworkQuery,
) {
  const found = await readAccountFacts(client, chainId, [...new Set([wallet, ...peers])]);
  const facts = new Map(found.map((fact) => [fact.address, fact]));
  const own = facts.get(wallet);
  const parents = [wallet, own?.creator, own?.firstFunder].flatMap((parent) => parent ?? []);
  const expanded = [...new Set(parents)].filter((parent) => !publicFunders.has(parent));
  const children = [
    ...(await readChildren(client, chainId, { parents: expanded, by: "creator" })),
    ...(await readChildren(client, chainId, { parents: expanded, by: "first_funder" })),
  ];
  const callers = peers.filter((peer) => !publicFunders.has(peer) && facts.get(peer)?.hasCode !== true);
  const called = await readCalled(client, chainId, callers);
  const nearest: readonly Child[] = children.flatMap(({ place, ...child }) =>
    place > MAX_CHILDREN ? [] : [child],
  );
  return {
    facts,
    children: nearest,
    calls: called.calls,
    cut: called.cut || children.some(({ place }) => place > MAX_CHILDREN),
  };
}

async function readChildren(
  client: ClientBase,
  chainId: number,
  { parents, by }: { parents: readonly Address[]; by: Child["by"] },
) {
  const { rows } = await client.query<Child & { place: number }>({
    name: `children-by-${by}`,
    text: `
      select wanted.parent, child.address, '${by}' as by, child.place::int
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
  return rows;
}

async function readCalled(client: ClientBase, chainId: number, accounts: readonly Address[]) {
  const { rows } = await client.query<{
    account: Address;
    counterparty: Address;
    calls: number;
    read: number;
  }>({
    name: "called-most",
    text: `
      select wanted.account, most.counterparty, most.calls, most.read::int
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select counterparty, calls, read, row_number() over (order by calls desc, counterparty) as place
        from (
          select counterparty, calls, count(*) over () as read from (${calledSql(MAX_CONTACTS)}) first
        ) counted
        where calls > 0
      ) most
      where most.place <= ${MAX_CALLED}
      order by 1, most.place`,
    values: [chainId, accounts],
  });
  const calls = rows.map(({ read: _read, ...call }) => call);
  return { calls, cut: rows.some(({ read }) => read === MAX_CONTACTS) };
}

export type AccountLinks = Awaited<ReturnType<typeof readAccountLinks>>;

/**
 * Reads the links among the wallet and a few hundred accounts, by falling funds, then falling calls, then rising addresses.
 * Contacts without calls and without priced amounts are left out. `cut`: there are more contacts.
 */
export async function readAccountLinks(client: ClientBase, query: NetworkQuery) {
  const known = await readOwners(client, query);
  const accounts = [...new Set([query.wallet, ...query.accounts])];
  // Looks up each pair by primary key. Other plans read all contacts of a hub.
  const { rows } = await client.query<Contact>({
    ...NUMERIC_AS_BIGINT,
    name: "contacts-among",
    text: `
      with listed as (
        select listed.account, w.wallet is not null as followed from unnest($2::text[]) as listed (account)
        left join ahs.enrich_wallet w on w.chain_id = $1 and w.wallet = listed.account
      )
      select met.* from listed one cross join listed other
      left join lateral (
        select * from ahs.contact c
        where c.chain_id = $1 and c.counterparty = other.account and c.account = one.account limit 1
      ) own on true
      left join lateral (
        select * from ahs.sampled_contact s
        where not one.followed and s.chain_id = $1 and s.counterparty = other.account and s.account = one.account limit 1
      ) seen on true
      cross join lateral (
        select one.account, other.account as counterparty,
          coalesce(case when one.followed then own.calls else seen.calls end, 0) as calls,
          coalesce(own.sent_micro_usd, 0) as "sentMicroUsd",
          least(own.first_time, seen.first_time)::float8 as "firstTime",
          greatest(own.last_time, seen.last_time)::float8 as "lastTime"
      ) met
      where one.account <> other.account and one.account <> '${OTHER_PAYERS}' and (met.calls > 0 or met."sentMicroUsd" > 0)
      order by met."sentMicroUsd" desc, met.calls desc, met.account, met.counterparty limit ${MAX_AMONG + 1}`,
    values: [query.chainId, accounts],
  });
  const contacts: readonly Contact[] = rows.slice(0, MAX_AMONG);
  return { ...known, contacts, cut: rows.length > MAX_AMONG };
}

export type NetworkQuery = {
  readonly chainId: number;
  /** Lower-case, as are the accounts. */
  readonly wallet: Address;
  readonly accounts: readonly Address[];
  /** Accounts without link value; their children are not read. */
  readonly publicFunders: ReadonlySet<Address>;
};

/** Most senders read per account. With more senders, none of them sent most of its funds. */
const MAX_FUNDERS = 500;

/** Finds owner clusters, with the facts that prove them about wallet, accounts and ancestors. The cost of the queries does not depend on an account's number of contacts. */
export async function readOwners(client: ClientBase, query: NetworkQuery) {
  const question = await readOwnerQuestion(client, query);
  return { owners: findOwners(question), facts: question.facts };
}

/** Reads all that owners are found by. */
export async function readOwnerQuestion(client: ClientBase, query: NetworkQuery): Promise<OwnerQuestion> {
  const { chainId, wallet, publicFunders } = query;
  const asked = [...new Set([wallet, ...query.accounts])];
  const facts = new Map<Address, AccountFact>();
  let missing = asked;
  for (let generation = 0; missing.length > 0 && generation < MAX_GENERATIONS; generation += 1) {
    const found = await readAccountFacts(client, chainId, missing);
    for (const fact of found) facts.set(fact.address, fact);
    const known = new Map(found.map((fact) => [fact.address, fact]));
    missing = [...ancestorsOf(known, publicFunders)].filter((ancestor) => !facts.has(ancestor));
  }
  const funded = asked.filter((account) => account === wallet || facts.get(account)?.hasCode === false);
  const mainFunderOf = mainFundersIn(await readFunders(client, chainId, funded));
  const addresses = asked.toSorted();
  const firstFunded = asked.filter((account) => facts.get(account)?.firstFunder === wallet);
  const payersBack = await readPayersBack(client, chainId, [{ wallet, funded: firstFunded }]);
  return {
    wallet,
    addresses,
    graph: { mainFunderOf },
    facts,
    publicFunders,
    payersBack: payersBack.get(wallet) ?? new Set(),
  };
}

/** Reads all senders of each account; accounts with more than 500 have no entry. */
async function readFunders(client: ClientBase, chainId: number, accounts: readonly Address[]) {
  const { rows } = await client.query<{ funded: Address; account: Address; sentMicroUsd: bigint }>({
    ...NUMERIC_AS_BIGINT,
    name: "funders-of",
    text: `
      select wanted.account as funded, first.account, first.sent_micro_usd as "sentMicroUsd"
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select account, sent_micro_usd from ahs.contact
        where chain_id = $1 and counterparty = wanted.account order by account limit ${MAX_FUNDERS + 1}
      ) first
      order by 1, 2`,
    values: [chainId, accounts],
  });
  const byFunded = Map.groupBy(rows, ({ funded }) => funded);
  return new Map([...byFunded].filter(([, senders]) => senders.length <= MAX_FUNDERS));
}

/** Reads facts about distinct lower-case accounts by primary-key lookups only. */
export function createAccountReader(
  db: Database,
  chain: Pick<Deployment, "chainId" | "registries">,
): (addresses: readonly Address[]) => Promise<ReadonlyMap<Address, AccountDetail>> {
  const { chainId } = chain;
  return async (addresses) => {
    const [facts, agents, flags] = await Promise.all([
      readFacts(db, chainId, addresses),
      readAgentNames(db, chain, addresses),
      readSanctionsFlags(db, chainId, addresses),
    ]);
    const describe = (address: Address): AccountDetail => {
      const fact = facts.get(address);
      const sanctions = flags.get(address) ?? [];
      return {
        address,
        hasCode: fact?.hasCode ?? null,
        agents: agents.get(address) ?? [],
        sanctions,
        score: sanctions.length > 0 ? { ahsScore: 0, grade: "F" } : (fact?.score ?? null),
      };
    };
    return new Map(addresses.map((address) => [address, describe(address)]));
  };
}

async function readFacts(db: Database, chainId: number, addresses: readonly Address[]) {
  const { rows } = await db.$client.query<{
    address: Address;
    hasCode: boolean | null;
    isScored: boolean;
    ahsScore: number | null;
    grade: Grade | null;
  }>({
    ...QUERY_DEADLINE,
    name: "account_details",
    text: `
      select wanted.address, fact.has_code as "hasCode", current.wallet is not null as "isScored",
        current.ahs_score as "ahsScore", current.grade
      from unnest($2::text[]) as wanted (address)
      left join ahs.account_fact fact on fact.chain_id = $1 and fact.address = wanted.address
      left join ahs.current_score current on current.chain_id = $1 and current.wallet = wanted.address`,
    values: [chainId, addresses],
  });
  return new Map(
    rows.map(({ address, hasCode, isScored, ahsScore, grade }) => [
      address,
      { hasCode, score: isScored ? { ahsScore, grade } : null },
    ]),
  );
}
