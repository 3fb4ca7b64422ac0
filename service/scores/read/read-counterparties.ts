import { setImmediate } from "node:timers/promises";
import type { ClientBase } from "pg";
import type { Address } from "viem";
import { createDescriber, sortedAddresses } from "../../model/features/describe-counterparties.ts";
import type { CounterpartyFact, OwnCall } from "../../model/features/types.ts";
import type { Policy } from "../../model/score/policy-shape.ts";
import {
  type CacheReader,
  type ContactCache,
  loadFacts,
  loadMainFunders,
  readFirstCalls,
  readPayersBack,
} from "./contact-graph.ts";
import { type KnownUsers, loadFirstUsers } from "./known-users.ts";

type CounterpartiesQuery = {
  readonly chainId: number;
  readonly wallets: readonly CounterpartyWallet[];
  readonly cache: ContactCache;
  readonly publicFunders: ReadonlySet<Address>;
  readonly popularContracts: ReadonlySet<Address>;
  readonly flags: ReadonlyMap<Address, "sanctioned" | "mixer">;
  readonly policy: Policy;
};

/** A wallet whose counterparties are to be described. */
type CounterpartyWallet = {
  readonly wallet: Address;
  readonly addresses: ReadonlySet<Address>;
  /** Unix seconds. */
  readonly windowStart: number;
  /** Calls from a history source, which contacts may lack. Empty if contacts are complete. */
  readonly reportedCalls: readonly OwnCall[];
};

/** Callers read first, as a multiple of those that can count: some are own or captive. */
const FIRST_LOOK = 1.2;
/** Growth of each further reading, if too few callers count. */
const NEXT_LOOK = 4;
/** Counterparties described before other work gets its turn. */
const PAUSE_AFTER = 1_000;

/**
 * Describes the counterparties of each wallet, in the order given. Of an account with many users only the first are read,
 * and more of them while these are not as many as can count: the answer is the one that the whole graph gives.
 */
export async function readCounterparties(
  client: ClientBase,
  query: CounterpartiesQuery,
): Promise<readonly (readonly CounterpartyFact[])[]> {
  const { chainId, wallets, cache, publicFunders, policy } = query;
  const reader: CacheReader = { client, chainId, cache };
  const own = wallets.map(({ wallet }) => wallet);
  const askers = askersOf(wallets);
  for (const [address, asker] of askers) if (asker === null) cache.common.add(address);
  await loadFacts(reader, [...own, ...askers.keys()], publicFunders);
  const firstCalls = await readFirstCalls(reader, wallets);
  const payersBack = await readPayersBack(
    client,
    chainId,
    wallets.map(({ wallet, addresses }) => ({
      wallet,
      funded: [...addresses].filter((account) => cache.facts.get(account)?.firstFunder === wallet),
    })),
  );
  const owned = [...askers.keys()].filter((account) => cache.facts.get(account)?.hasCode === false);
  await loadMainFunders(reader, [...own, ...owned]);

  const described = wallets.map((wallet) =>
    startWallet(wallet, {
      firstCalls: firstCalls.get(wallet.wallet) ?? new Map(),
      payersBack: payersBack.get(wallet.wallet) ?? new Set(),
      query,
    }),
  );
  for (let looks = Math.ceil(FIRST_LOOK * policy.credit.usersCounted); ; looks *= NEXT_LOOK) {
    const open = new Map(
      described.flatMap(({ open }) => open.map((address) => [address, askers.get(address) ?? null])),
    );
    if (open.size === 0) return described.map(({ facts }) => [...facts.values()]);
    const users = await loadFirstUsers(reader, open, looks);
    for (const wallet of described) await describeOpen(wallet, users, policy);
  }
}

/** The addresses of all wallets, each with the only wallet that asks for it, or null if several do. */
function askersOf(wallets: readonly CounterpartyWallet[]): ReadonlyMap<Address, Address | null> {
  const askers = new Map<Address, Address | null>();
  for (const { wallet, addresses } of wallets)
    for (const address of addresses) askers.set(address, askers.has(address) ? null : wallet);
  return askers;
}

/** A wallet whose counterparties are described as their users are read. */
type WalletUnderWay = {
  /** Addresses of which more users could count, by rising address. */
  open: readonly Address[];
  /** Finds owners and captive users once. */
  readonly describe: ReturnType<typeof createDescriber>;
  /** By rising address. */
  readonly facts: Map<Address, CounterpartyFact>;
};

function startWallet(
  asked: CounterpartyWallet,
  {
    firstCalls,
    payersBack,
    query: { cache, publicFunders, popularContracts, flags, policy },
  }: {
    readonly firstCalls: ReadonlyMap<Address, number | null>;
    readonly payersBack: ReadonlySet<Address>;
    readonly query: CounterpartiesQuery;
  },
): WalletUnderWay {
  const { wallet, windowStart } = asked;
  const addresses = sortedAddresses(asked.addresses);
  const mainFunderOf = new Map<Address, Address>();
  for (const account of [wallet, ...addresses]) {
    const funder = cache.mainFunders.get(account);
    if (funder !== undefined && funder !== null) mainFunderOf.set(account, funder);
  }
  const describe = createDescriber({
    wallet,
    addresses,
    windowStart,
    mainFunderOf,
    publicFunders,
    popularContracts,
    flags,
    policy,
    payersBack,
    facts: cache.facts,
    lists: cache.lists,
    firstContacts: firstContacts(asked, firstCalls),
  });
  return { open: addresses, describe, facts: new Map() };
}

/** Describes the counterparties of which more users were read. Yields to other work now and then. */
async function describeOpen(
  wallet: WalletUnderWay,
  users: ReadonlyMap<Address, KnownUsers>,
  { credit }: Policy,
): Promise<void> {
  const stillOpen: Address[] = [];
  for (const [place, address] of wallet.open.entries()) {
    if (place > 0 && place % PAUSE_AFTER === 0) await setImmediate();
    const known = users.get(address);
    const fact = wallet.describe(address, known?.users);
    wallet.facts.set(address, fact);
    if (known?.extent === "first callers" && fact.outsideUsers < credit.usersCounted) stillOpen.push(address);
  }
  wallet.open = stillOpen;
}

/** The wallet's first calls, with earlier ones that only its calls show. */
function firstContacts(
  { wallet, reportedCalls }: CounterpartyWallet,
  firstCalls: ReadonlyMap<Address, number | null>,
): ReadonlyMap<Address, number> {
  const first = new Map<Address, number>();
  for (const [counterparty, time] of firstCalls) if (time !== null) first.set(counterparty, time);
  for (const { to, recipient, timestamp } of reportedCalls) {
    // The account paid, else the account called; none if that is the wallet itself.
    const counterparty = recipient ?? to;
    if (counterparty === null || counterparty === wallet || firstCalls.get(counterparty) === null) continue;
    const known = first.get(counterparty);
    if (known === undefined || timestamp < known) first.set(counterparty, timestamp);
  }
  return first;
}
