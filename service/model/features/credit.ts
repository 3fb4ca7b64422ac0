import type { Address } from "viem";
import { decayNanos, divideRound, MICRO, NANO, toMicros } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import { SECONDS_PER_DAY } from "./time.ts";
import type { CounterpartyFact, OwnCall, WalletRows } from "./types.ts";

/** A counterparty as the model sees it. */
type Standing = {
  readonly address: Address;
  /** The account that stands for all that share an owner with it; counterparties of one owner are one. */
  readonly owner: Address;
  /** Whether it belongs to the wallet's owner cluster. */
  readonly own: boolean;
  /** q in millionths, before trivial calls are discounted; 0 inside the cluster. */
  readonly credit: number;
};

/**
 * The counterparty of each of a wallet's calls, which are sorted: of a payment whom it pays; of a call to an own account or
 * to none, and of an execution whose target did not log, the most creditable outside contract that its logs show; else whom
 * it calls. A call without such logs is what the best of its other calls to the same is: a failure shows none, and is no less
 * a failure. An execution that nothing shows dealt with somebody outside without credit.
 */
export function standingsOf(
  rows: WalletRows,
  calls: readonly OwnCall[],
  policy: Policy,
): readonly Standing[] {
  return standingsBy(hasMoreCredit, { rows, calls, policy });
}

/**
 * The same, but of several outside contracts that logs show the one of the lowest address: whom a call counts for does not
 * change with what others do meanwhile.
 */
export function standingsByAddress(
  rows: WalletRows,
  calls: readonly OwnCall[],
  policy: Policy,
): readonly Standing[] {
  return standingsBy((one, other) => one.address < other.address, { rows, calls, policy });
}

type StandingsQuestion = {
  readonly rows: WalletRows;
  readonly calls: readonly OwnCall[];
  readonly policy: Policy;
};

function standingsBy(
  isBetter: (one: Standing, other: Standing) => boolean,
  { rows: { wallet, counterparties }, calls, policy }: StandingsQuestion,
): readonly Standing[] {
  const facts = new Map(counterparties.map((fact) => [fact.address, fact]));
  const standings = new Map<Address, Standing>();
  const itself: Standing = { address: wallet, owner: wallet, own: true, credit: 0 };
  standings.set(wallet, itself);
  const nobody: Standing = { address: wallet, owner: wallet, own: false, credit: 0 };

  const standingOf = (address: Address, seenAt: number): Standing => {
    const known = standings.get(address);
    if (known !== undefined) return known;
    const made = standingFrom(address, facts.get(address), { seenAt, policy });
    standings.set(address, made);
    return made;
  };
  const lookThrough = ({ receipt, timestamp }: OwnCall): Standing | null => {
    let best: Standing | null = null;
    if (receipt === null) return null;
    for (const emitter of receipt.emitters) {
      const standing = standingOf(emitter, timestamp);
      if (!standing.own && (best === null || isBetter(standing, best))) best = standing;
    }
    return best;
  };
  const reached = new Map<Address | null, Standing>();
  const told = calls.map((call) => {
    if (call.recipient !== null) return standingOf(call.recipient, call.timestamp);
    const called = call.to === null ? itself : standingOf(call.to, call.timestamp);
    if (call.position === 0 && !called.own) return called;
    const shown = !called.own && hasLogged(call) ? called : lookThrough(call);
    if (shown === null) return call.position === 0 || (call.to !== null && called.own) ? called : nobody;
    const known = reached.get(call.to);
    if (known === undefined || isBetter(shown, known)) reached.set(call.to, shown);
    return shown;
  });
  if (reached.size === 0) return told;
  return told.map((standing, position) => {
    const call = calls[position];
    const isOpen = standing.own || standing === nobody;
    if (!isOpen || call === undefined || call.recipient !== null) return standing;
    return reached.get(call.to) ?? standing;
  });
}

/** Whether the called account stands in the logs: calldata of an execution may be ignored by the account's own code. */
function hasLogged({ to, receipt }: OwnCall): boolean {
  return to !== null && receipt?.emitters.includes(to) === true;
}

/** Whether an account is shown to have existed for a month at a moment in Unix seconds; not if no source knows. */
export function isEstablished(fact: CounterpartyFact, before: number, { credit }: Policy): boolean {
  return fact.existedAt !== null && fact.existedAt <= before - credit.establishedDays * SECONDS_PER_DAY;
}

function hasMoreCredit(one: Standing, other: Standing): boolean {
  return one.credit > other.credit || (one.credit === other.credit && one.address < other.address);
}

function standingFrom(
  address: Address,
  fact: CounterpartyFact | undefined,
  { seenAt, policy }: { readonly seenAt: number; readonly policy: Policy },
): Standing {
  // Of whom nothing is known, nothing speaks for either.
  if (fact === undefined) return { address, owner: address, own: false, credit: 0 };
  const owner = fact.mergedWith ?? address;
  if (fact.ownerLink !== null) return { address, owner, own: true, credit: 0 };
  return { address, owner, own: false, credit: creditMicros(fact, seenAt, policy) };
}

/** q = 1 − 2^(−u/3), and no less than an established account or one that others funded deserves. */
function creditMicros(fact: CounterpartyFact, seenAt: number, policy: Policy): number {
  const { usersPerHalf, establishedFloor, fundedFloor } = policy.credit;
  const byUsers = divideRound(NANO - decayNanos(fact.outsideUsers, usersPerHalf), NANO / MICRO);
  if (isEstablished(fact, fact.firstContactAt ?? seenAt, policy)) {
    return Math.max(byUsers, toMicros(establishedFloor));
  }
  return fact.fundedFromOutside === true ? Math.max(byUsers, toMicros(fundedFloor)) : byUsers;
}
