import type { Address } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import { findOwners } from "./find-owners.ts";
import type {
  AccountFact,
  ContactGraph,
  CounterpartyFact,
  Delegation,
  OpenApproval,
  OwnCall,
} from "./types.ts";
import { createUserJudge, createUserLists, numberOf, type UserLists, type Users } from "./user-lists.ts";

export type CounterpartyQuestion = {
  readonly wallet: Address;
  /** Accounts to describe, in any order; the wallet itself may be among them. */
  readonly addresses: Iterable<Address>;
  /** Unix seconds at which the scoring window starts; users whose last call is older do not count. */
  readonly windowStart: number;
  /** At least all contacts to the wallet and the addresses, and those by their users. It must not change. */
  readonly graph: ContactGraph;
  /** At least of the wallet, the addresses, and whatever `ancestorsOf` names for them. */
  readonly facts: ReadonlyMap<Address, AccountFact>;
  /** Accounts that prove no common owner: exchanges, bridges, faucets, paymasters, account factories. */
  readonly publicFunders: ReadonlySet<Address>;
  /** Contracts of many users by the deployment's data, whatever few the graph has; none where it is absent. */
  readonly popularContracts?: ReadonlySet<Address>;
  /** Accounts that gave the wallet back half or more of what they got of it. */
  readonly payersBack: ReadonlySet<Address>;
  readonly flags: ReadonlyMap<Address, "sanctioned" | "mixer">;
  readonly policy: Policy;
};

/** Every account that the model asks facts of: called, paid, shown by logs, allowed to spend, or run as the wallet's own code. */
export function addressesOf(
  calls: readonly OwnCall[],
  approvals: readonly OpenApproval[] | null,
  delegation: Delegation | null = null,
): ReadonlySet<Address> {
  const addresses = new Set<Address>();
  for (const { to, recipient, receipt } of calls) {
    if (to !== null) addresses.add(to);
    if (recipient !== null) addresses.add(recipient);
    if (receipt !== null) for (const emitter of receipt.emitters) addresses.add(emitter);
  }
  if (approvals !== null) for (const { spender } of approvals) addresses.add(spender);
  if (delegation !== null && delegation.to !== null) addresses.add(delegation.to);
  return addresses;
}

/**
 * The same accounts, but of those that nothing names but logs only so many that all together are `most`, the first in the
 * order of the calls; whatever the wallet itself named is among them, however much that is. And how many were left out.
 */
export function firstAddressesOf({
  calls,
  approvals,
  delegation,
  most,
}: {
  readonly calls: readonly OwnCall[];
  readonly approvals: readonly OpenApproval[] | null;
  readonly delegation: Delegation | null;
  readonly most: number;
}): { readonly addresses: ReadonlySet<Address>; readonly leftOut: number } {
  const all = addressesOf(calls, approvals, delegation);
  if (all.size <= most) return { addresses: all, leftOut: 0 };
  const withoutLogs = calls.map((call) => ({ ...call, receipt: null }));
  const addresses = new Set(addressesOf(withoutLogs, approvals, delegation));
  for (const address of all) {
    if (addresses.size >= most) break;
    addresses.add(address);
  }
  return { addresses, leftOut: all.size - addresses.size };
}

/** Returns the model's facts about a wallet's counterparties, by rising address: a function of contacts and facts alone. */
export function describeCounterparties(question: CounterpartyQuestion): readonly CounterpartyFact[] {
  const { graph, wallet } = question;
  const { lists, usersOf } = numberedGraph(graph);
  const addresses = sortedAddresses(question.addresses);
  const firstContacts = new Map(
    addresses.flatMap((address) => {
      const own = graph.usersOf.get(address)?.find(({ account, calls }) => account === wallet && calls > 0);
      return own === undefined ? [] : [[address, own.firstTime] as const];
    }),
  );
  const describe = createDescriber({
    ...question,
    addresses,
    lists,
    firstContacts,
    mainFunderOf: graph.mainFunderOf,
  });
  return addresses.map((address) => describe(address, usersOf.get(address)));
}

/** Accounts, each once, by rising address. */
export function sortedAddresses(addresses: Iterable<Address>): readonly Address[] {
  return [...new Set(addresses)].sort();
}

/** A graph of which most wallets ask is numbered once. */
const NUMBERED = new WeakMap<ContactGraph, ReturnType<typeof numberGraph>>();

function numberedGraph(graph: ContactGraph): ReturnType<typeof numberGraph> {
  const known = NUMBERED.get(graph);
  if (known !== undefined) return known;
  const made = numberGraph(graph);
  NUMBERED.set(graph, made);
  return made;
}

function numberGraph({ usersOf, contactsOf, callsOf }: ContactGraph) {
  const lists = createUserLists();
  for (const [account, contacts] of contactsOf) {
    lists.doings[numberOf(lists, account)] = {
      pairs: Uint32Array.from(
        contacts.flatMap(({ counterparty, calls }) => [numberOf(lists, counterparty), calls]),
      ),
      total: callsOf.get(account) ?? contacts.reduce((sum, { calls }) => sum + calls, 0),
    };
  }
  const users = [...usersOf].map(([address, contacts]): [Address, Users] => {
    const callers = contacts.filter(({ calls }) => calls > 0);
    numberOf(lists, address);
    return [
      address,
      Float64Array.from(callers.flatMap(({ account, lastTime }) => [numberOf(lists, account), lastTime])),
    ];
  });
  return { lists, usersOf: new Map(users) };
}

/**
 * Describes addresses of the question one after another, each by those of its users that are given. Users with their calls may be
 * added to the lists meanwhile; the rest of the question must not change.
 */
export function createDescriber(
  question: Omit<CounterpartyQuestion, "graph" | "addresses"> & {
    /** By rising address. */
    readonly addresses: readonly Address[];
    readonly lists: UserLists;
    readonly mainFunderOf: ContactGraph["mainFunderOf"];
    /** Unix seconds of the wallet's first call to each counterparty that it called. */
    readonly firstContacts: ReadonlyMap<Address, number>;
  },
): (address: Address, users: Users | undefined) => CounterpartyFact {
  const { wallet, addresses, lists, policy, popularContracts } = question;
  const { usersCounted, captiveShare } = policy.credit;
  const owners = findOwners({ ...question, graph: question });
  const countUsers = createUserJudge(lists, {
    dealtWith: [wallet, ...addresses],
    owners: [...owners.cluster.keys()],
    captiveShare,
    since: question.windowStart,
    limit: usersCounted,
  });
  return (address, users) => {
    const fact = question.facts.get(address);
    const merged = owners.groups.get(address);
    const isPopular = popularContracts?.has(address) === true;
    return {
      address,
      ownerLink: owners.cluster.get(address) ?? null,
      ...(merged === undefined ? {} : { mergedWith: merged }),
      hasCode: fact?.hasCode ?? null,
      existedAt: fact?.existedAt ?? null,
      fundedFromOutside: fact === undefined ? null : isFundedFromOutside(fact, owners.cluster),
      firstContactAt: question.firstContacts.get(address) ?? null,
      outsideUsers: isPopular ? usersCounted : users === undefined ? 0 : countUsers(address, users),
      flag: question.flags.get(address) ?? null,
    };
  };
}

function isFundedFromOutside(
  { creator, firstFunder }: AccountFact,
  cluster: ReadonlyMap<Address, unknown>,
): boolean | null {
  if (creator === null && firstFunder === null) return null;
  return [creator, firstFunder].every((origin) => origin === null || !cluster.has(origin));
}
