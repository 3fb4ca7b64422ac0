import type { Address } from "viem";
import { PASSED_ON } from "./policy.ts";

/** Sum of what one account paid another, or a part of it; in millionths of a US dollar, 0 or more. */
export type Payment = { readonly payer: Address; readonly payee: Address; readonly microUsd: bigint };

/** All inputs of the cost bases of a set of wallets, over one window of time. */
export type Spending = {
  /**
   * Own cost of each wallet in millionths of a US dollar, 0 or more: costs that do not come back to it. A wallet
   * without an entry has none.
   */
  readonly ownMicroUsd: ReadonlyMap<Address, bigint>;
  /** Payments in any order; those of one pair add up. */
  readonly payments: Iterable<Payment>;
  /** A name for the owner cluster of a wallet, the same for all its members; a wallet of no cluster is named by itself. */
  readonly clusterOf: (wallet: Address) => string;
};

/** Backing of a wallet, in millionths of a US dollar. */
export type Backing = {
  /** CB: its own cost and the part of its payers' cost bases that their payments passed on. */
  readonly costBasis: bigint;
  /** Greatest amount to settle with it at once, before what is outstanding. */
  readonly safe: bigint;
};

/**
 * Rounds of the sum at most. Each round adds at most half of what the one before added, so that all is settled after as
 * many rounds as the sum of all own costs has bits; 96 bits are more than all money.
 */
const MOST_ROUNDS = 96;

/**
 * Cost bases of wallets and the amounts that they make safe.
 *
 * CB(w) = own(w) + Σ min(pay(p→w), α·CB(p)·pay(p→w) / pay(p→all)), over all payers p outside w's owner cluster, α = 1/2: no
 * payment passes on more than was paid. Payments within a cluster, of a wallet to itself among them, are left out of both
 * pay(p→w) and pay(p→all). safe(w) = (1 − α)·CB(w). Every share is rounded down to a millionth of a dollar, and the sum grows
 * from the own costs by rounds: what rounding or the bound of the rounds leaves out only lowers the result.
 *
 * Guarantees, exact and not only up to rounding:
 * 1. For any set S that no account outside S pays, Σ safe(S) ≤ Σ own(S). The shares of a payer add up to at most 1, hence
 *    Σ CB(S) ≤ own(S) + α·Σ CB(S). Payments within a cluster of S do not count as payments into S.
 * 2. The order of wallets and payments, and how the payments of one pair are split, change nothing.
 * 3. More own cost lowers no cost basis. Neither does a first payment: one by an account that had made no payment outside
 *    its cluster. Payments by an account without a cost basis change no cost basis.
 *
 * Any other payment p→w takes from the shares of p's other payees, and from no others: the cost basis of an account falls only
 * if it is reached by payments from such a payee. It never falls for w itself, whatever the payments among the others, but
 * for rounding, which is less than two millionths of a dollar for each pair that pays.
 *
 * Returns an entry for each wallet with own cost or with an account outside its cluster that paid it, by rising address.
 * Throws on a negative amount.
 */
export function costBases(spending: Spending): ReadonlyMap<Address, Backing> {
  const own = spending.ownMicroUsd;
  for (const [wallet, cost] of own) refuseNegative(cost, wallet);
  const flows = flowsOf(spending);
  let bases = new Map(own);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const next = passOn(bases, { own, flows });
    const settled = flows.every(({ payee }) => next.get(payee) === bases.get(payee));
    bases = next;
    if (settled) break;
  }
  return new Map(
    [...bases]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([wallet, costBasis]) => [wallet, { costBasis, safe: safeOf(costBasis) }]),
  );
}

/** The safe amount that is shown, compared with payments and published: none while the wallet is on a sanctions list. */
export function safeAmountOf(wallet: {
  readonly safeMicroUsd: bigint;
  readonly sanctioned: boolean;
}): bigint {
  return wallet.sanctioned ? 0n : wallet.safeMicroUsd;
}

/** Sum that a payer paid a payee outside its cluster, and its payments to all such payees. */
type Flow = {
  readonly payer: Address;
  readonly payee: Address;
  readonly paid: bigint;
  readonly paidToAll: bigint;
};

/** One flow for each pair. Their order does not matter: a round reads the one before and adds integers. */
function flowsOf({ payments, clusterOf }: Spending): readonly Flow[] {
  const paidBy = new Map<Address, Map<Address, bigint>>();
  for (const { payer, payee, microUsd } of payments) {
    refuseNegative(microUsd, payer);
    if (microUsd === 0n || payer === payee || clusterOf(payer) === clusterOf(payee)) continue;
    const payees = paidBy.get(payer) ?? new Map<Address, bigint>();
    paidBy.set(payer, payees);
    payees.set(payee, (payees.get(payee) ?? 0n) + microUsd);
  }
  return [...paidBy].flatMap(([payer, payees]) => {
    let paidToAll = 0n;
    for (const paid of payees.values()) paidToAll += paid;
    return [...payees].map(([payee, paid]) => ({ payer, payee, paid, paidToAll }));
  });
}

/** One round: own costs, and the parts of the bases so far that each payer's payments pass on. */
function passOn(
  bases: ReadonlyMap<Address, bigint>,
  { own, flows }: { readonly own: ReadonlyMap<Address, bigint>; readonly flows: readonly Flow[] },
): Map<Address, bigint> {
  const next = new Map(own);
  for (const { payer, payee, paid, paidToAll } of flows) {
    const basis = bases.get(payer) ?? 0n;
    const share = (PASSED_ON.numerator * basis * paid) / (PASSED_ON.denominator * paidToAll);
    next.set(payee, (next.get(payee) ?? 0n) + (share < paid ? share : paid));
  }
  return next;
}

function safeOf(costBasis: bigint): bigint {
  const { numerator, denominator } = PASSED_ON;
  return ((denominator - numerator) * costBasis) / denominator;
}

function refuseNegative(microUsd: bigint, wallet: Address): void {
  if (microUsd < 0n) throw new RangeError(`expected an amount of 0 or more of ${wallet}, got ${microUsd}`);
}
