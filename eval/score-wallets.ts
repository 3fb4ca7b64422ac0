import type { Address } from "viem";
import { addressesOf, describeCounterparties } from "../service/model/features/describe-counterparties.ts";
import { mainFundersIn } from "../service/model/features/find-owners.ts";
import { scoreWallet } from "../service/model/features/score-wallet.ts";
import type { AccountFact, Contact, ContactGraph, WalletRows } from "../service/model/features/types.ts";
import type { Policy } from "../service/model/score/policy-shape.ts";
import type { ScoreRecord } from "../service/model/score/record.ts";
import { blockAt, type Ledger, listOf } from "./ledger.ts";
import { DAY, type World } from "./world.ts";

const CHAIN_ID = 31_337;

/** The service's knowledge of a world at a moment: scores any followed wallet as of it. */
export type Observer = {
  /** Unix seconds. */
  readonly at: number;
  score(wallet: Address): ScoreRecord;
};

/** Reads a world up to a moment as the service would, and scores by a policy. */
export function observe(
  world: World,
  { at, policy }: { readonly at: number; readonly policy: Policy },
): Observer {
  const graph = contactsUntil(world.ledger, at);
  const facts = factsOf(world.ledger);
  const publicFunders = new Set(world.publicFunders);
  const asOf = {
    blockNumber: blockAt(world.ledger, at),
    blockHash: `0x${"0".repeat(64)}`,
    timestamp: at,
  } as const;
  return {
    at,
    score: (wallet) => {
      const own = ownRows(world, wallet, at);
      const last = own.calls.reduce((latest, { timestamp }) => Math.max(latest, timestamp), 0);
      const counterparties = describeCounterparties({
        wallet,
        addresses: addressesOf(own.calls, own.approvals, own.delegation),
        windowStart: last - policy.window.days * DAY,
        graph,
        facts,
        publicFunders,
        flags: world.ledger.flags,
        policy,
      });
      return scoreWallet({ rows: { ...own, counterparties }, asOf, policy });
    },
  };
}

/** The rows of a followed wallet but for its counterparties. */
function ownRows(
  { ledger, market, start }: World,
  wallet: Address,
  at: number,
): Omit<WalletRows, "counterparties"> {
  const delegation = ledger.delegations.get(wallet);
  const sanction = ledger.sanctions.get(wallet);
  return {
    chainId: CHAIN_ID,
    wallet,
    calls: (ledger.calls.get(wallet) ?? []).filter(({ timestamp }) => timestamp <= at),
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

type OpenContact = { -readonly [key in keyof Contact]: Contact[key] };

/** Who dealt with whom until a moment, as the contacts table holds it. */
function contactsUntil({ dealings, elsewhere }: Ledger, at: number): ContactGraph {
  const byCounterparty = new Map<Address, Map<Address, OpenContact>>();
  const contactsOf = new Map<Address, Contact[]>();
  const callsOf = new Map<Address, number>();
  for (const { account, counterparty, time, calls, sentMicroUsd } of dealings) {
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
function factsOf({ accounts, calls }: Ledger): ReadonlyMap<Address, AccountFact> {
  const facts = new Map<Address, AccountFact>();
  for (const [address, account] of accounts) {
    const isUntold = Number.parseInt(address.slice(2, 6), 16) % 32 === 0 && !calls.has(address);
    if (isUntold) {
      facts.set(address, {
        address,
        hasCode: account.hasCode,
        creator: null,
        firstFunder: null,
        existedAt: null,
      });
    } else facts.set(address, { ...account, existedAt: Math.floor(account.existedAt) });
  }
  return facts;
}
