import type { Address } from "viem";
import { addressesOf, describeCounterparties } from "../service/model/features/describe-counterparties.ts";
import { notApplicable } from "../service/model/features/facts.ts";
import { mainFundersIn, payersBackIn } from "../service/model/features/find-owners.ts";
import { measureWallet, scoreWallet } from "../service/model/features/score-wallet.ts";
import type {
  AccountFact,
  Contact,
  ContactGraph,
  OwnCall,
  WalletRows,
} from "../service/model/features/types.ts";
import type { Policy } from "../service/model/score/policy-shape.ts";
import type { MeasuredWallet, ScoreRecord } from "../service/model/score/record.ts";
import { scoreFeatures } from "../service/model/score/score-features.ts";
import { blockAt, type Ledger, listOf } from "./ledger.ts";
import { sellersOf } from "./seller-profiles.ts";
import { DAY, type World } from "./world.ts";

const CHAIN_ID = 31_337;
const TRANSFER_WITH_AUTHORIZATION = "0xe3ee160e";

/** Which sources a service has, and what it reads of the chain. */
export type Sight = {
  /** history: creators, first funders and ages of accounts from a node that knows them; contacts: only facts that follow from calls. */
  readonly accounts: "history" | "contacts";
  /** Whether transactions are traced, which shows the native coin that smart accounts pay. */
  readonly traces: boolean;
};

/** The present service, at a node with all methods. */
export const USUAL_SIGHT: Sight = { accounts: "history", traces: true };

/** The service's knowledge of a world at a moment: scores any followed wallet as of it. */
export type Observer = {
  /** Unix seconds. */
  readonly at: number;
  /** Contacts and account facts until that moment, the inputs for finding owners. */
  readonly graph: ContactGraph;
  readonly facts: ReadonlyMap<Address, AccountFact>;
  score(wallet: Address): ScoreRecord;
  /** The record as it would be if a feature of the policy did not apply to the wallet. */
  scoreWithout(wallet: Address, feature: string): ScoreRecord;
  /** Whether a wallet that only receives is described by a seller profile. */
  hasSellerProfile(wallet: Address): boolean;
};

/** Reads a world up to a moment as the service would, and scores by a policy. */
export function observe(
  world: World,
  {
    at,
    policy,
    sight = USUAL_SIGHT,
  }: { readonly at: number; readonly policy: Policy; readonly sight?: Sight },
): Observer {
  const graph = contactsUntil(world.ledger, at);
  const facts = sight.accounts === "history" ? factsOf(world.ledger) : factsByContacts(world.ledger, graph);
  const publicFunders = new Set(world.publicFunders);
  const signed = signedCallsIn(world);
  const asOf = {
    blockNumber: blockAt(world.ledger, at),
    blockHash: `0x${"0".repeat(64)}`,
    timestamp: at,
  } as const;
  const rowsOf = (wallet: Address): WalletRows => {
    const own = ownRows(world, wallet, { at, sight, signed: signed.get(wallet) ?? [] });
    const last = own.calls.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
    const counterparties = describeCounterparties({
      wallet,
      addresses: addressesOf(own.calls, own.approvals, own.delegation),
      windowStart: last - policy.window.days * DAY,
      graph,
      facts,
      publicFunders,
      payersBack: payersBackIn(graph.usersOf, wallet),
      flags: world.ledger.flags,
      policy,
    });
    return { ...own, counterparties };
  };
  const measured = new Map<Address, MeasuredWallet>();
  return {
    at,
    graph,
    facts,
    score: (wallet) => scoreWallet({ rows: rowsOf(wallet), asOf, policy }),
    scoreWithout: (wallet, name) => {
      const whole = measured.get(wallet) ?? measureWallet(rowsOf(wallet), policy);
      measured.set(wallet, whole);
      const features = whole.features.map((feature) =>
        feature.name === name ? notApplicable(name, 0, "left out") : feature,
      );
      // The rest of a dimension counts, however little it is.
      return scoreFeatures({ ...whole, features }, asOf, { ...policy, minMeasuredPercent: 1 });
    },
    hasSellerProfile: sellersOf(world, { at, graph, facts }),
  };
}

/** The rows of a followed wallet but for its counterparties. */
function ownRows(
  world: World,
  wallet: Address,
  { at, sight, signed }: { readonly at: number; readonly sight: Sight; readonly signed: readonly OwnCall[] },
): Omit<WalletRows, "counterparties"> {
  const { ledger, market, start } = world;
  const delegation = ledger.delegations.get(wallet);
  const sanction = ledger.sanctions.get(wallet);
  return {
    chainId: CHAIN_ID,
    wallet,
    calls: [...sentCalls(world, wallet, sight), ...signed].filter(({ timestamp }) => timestamp <= at),
    approvals: (ledger.approvals.get(wallet) ?? []).filter(({ approvedAt }) => approvedAt <= at),
    delegation: { to: delegation !== undefined && delegation.time <= at ? delegation.to : null },
    tokens: market.list,
    servicesUpAt: null,
    sanctions: sanction === undefined ? [] : [sanction],
    coverage: {
      fromBlock: 0,
      fromTimestamp: start,
      toBlock: blockAt(ledger, at),
      complete: true,
      sources: ["index"],
    },
    chainStartTimestamp: start,
  };
}

/** Transactions and executions as far as they are seen: the value of executions by traces. */
function sentCalls({ ledger }: World, wallet: Address, sight: Sight): readonly OwnCall[] {
  return (ledger.calls.get(wallet) ?? []).map((call) =>
    (sight.traces && call.ok) || call.position === 0 || call.value === 0n ? call : { ...call, value: null },
  );
}

/** Payments by signed authorizations as own calls of who signed them, as enrichment stores them. */
function signedCallsIn({ ledger, market }: World): ReadonlyMap<Address, readonly OwnCall[]> {
  const byPayer = Map.groupBy(ledger.authorizations, ({ authorizer }) => authorizer);
  const callsOf = (wallet: Address, signed: Ledger["authorizations"]) =>
    signed.map(({ payee, time, usd }, place): OwnCall => {
      const timestamp = Math.floor(time);
      const token = market.usdc.address;
      const amount = market.unitsOf(market.usdc, usd, timestamp);
      return {
        hash: `0xa${place.toString(16).padStart(23, "0")}${wallet.slice(2)}`,
        blockNumber: blockAt(ledger, timestamp),
        transactionIndex: 0,
        position: 1 + place,
        timestamp,
        to: token,
        selector: TRANSFER_WITH_AUTHORIZATION,
        value: 0n,
        ok: true,
        gasLimit: 0n,
        gasUsed: 0n,
        fee: 0n,
        gasPrice: 0n,
        recipient: payee,
        amount,
        receipt: {
          marketPrice: null,
          effect: "transfer",
          emitters: [token],
          moves: [{ token, amount: -amount }],
        },
      };
    });
  return new Map([...byPayer].map(([wallet, signed]) => [wallet, callsOf(wallet, signed)]));
}

type OpenContact = { -readonly [key in keyof Contact]: Contact[key] };

/** Who dealt with whom until a moment, as the contacts table holds it. */
function contactsUntil({ dealings, elsewhere, authorizations }: Ledger, at: number): ContactGraph {
  const byCounterparty = new Map<Address, Map<Address, OpenContact>>();
  const contactsOf = new Map<Address, Contact[]>();
  const callsOf = new Map<Address, number>();
  const signed = authorizations.map(({ authorizer, payee, time, count, usd }) => ({
    account: authorizer,
    counterparty: payee,
    time: Math.floor(time),
    calls: count,
    sentMicroUsd: BigInt(Math.round(usd * 1e6)),
  }));
  for (const { account, counterparty, time, calls, sentMicroUsd } of [...dealings, ...signed]) {
    if (time > at) continue;
    const accounts = byCounterparty.get(counterparty) ?? new Map<Address, OpenContact>();
    byCounterparty.set(counterparty, accounts);
    callsOf.set(account, (callsOf.get(account) ?? 0) + calls);
    const known = accounts.get(account);
    if (known === undefined) {
      const contact = { counterparty, account, calls, sentMicroUsd, firstTime: time, lastTime: time };
      accounts.set(account, contact);
      listOf(contactsOf, account).push(contact);
      continue;
    }
    known.calls += calls;
    known.sentMicroUsd += sentMicroUsd;
    known.firstTime = Math.min(known.firstTime, time);
    known.lastTime = Math.max(known.lastTime, time);
  }
  for (const [account, times] of elsewhere) {
    const before = times.filter((time) => time <= at).length;
    callsOf.set(account, (callsOf.get(account) ?? 0) + before);
  }
  const usersOf = new Map(
    [...byCounterparty].map(([counterparty, accounts]) => [
      counterparty,
      [...accounts.values()].sort((a, b) => (a.account < b.account ? -1 : 1)),
    ]),
  );
  return { usersOf, mainFunderOf: mainFundersIn(usersOf), contactsOf, callsOf };
}

/** Account facts of a history source; it knows nothing of one account in thirty-two. */
function factsOf({ accounts, calls, neverSent }: Ledger): ReadonlyMap<Address, AccountFact> {
  const facts = new Map<Address, AccountFact>();
  for (const [address, account] of accounts) {
    const isUnreported = Number.parseInt(address.slice(2, 6), 16) % 32 === 0 && !calls.has(address);
    if (isUnreported) {
      facts.set(address, {
        address,
        hasCode: account.hasCode,
        creator: null,
        firstFunder: null,
        existedAt: null,
      });
    } else {
      facts.set(address, {
        ...account,
        existedAt: neverSent.has(address) ? null : Math.floor(account.existedAt),
      });
    }
  }
  return facts;
}

/** Account facts without such a source: code, and the first call that an account made or, where it has code, got. */
function factsByContacts({ accounts }: Ledger, graph: ContactGraph): ReadonlyMap<Address, AccountFact> {
  const firstCall = new Map<Address, number>();
  const seen = (address: Address, time: number) =>
    firstCall.set(address, Math.min(time, firstCall.get(address) ?? time));
  for (const [counterparty, contacts] of graph.usersOf) {
    const hasCode = accounts.get(counterparty)?.hasCode === true;
    for (const { account, calls, firstTime } of contacts) {
      if (calls === 0) continue;
      seen(account, firstTime);
      if (hasCode) seen(counterparty, firstTime);
    }
  }
  return new Map(
    [...accounts.values()].map(({ address, hasCode }) => [
      address,
      { address, hasCode, creator: null, firstFunder: null, existedAt: firstCall.get(address) ?? null },
    ]),
  );
}
