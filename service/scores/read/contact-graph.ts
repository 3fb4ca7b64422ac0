import type { ClientBase } from "pg";
import type { Address } from "viem";
import type { AccountFact, Contact, Doing } from "../../model/features/types.ts";

/** Facts of those of the accounts that something is known of. */
export async function readAccountFacts(
  client: ClientBase,
  chainId: number,
  accounts: readonly Address[],
): Promise<readonly AccountFact[]> {
  const { rows } = await client.query({
    name: "account-facts",
    text: `select address, has_code, creator, first_funder, existed_at::float8 from ahs.account_fact
           where chain_id = $1 and address = any($2::text[])`,
    values: [chainId, accounts],
    rowMode: "array",
  });
  return (rows as [Address, boolean | null, Address | null, Address | null, number | null][]).map(
    ([address, hasCode, creator, firstFunder, existedAt]) => ({
      address,
      hasCode,
      creator,
      firstFunder,
      existedAt,
    }),
  );
}

/** Who sent each of the accounts more than half of all that was sent to it; one that nobody did has no entry. */
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

/** The first callers of each of the accounts by rising address, at most `limit`. */
export async function readFirstUsers(
  client: ClientBase,
  query: { readonly chainId: number; readonly counterparties: readonly Address[]; readonly limit: number },
): Promise<ReadonlyMap<Address, readonly Contact[]>> {
  const { rows } = await client.query({
    name: "first-users-of",
    text: `
      select wanted.counterparty, string_agg(first.line, E'\\n')
      from unnest($2::text[]) as wanted (counterparty)
      cross join lateral (
        select concat_ws(' ', account, calls, sent_micro_usd, first_time, last_time) as line from ahs.contact
        where chain_id = $1 and counterparty = wanted.counterparty and calls > 0 order by account limit $3
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

/** What accounts did with counterparties, pair by pair; of a pair that did nothing there is none. */
export async function readContacts(
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

/** What an account called, as far as contacts tell. */
export type Doings = {
  readonly called: readonly Doing[];
  /** All calls of a stranger; null of an account that is none. */
  readonly strangerCalls: number | null;
};

export type DoingsQuery = {
  readonly chainId: number;
  readonly accounts: readonly Address[];
  /** The one copy of an address that is kept of all that are equal. */
  readonly nameOf: (address: string) => Address;
};

/**
 * Contacts of one account that are looked at: a busy one has millions, and everybody who calls what it calls has it among its
 * users. How much of its calls goes where is seen by a thousandth of them.
 */
const MAX_DOINGS = 2_000;

/** What each of the accounts called, by its first contacts by rising address; one that is not known to have called has no entry. */
export async function readDoings(
  client: ClientBase,
  { chainId, accounts, nameOf }: DoingsQuery,
): Promise<ReadonlyMap<Address, Doings>> {
  const { rows } = await client.query({
    name: "doings-of",
    text: `
      select wanted.account, first.called,
        (select s.calls::float8 from ahs.stranger s where s.chain_id = $1 and s.account = wanted.account)
      from unnest($2::text[]) as wanted (account)
      cross join lateral (
        select string_agg(counterparty || calls, ' ') filter (where calls > 0) as called from (
          select counterparty, calls from ahs.contact
          where chain_id = $1 and account = wanted.account order by counterparty limit ${MAX_DOINGS}
        ) contacts
      ) first
      where first.called is not null`,
    values: [chainId, accounts],
    rowMode: "array",
  });
  return new Map(
    (rows as [Address, string, number | null][]).map(([account, text, strangerCalls]) => {
      const called = text.split(" ").map((entry) => ({
        counterparty: nameOf(entry.slice(0, ADDRESS_LENGTH)),
        calls: Number(entry.slice(ADDRESS_LENGTH)),
      }));
      return [account, { called, strangerCalls }];
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
