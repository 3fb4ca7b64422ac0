import type { ClientBase } from "pg";
import type { Address } from "viem";
import { ancestorsOf, findOwners, mainFundersIn, type Owners } from "../../model/features/find-owners.ts";
import type { AccountFact } from "../../model/features/types.ts";
import { readAccountFacts } from "../../scores/read/contact-graph.ts";

export type OwnersQuery = {
  readonly chainId: number;
  /** Lower-case, as are the accounts. */
  readonly wallet: Address;
  readonly accounts: readonly Address[];
  /** Accounts that link nobody. */
  readonly publicFunders: ReadonlySet<Address>;
};

/** Who belongs together, and the facts that say so: of the wallet, the accounts and their ancestors. */
export type KnownOwners = { readonly owners: Owners; readonly facts: ReadonlyMap<Address, AccountFact> };

/** An account that more others sent something is nobody's alone: of so many, none sent most of it to one's own wallet. */
const MAX_FUNDERS = 500;

/** Owners at the end of longer chains of creators and funders are not looked for: every step is a query. */
const MAX_GENERATIONS = 12;

/** Finds who shares an owner, by queries whose cost does not grow with how many others an account deals with. */
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

/** What everybody sent to each of the accounts; those with more than 500 such contacts have no entry. */
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
