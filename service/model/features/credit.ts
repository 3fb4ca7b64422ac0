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
 * 2. A call to an own account, to one without credit or to none, or an execution whose target neither logged nor was paid: the outside
 *    contract with the highest credit in its logs.
 * 3. Any other call: the account called.
 *
 * If a call has no such logs (failed calls have none), the best counterparty of other calls to the same account counts, in full
 * where several calls show it: no one call changes the credit of all before it.
 * An execution without evidence counts as an outside party with credit 0. Native coin that it sent is evidence: a trace shows it.
 */
export function counterpartiesOf(
  rows: WalletRows,
  calls: readonly OwnCall[],
  policy: Policy,
): readonly CallCounterparty[] {
  return counterpartiesBy(
    { isBetter: hasMoreCredit, looksThrough: ({ own, credit }) => own || credit === 0 },
    {
      rows,
      calls,
      policy,
    },
  );
}

/**
 * The same for reports, but of several outside contracts in the logs the one with the lowest address counts, and an
 * outside contract is never looked through. Two meanings are needed: the score is to credit the best evidence, but credit changes with what third parties do, and lists and sums of a
 * report must stay the same between two pages.
 */
export function reportedCounterpartiesOf(
  rows: WalletRows,
  calls: readonly OwnCall[],
  policy: Policy,
): readonly CallCounterparty[] {
  return counterpartiesBy(
    { isBetter: (one, other) => one.address < other.address, looksThrough: ({ own }) => own },
    {
      rows,
      calls,
      policy,
    },
  );
}

function counterpartiesBy(
  {
    isBetter,
    looksThrough,
  }: {
    isBetter: (one: CallCounterparty, other: CallCounterparty) => boolean;
    /** Whether what a called account logs counts in its place. */
    looksThrough: (called: CallCounterparty) => boolean;
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
  const reached = new Map<Address | null, { best: CallCounterparty; shown: number }>();
  const found = calls.map((call) => {
    if (call.recipient !== null) return counterpartyAt(call.recipient, call.timestamp);
    const called = call.to === null ? itself : counterpartyAt(call.to, call.timestamp);
    const isOpaque = looksThrough(called);
    if (call.position === 0 && !isOpaque) return called;
    const isSure = call.position === 0 || hasPaid(call);
    const shown = !isOpaque && (isSure || hasLogged(call)) ? called : bestInLogs(call);
    if (shown === null) return isSure || (call.to !== null && called.own) ? called : outsider;
    if (isSure && isOpaque && !called.own && !isBetter(shown, called)) return called;
    const known = reached.get(call.to);
    const best = known === undefined || isBetter(shown, known.best) ? shown : known.best;
    reached.set(call.to, { best, shown: (known?.shown ?? 0) + 1 });
    return shown;
  });
  if (reached.size === 0) return found;
  return found.map((counterparty, position) => {
    const call = calls[position];
    const isOpen = looksThrough(counterparty) || counterparty === outsider;
    if (!isOpen || call === undefined || call.recipient !== null) return counterparty;
    const behind = reached.get(call.to);
    if (behind === undefined) return counterparty;
    const { best, shown } = behind;
    return { ...best, credit: divideRound(best.credit * Math.min(shown, FULLY_SHOWN), FULLY_SHOWN) };
  });
}

/** So many calls whose logs show what is behind an account give calls without logs all of its credit. */
const FULLY_SHOWN = 4;

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
