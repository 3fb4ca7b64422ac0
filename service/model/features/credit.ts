import type { Address } from "viem";
import { decayNanos, divideRound, MICRO, NANO, toMicros } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { CounterpartyFact, OwnCall, WalletRows } from "./types.ts";

/** The counterparty of a call as the model sees it. */
type CallCounterparty = {
  address: Address;
  /** The account that represents all accounts of one owner, which count as one counterparty. */
  owner: Address;
  /** True if it belongs to the wallet's owner cluster. */
  own: boolean;
  /** True if it is the wallet itself or an own account that funds it as well: money sent to it comes back. */
  circular: boolean;
  /** q in millionths, before the discount of trivial calls; 0 inside the cluster. */
  credit: number;
  /** True if neither users nor age vouch for it: what it vouches for shrinks from call to call. */
  isNew: boolean;
};

/**
 * Returns the counterparty of each call of a wallet; the calls are sorted.
 * 1. A payment: the account paid.
 * 2. A call to an own account or to none, or an execution whose target neither logged nor was paid: the outside contract with the
 *    highest credit in its logs.
 * 3. Any other call: the account called, with the credit of that contract if it is higher. A new account gives way to it.
 *
 * All calls to one account share the credit that their logs show, in full from several calls on: failed calls have no logs.
 * So more users of the called account lower the credit of no call.
 * An execution without evidence counts as an outside party with credit 0. Native coin that it sent is evidence: a trace shows it.
 */
export function counterpartiesOf(
  rows: WalletRows,
  calls: readonly OwnCall[],
  policy: Policy,
): readonly CallCounterparty[] {
  return counterpartiesBy({ isBetter: hasMoreCredit, join: withCreditBehind }, { rows, calls, policy });
}

/**
 * The same for reports, but of several outside contracts in the logs the one with the lowest address counts, and an
 * outside contract counts for itself alone. Two meanings are needed: the score credits the best evidence, but credit changes
 * with what third parties do. Lists and sums of a report must stay the same between two pages.
 */
export function reportedCounterpartiesOf(
  rows: WalletRows,
  calls: readonly OwnCall[],
  policy: Policy,
): readonly CallCounterparty[] {
  return counterpartiesBy(
    { isBetter: (one, other) => one.address < other.address, join: (called) => called },
    { rows, calls, policy },
  );
}

function counterpartiesBy(
  {
    isBetter,
    join,
  }: {
    isBetter: (one: CallCounterparty, other: CallCounterparty) => boolean;
    /** The counterparty of a call of an outside account whose logs show another one. */
    join: (called: CallCounterparty, behind: CallCounterparty) => CallCounterparty;
  },
  {
    rows: { wallet, counterparties },
    calls,
    policy,
  }: { rows: WalletRows; calls: readonly OwnCall[]; policy: Policy },
): readonly CallCounterparty[] {
  const facts = new Map(counterparties.map((fact) => [fact.address, fact]));
  const itself: CallCounterparty = {
    address: wallet,
    owner: wallet,
    own: true,
    circular: true,
    credit: 0,
    isNew: false,
  };
  const outsider: CallCounterparty = { ...itself, own: false, circular: false };
  const byAddress = new Map([[wallet, itself]]);

  const counterpartyAt = (address: Address, seenAt: number): CallCounterparty => {
    const known = byAddress.get(address);
    if (known !== undefined) return known;
    const made = counterpartyFrom(address, facts.get(address), { seenAt, policy });
    byAddress.set(address, made);
    return made;
  };
  const bestInLogs = ({ receipt, timestamp }: OwnCall): CallCounterparty | null => {
    let best: CallCounterparty | null = null;
    if (receipt === null) return null;
    for (const emitter of receipt.emitters) {
      const counterparty = counterpartyAt(emitter, timestamp);
      if (!counterparty.own && (best === null || isBetter(counterparty, best))) best = counterparty;
    }
    return best;
  };
  // Kept apart: an execution may not have called its target, which a transaction did.
  const shownBy = {
    transactions: new Map<Address | null, Shown>(),
    executions: new Map<Address | null, Shown>(),
  };
  const found = calls.map((call) => {
    if (call.recipient !== null)
      return { counterparty: counterpartyAt(call.recipient, call.timestamp), shown: null };
    const shown = shownOf(call.to, call.position === 0 ? shownBy.transactions : shownBy.executions);
    const called = call.to === null ? itself : counterpartyAt(call.to, call.timestamp);
    const isSure = call.position === 0 || hasPaid(call) || hasLogged(call);
    const logged = bestInLogs(call);
    const outside = called.own || !isSure ? logged : logged === null ? called : join(called, logged);
    if (outside === null) {
      return { counterparty: called.own && (isSure || call.to !== null) ? called : outsider, shown };
    }
    if (logged !== null || hasPaid(call)) {
      if (shown.best === null || isBetter(outside, shown.best)) shown.best = outside;
      addCredit(shown.credits, outside.credit);
    }
    return { counterparty: outside, shown };
  });
  return found.map(({ counterparty, shown }) => {
    if (shown === null || shown.best === null) return counterparty;
    const credit = divideRound(
      shown.credits.reduce((sum, one) => sum + one, 0),
      FULLY_SHOWN,
    );
    const behind = { ...shown.best, credit };
    return counterparty.own || counterparty === outsider ? behind : join(counterparty, behind);
  });
}

/** Logs of all calls to one account: the best outside contract, or null, and the highest credits, falling. */
type Shown = { best: CallCounterparty | null; readonly credits: number[] };

/** So many calls whose logs show what is behind an account give all calls to it the whole of its credit. */
const FULLY_SHOWN = 4;

function shownOf(account: Address | null, all: Map<Address | null, Shown>): Shown {
  const known = all.get(account);
  if (known !== undefined) return known;
  const made = { best: null, credits: [] };
  all.set(account, made);
  return made;
}

function addCredit(credits: number[], credit: number): void {
  const least = credits[FULLY_SHOWN - 1];
  if (least !== undefined && credit <= least) return;
  credits.push(credit);
  credits.sort((a, b) => b - a);
  if (credits.length > FULLY_SHOWN) credits.pop();
}

/** A new account gives way to one of more credit behind it; any other one keeps its name and takes the credit. */
function withCreditBehind(called: CallCounterparty, behind: CallCounterparty): CallCounterparty {
  if (behind.credit <= called.credit) return called;
  return called.isNew ? behind : { ...called, credit: behind.credit };
}

/** True for an execution whose payment in native coin a trace shows. */
function hasPaid({ position, value, to }: OwnCall): boolean {
  return position > 0 && to !== null && value !== null && value > 0n;
}

/** True if the called account logged: the code of a smart account may ignore the calldata of an execution. */
function hasLogged({ to, receipt }: OwnCall): boolean {
  return to !== null && receipt?.emitters.includes(to) === true;
}

/** True if a source shows that the account existed a month before a moment in Unix seconds. */
export function isEstablished(fact: CounterpartyFact, before: number, { credit }: Policy): boolean {
  return fact.existedAt !== null && fact.existedAt <= before - credit.establishedDays * SECONDS_PER_DAY;
}

function hasMoreCredit(one: CallCounterparty, other: CallCounterparty): boolean {
  return one.credit > other.credit || (one.credit === other.credit && one.address < other.address);
}

function counterpartyFrom(
  address: Address,
  fact: CounterpartyFact | undefined,
  { seenAt, policy }: { readonly seenAt: number; readonly policy: Policy },
): CallCounterparty {
  // Nothing is known of it: it is neither own nor credited.
  if (fact === undefined)
    return { address, owner: address, own: false, circular: false, credit: 0, isNew: true };
  const owner = fact.mergedWith ?? address;
  if (fact.ownerLink !== null) {
    const circular = fact.ownerLink === "mutual_funding" || fact.ownerLink === "itself";
    return { address, owner, own: true, circular, credit: 0, isNew: false };
  }
  return { address, owner, own: false, circular: false, ...creditOf(fact, seenAt, policy) };
}

/** q = 1 − 2^(−u/3), and at least the floor of an established account, or of a new one that others funded. */
function creditOf(
  fact: CounterpartyFact,
  seenAt: number,
  policy: Policy,
): Pick<CallCounterparty, "credit" | "isNew"> {
  const { usersPerHalf, establishedFloor, newFloor } = policy.credit;
  const byUsers = divideRound(NANO - decayNanos(fact.outsideUsers, usersPerHalf), NANO / MICRO);
  if (isEstablished(fact, fact.firstContactAt ?? seenAt, policy)) {
    return { credit: Math.max(byUsers, toMicros(establishedFloor)), isNew: false };
  }
  const floor = toMicros(newFloor);
  if (byUsers >= floor) return { credit: byUsers, isNew: false };
  return { credit: fact.fundedFromOutside === true ? floor : byUsers, isNew: true };
}
