import type { Address } from "viem";
import type { CounterpartyQuestion } from "../../../../service/model/features/describe-counterparties.ts";
import { mainFundersIn } from "../../../../service/model/features/find-owners.ts";
import type { AccountFact, Contact, ContactGraph } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { START, WALLET } from "./histories.ts";

/** A call, or funds where `sent` is given, of an account to a counterparty. */
export function contact(from: Address, to: Address, parts: Partial<Contact> = {}): Contact {
  return {
    account: from,
    counterparty: to,
    calls: 1,
    sentMicroUsd: 0n,
    firstTime: START,
    lastTime: START,
    ...parts,
  };
}

/** The graph of contacts. Accounts have only these calls and those of `callsOf`. */
export function graphOf(contacts: readonly Contact[], callsOf: ContactGraph["callsOf"] = new Map()) {
  const sorted = contacts.toSorted((a, b) => (a.account < b.account ? -1 : 1));
  const usersOf = Map.groupBy(sorted, ({ counterparty }) => counterparty);
  return {
    usersOf,
    mainFunderOf: mainFundersIn(usersOf),
    contactsOf: Map.groupBy(sorted, ({ account }) => account),
    callsOf,
  } satisfies ContactGraph;
}

/** Facts about these accounts; missing fields are null. */
export function factsOf(
  parts: readonly (Partial<AccountFact> & Pick<AccountFact, "address">)[],
): ReadonlyMap<Address, AccountFact> {
  return new Map(
    parts.map((part) => [
      part.address,
      { hasCode: null, creator: null, firstFunder: null, existedAt: null, ...part },
    ]),
  );
}

/** A question about some addresses, with no contacts, facts, public funders and flags but those given. */
export function question(
  addresses: readonly Address[],
  parts: Partial<CounterpartyQuestion> = {},
): CounterpartyQuestion {
  return {
    wallet: WALLET,
    addresses,
    windowStart: START,
    graph: graphOf([]),
    facts: new Map(),
    publicFunders: new Set(),
    payersBack: new Set(),
    flags: new Map(),
    policy: AHS_2026_2,
    ...parts,
  };
}
