import type { Address, Hex } from "viem";
import { rampOf } from "../score/curve.ts";
import { decayNanos, divideRound, MICRO, NANO, toMicros } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import { counterpartiesOf } from "./credit.ts";
import { lostRaceMicros } from "./lost-races.ts";
import type { Market } from "./market.ts";
import { dayOf, SECONDS_PER_DAY } from "./time.ts";
import type { CallReceipt, OwnCall, TokenMove, WalletRows } from "./types.ts";

/** An own call of the window with what it weighs; weights are in billionths. */
export type WeighedCall = {
  readonly call: OwnCall;
  /** Number of the counterparty's owner, counted from 0 in order of first use. */
  readonly counterparty: number;
  /** Number of the (contract, method) pair, counted alike. */
  readonly method: number;
  /** w: decay times flood discount. */
  readonly weight: number;
  /** Whether it costs nothing but gas, which its credit allows for; of a failed call by its calldata alone. */
  readonly trivial: boolean;
  /** Credit of the outcome, in millionths: q of a success, of a failure q but at least the policy's floor, of a lost race a part of that. */
  readonly credit: number;
  /** w times the credit. */
  readonly counted: number;
  /** w·q by the calldata alone, so that no outcome changes it. */
  readonly attempted: number;
  /** Price paid per gas over the market price of its block; null where the block has none. */
  readonly overpay: number | null;
};

/** The window of one wallet: what every feature is computed from. */
export type WeighedHistory = {
  /** All own calls of the window, sorted. */
  readonly calls: readonly OwnCall[];
  /** Those outside the owner cluster, sorted. */
  readonly outside: readonly WeighedCall[];
  /** How many counterparties the outside calls went to. */
  readonly counterparties: number;
  /** Σ w of all own calls, in billionths. */
  readonly totalWeight: number;
  /** Σ w of those inside the owner cluster, in billionths. */
  readonly ownWeight: number;
  /** Σ w of the own calls whose receipts were read, in billionths. */
  readonly receiptWeight: number;
  /** n: Σ of what the outside calls count, in billionths. */
  readonly evidence: number;
  /** n if every outside call failed, in billionths: no outcome changes it. */
  readonly failable: number;
  /** n_a: Σ w·q by the calldata alone, in billionths. */
  readonly attempted: number;
  /** n_q: Σ w·q, of a failed call a trivial one's, in billionths: failing supports no more than what costs nothing. */
  readonly credited: number;
  /** Σ w of payments to a treasury, the one own account that takes nearly all that stays inside the cluster, in billionths. */
  readonly sweptWeight: number;
  /** How many calls stayed inside the owner cluster, those to the treasury left out. */
  readonly ringCalls: number;
};

const NOTHING: WeighedHistory = {
  calls: [],
  outside: [],
  counterparties: 0,
  totalWeight: 0,
  ownWeight: 0,
  receiptWeight: 0,
  evidence: 0,
  failable: 0,
  attempted: 0,
  credited: 0,
  sweptWeight: 0,
  ringCalls: 0,
};

/** Share of what stays inside the cluster from which its greatest payee is a treasury: those of a ring take turns. */
const TREASURY = { begins: 0.5, whole: 0.9 };

/** Cuts the window of a wallet's rows and weighs each call; the order of the rows does not matter. */
export function weighCalls(rows: WalletRows, market: Market, policy: Policy): WeighedHistory {
  const sorted = sortCalls(rows.calls);
  const last = sorted.at(-1);
  if (last === undefined) return NOTHING;
  const start = last.timestamp - policy.window.days * SECONDS_PER_DAY;
  const calls = sorted.filter((call) => call.timestamp >= start);
  const trivial = findTrivialCalls(calls, market, policy);
  const { newCalls } = policy.credit;
  const newFloor = toMicros(policy.credit.newFloor);
  const floor = toMicros(policy.credit.failureFloor);
  const trivialMicros = toMicros(policy.credit.trivialFactor);
  const discounted = (credit: number) => divideRound(credit * trivialMicros, MICRO);
  const counterparties = counterpartiesOf(rows, calls, policy);
  const owners = new Map<Address, number>();

  const outside: WeighedCall[] = [];
  const sums = { totalWeight: 0, ownWeight: 0, receiptWeight: 0, failable: 0, attempted: 0, credited: 0 };
  const paid = new Map<Address, { weight: number; calls: number }>();
  /** Calls to each counterparty so far, by its number. */
  const dealt: number[] = [];
  for (const [position, place] of placeCalls(calls).entries()) {
    const { call, method, day } = place;
    const weight = weigh(last.timestamp - call.timestamp, day.calls, policy);
    sums.totalWeight += weight;
    if (call.receipt !== null) sums.receiptWeight += weight;
    const other = counterparties[position];
    if (other === undefined || other.own) {
      sums.ownWeight += weight;
      if (other !== undefined && !other.circular && isPayment(call)) {
        const payee = entry(paid, other.address, () => ({ weight: 0, calls: 0 }));
        payee.weight += weight;
        payee.calls += 1;
      }
      continue;
    }
    const counterparty = entry(owners, other.owner, () => owners.size);
    const isCheap = isTrivialByCalldata(call, market, policy);
    dealt[counterparty] = (dealt[counterparty] ?? 0) + 1;
    const known = other.isNew && isPayment(call) ? Math.max(other.credit, newFloor) : other.credit;
    const full = other.isNew ? divideRound(known * newCalls, Math.max(newCalls, dealt[counterparty])) : known;
    const tried = isCheap ? discounted(full) : full;
    const isTrivial = call.ok ? trivial[position] === 1 : isCheap;
    const shown = isTrivial || !call.ok ? discounted(full) : full;
    const failed = Math.max(tried, floor);
    const credit = call.ok ? shown : failed;
    const counted = divideRound(weight * credit, MICRO);
    const attempted = divideRound(weight * tried, MICRO);
    sums.credited += divideRound(weight * shown, MICRO);
    sums.failable += divideRound(weight * failed, MICRO);
    sums.attempted += attempted;
    const overpay = overpayOf(call);
    outside.push({
      call,
      counterparty,
      method,
      weight,
      trivial: isTrivial,
      credit,
      counted,
      attempted,
      overpay,
    });
  }
  const races = lostRaceMicros(outside, market, policy);
  const weighed = outside.map((one, position) => {
    const race = races[position] ?? 0;
    if (race === 0) return one;
    const credit = one.credit - divideRound((one.credit - discounted(one.credit)) * race, MICRO);
    return { ...one, credit, counted: divideRound(one.weight * credit, MICRO) };
  });
  const evidence = weighed.reduce((sum, { counted }) => sum + counted, 0);
  const treasury = [...paid.values()].reduce((most, one) => (one.weight > most.weight ? one : most), {
    weight: 0,
    calls: 0,
  });
  const swept = sums.ownWeight === 0 ? 0 : rampOf(treasury.weight / sums.ownWeight, TREASURY);
  const ringCalls = calls.length - outside.length - Math.round(swept * treasury.calls);
  const sweptWeight = Math.round(swept * treasury.weight);
  return { calls, outside: weighed, counterparties: owners.size, ...sums, evidence, sweptWeight, ringCalls };
}

/** True if a call does nothing but pay: a native transfer, or a token transfer by its calldata. */
function isPayment({ selector, recipient }: OwnCall): boolean {
  return selector === null || recipient !== null;
}

function overpayOf({ gasPrice, receipt }: OwnCall): number | null {
  if (receipt === null || receipt.marketPrice === null || receipt.marketPrice === 0n) return null;
  return Number(gasPrice) / Number(receipt.marketPrice);
}

/** Calls by (block, index, position), as a copy where they are not sorted already. */
export function sortCalls(calls: readonly OwnCall[]): readonly OwnCall[] {
  let before: OwnCall | undefined;
  for (const call of calls) {
    if (before !== undefined && compareCalls(before, call) > 0) return calls.toSorted(compareCalls);
    before = call;
  }
  return calls;
}

function compareCalls(a: OwnCall, b: OwnCall): number {
  return a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex || a.position - b.position;
}

function weigh(age: number, sameDay: number, policy: Policy): number {
  const halfLife = policy.window.halfLifeDays * SECONDS_PER_DAY;
  // Nothing is left at the window's edge, so that no call leaves the window with weight.
  const edge = decayNanos(policy.window.days * SECONDS_PER_DAY, halfLife);
  const decay = divideRound((decayNanos(age, halfLife) - edge) * NANO, NANO - edge);
  if (sameDay <= policy.window.floodPerDay) return decay;
  return divideRound(decay * policy.window.floodPerDay, sameDay);
}

type Day = { readonly number: number; calls: number };

type Method = { readonly number: number; day: Day };

/** Numbers (contract, method) pairs, and counts the calls of each pair on each UTC day; calls are sorted by time. */
function placeCalls(
  calls: readonly OwnCall[],
): readonly { readonly call: OwnCall; readonly method: number; readonly day: Day }[] {
  const accounts = new Map<Address | null, Map<Hex | null, Method>>();
  let methods = 0;
  return calls.map((call) => {
    const number = dayOf(call.timestamp);
    const account = entry(accounts, call.to, () => new Map<Hex | null, Method>());
    const method = entry(account, call.selector, () => ({ number: methods++, day: { number, calls: 0 } }));
    if (method.day.number !== number) method.day = { number, calls: 0 };
    method.day.calls += 1;
    return { call, method: method.number, day: method.day };
  });
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = create();
  map.set(key, made);
  return made;
}

/** approve, increaseAllowance (ERC-20), setApprovalForAll (ERC-721, ERC-1155). */
const APPROVALS: ReadonlySet<Hex> = new Set(["0x095ea7b3", "0x39509351", "0xa22cb465"]);

/** Tolerances are compared in thousandths, so that amounts stay integers. */
const MILLE = 1_000;

/**
 * One for each call that costs nothing but gas, by its place in the sorted calls: approvals, wraps, what has no effect and
 * moves nothing of worth, and both legs of what is undone within the hour. Never by the outcome of a call.
 */
export function findTrivialCalls(calls: readonly OwnCall[], market: Market, policy: Policy): Uint8Array {
  const trivial = new Uint8Array(calls.length);
  for (let place = 0; place < calls.length; place++) {
    const call = calls[place];
    if (call !== undefined && isTrivial(call, market, policy)) trivial[place] = 1;
  }
  markRoundTrips(calls, trivial, policy);
  return trivial;
}

function isTrivial(call: OwnCall, market: Market, { credit }: Policy): boolean {
  const { receipt } = call;
  if (receipt !== null) return hasTrivialEffect(call, receipt, { market, credit });
  return isTrivialByCalldata(call, market, { credit });
}

/** Without its logs a contract call is not shown to be without effect. */
function isTrivialByCalldata(
  call: OwnCall,
  market: Market,
  { credit }: { readonly credit: Policy["credit"] },
): boolean {
  const { selector, recipient, value } = call;
  if (selector !== null && APPROVALS.has(selector)) return true;
  if (selector !== null && recipient === null) return false;
  // An execution that was asked for a payment.
  if (selector === null && value === null) return false;
  return paidWorth(call, market) < credit.trivialBelowMicroUsd;
}

function hasTrivialEffect(
  call: OwnCall,
  receipt: CallReceipt,
  { market, credit }: { readonly market: Market; readonly credit: Policy["credit"] },
): boolean {
  switch (receipt.effect) {
    case "approval":
    case "wrap":
      return true;
    case "none":
      return valueWorth(call, market) < credit.trivialBelowMicroUsd;
    case "transfer":
      return valueWorth(call, market) + movedWorth(call, receipt, market) < credit.trivialBelowMicroUsd;
    case "other":
      return false;
  }
}

/** By calldata alone. */
function paidWorth(call: OwnCall, market: Market): number {
  const { to, recipient, amount, timestamp } = call;
  const value = valueWorth(call, market);
  if (to === null || recipient === null || amount === null) return value;
  const worth = market.tokenWorth(to, amount, timestamp);
  return worth === null ? value : value + worth;
}

/** A coin or token without a price is not shown to be worth anything, nor is one that nothing shows. */
function valueWorth({ value, timestamp }: OwnCall, market: Market): number {
  if (value === null || value === 0n) return 0;
  const worth = market.nativeWorth(value, timestamp);
  return worth === null ? 0 : worth;
}

function movedWorth({ timestamp }: OwnCall, { moves }: CallReceipt, market: Market): number {
  let sum = 0;
  for (const { token, amount } of moves) {
    const worth = market.tokenWorth(token, amount, timestamp);
    if (worth !== null) sum += Math.abs(worth);
  }
  return sum;
}

type Leg = { readonly place: number; readonly timestamp: number; readonly moves: readonly TokenMove[] };

/**
 * Marks both calls of each round trip: the later one moves the same tokens back, within the tolerance. A call is a leg of
 * one trip at most, with the nearest call before it. Plain transfers are no legs: no payment undoes an income.
 */
function markRoundTrips(calls: readonly OwnCall[], trivial: Uint8Array, { credit }: Policy): void {
  const { roundTrip } = credit;
  const perMille = BigInt(Math.round(roundTrip.tolerance * MILLE));
  // By the first token moved and its direction: only the opposite direction can be undone.
  const inward = new Map<Address, Leg[]>();
  const outward = new Map<Address, Leg[]>();
  for (let place = 0; place < calls.length; place++) {
    const call = calls[place];
    const first = call?.receipt?.moves[0];
    if (call?.receipt == null || first === undefined || call.receipt.effect === "transfer") continue;
    const leg: Leg = { place, timestamp: call.timestamp, moves: call.receipt.moves };
    const [same, opposite] = first.amount > 0n ? [inward, outward] : [outward, inward];
    const candidates = opposite.get(first.token);
    const undone = candidates === undefined ? null : takeUndone(leg, candidates, { roundTrip, perMille });
    if (undone !== null) {
      trivial[undone.place] = 1;
      trivial[place] = 1;
      continue;
    }
    const legs = same.get(first.token);
    if (legs === undefined) same.set(first.token, [leg]);
    else legs.push(leg);
  }
}

/** Takes the newest of the earlier legs that a later one undoes out of them; null where it undoes none. */
function takeUndone(
  leg: Leg,
  earlier: Leg[],
  { roundTrip, perMille }: { readonly roundTrip: Policy["credit"]["roundTrip"]; readonly perMille: bigint },
): Leg | null {
  const last = Math.max(0, earlier.length - roundTrip.lookBack);
  for (let position = earlier.length - 1; position >= last; position--) {
    const candidate = earlier[position];
    if (candidate === undefined || leg.timestamp - candidate.timestamp > roundTrip.withinSeconds) return null;
    if (!undoes(leg.moves, candidate.moves, perMille)) continue;
    earlier.splice(position, 1);
    return candidate;
  }
  return null;
}

/** Whether every token went back: amounts of opposite sign that differ by no more than the tolerance of the larger. */
function undoes(later: readonly TokenMove[], earlier: readonly TokenMove[], perMille: bigint): boolean {
  if (later.length !== earlier.length) return false;
  return later.every(({ token, amount }, position) => {
    const other = earlier[position];
    if (other === undefined || other.token !== token || amount > 0n === other.amount > 0n) return false;
    const [size, otherSize] = [magnitude(amount), magnitude(other.amount)];
    const [smaller, larger] = size < otherSize ? [size, otherSize] : [otherSize, size];
    return (larger - smaller) * BigInt(MILLE) <= larger * perMille;
  });
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
