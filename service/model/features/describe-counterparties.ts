import type { Address } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import { findOwners } from "./find-owners.ts";
import type {
  AccountFact,
  Contact,
  ContactGraph,
  CounterpartyFact,
  Delegation,
  OpenApproval,
  OwnCall,
} from "./types.ts";

export type CounterpartyQuestion = {
  readonly wallet: Address;
  /** Accounts to describe, in any order; the wallet itself may be among them. */
  readonly addresses: Iterable<Address>;
  /** Unix seconds at which the scoring window starts; users whose last call is older do not count. */
  readonly windowStart: number;
  /** At least all contacts to the wallet and the addresses, and those by their users. */
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
  return sortedAddresses(question).map(createDescriber(question));
}

/** The accounts that are described, each once, by rising address. */
export function sortedAddresses({ addresses }: Pick<CounterpartyQuestion, "addresses">): readonly Address[] {
  return [...new Set(addresses)].sort();
}

/**
 * Describes addresses of the question one after another. Users with their calls may be added to the graph meanwhile;
 * the rest of the question must not change.
 */
export function createDescriber(question: CounterpartyQuestion): (address: Address) => CounterpartyFact {
  const addresses = sortedAddresses(question);
  const owners = findOwners({ ...question, addresses });
  const known = new Set<Address>(addresses);
  const captive = new Map<Address, boolean>();
  const isOutsideUser = (account: Address): boolean => {
    if (owners.cluster.has(account)) return false;
    let verdict = captive.get(account);
    if (verdict === undefined) {
      verdict = isCaptive(account, known, question);
      captive.set(account, verdict);
    }
    return !verdict;
  };
  return (address) => {
    const fact = question.facts.get(address);
    const contacts = question.graph.usersOf.get(address);
    const merged = owners.groups.get(address);
    return {
      address,
      ownerLink: owners.cluster.get(address) ?? null,
      ...(merged === undefined ? {} : { mergedWith: merged }),
      hasCode: fact?.hasCode ?? null,
      existedAt: fact?.existedAt ?? null,
      fundedFromOutside: fact === undefined ? null : isFundedFromOutside(fact, owners.cluster),
      firstContactAt: firstContact(contacts, question.wallet),
      outsideUsers: countUsers({ address, contacts, isOutsideUser }, question),
      flag: question.flags.get(address) ?? null,
    };
  };
}

/** u: accounts that called the address in the window and are neither the owner's, nor itself, nor captive; the limit for a popular contract. */
function countUsers(
  {
    address,
    contacts,
    isOutsideUser,
  }: {
    readonly address: Address;
    readonly contacts: readonly Contact[] | undefined;
    readonly isOutsideUser: (account: Address) => boolean;
  },
  { windowStart, popularContracts, policy }: CounterpartyQuestion,
): number {
  if (popularContracts?.has(address) === true) return policy.credit.usersCounted;
  if (contacts === undefined) return 0;
  let users = 0;
  for (const { account, calls, lastTime } of contacts) {
    if (users === policy.credit.usersCounted) break;
    if (calls > 0 && lastTime >= windowStart && account !== address && isOutsideUser(account)) users += 1;
  }
  return users;
}

/** Whether an account makes most of its calls within the wallet's own set of counterparties. */
function isCaptive(
  account: Address,
  known: ReadonlySet<Address>,
  { wallet, graph, policy }: CounterpartyQuestion,
): boolean {
  const contacts = graph.contactsOf.get(account);
  if (contacts === undefined) return false;
  const total = graph.callsOf.get(account) ?? contacts.reduce((sum, { calls }) => sum + calls, 0);
  const bound = total * policy.credit.captiveShare;
  let inside = 0;
  let rest = total;
  for (const { counterparty, calls } of contacts) {
    rest -= calls;
    if (known.has(counterparty) || counterparty === wallet) inside += calls;
    if (inside >= bound) return true;
    // The rest of its calls cannot make it captive any more.
    if (inside + rest < bound) return false;
  }
  return false;
}

function firstContact(contacts: readonly Contact[] | undefined, wallet: Address): number | null {
  const own = contacts?.find(({ account, calls }) => account === wallet && calls > 0);
  return own === undefined ? null : own.firstTime;
}

function isFundedFromOutside(
  { creator, firstFunder }: AccountFact,
  cluster: ReadonlyMap<Address, unknown>,
): boolean | null {
  if (creator === null && firstFunder === null) return null;
  return [creator, firstFunder].every((origin) => origin === null || !cluster.has(origin));
}
