import type { Address, Hex } from "viem";
import { decayNanos, divideRound, MICRO, toMicros } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import { standingsOf } from "./credit.ts";
import type { Market } from "./market.ts";
import { dayOf, SECONDS_PER_DAY } from "./time.ts";
import { findTrivialCalls } from "./trivial-calls.ts";
import type { OwnCall, WalletRows } from "./types.ts";

/** An own call of the window with what it weighs; weights are in billionths. */
export type WeighedCall = {
  readonly call: OwnCall;
  /** Number of the counterparty's owner, counted from 0 in order of first use. */
  readonly counterparty: number;
  /** Number of the (contract, method) pair, counted alike. */
  readonly method: number;
  /** w: decay times flood discount. */
  readonly weight: number;
  /** Whether it costs nothing but gas, which its credit allows for. */
  readonly trivial: boolean;
  /** q in millionths. */
  readonly credit: number;
  /** w·q. */
  readonly credited: number;
  /** Price paid per gas over what the market paid in its block; null where the block tells none. */
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
  /** n: Σ w·q of successes and Σ w of failures outside the cluster, in billionths. */
  readonly evidence: number;
  /** n_q: Σ w·q whatever the outcome, in billionths. */
  readonly credited: number;
};

const NOTHING: WeighedHistory = {
  calls: [],
  outside: [],
  counterparties: 0,
  totalWeight: 0,
  ownWeight: 0,
  receiptWeight: 0,
  evidence: 0,
  credited: 0,
};

/** Cuts the window of a wallet's rows and weighs each call; the order of the rows does not matter. */
export function weighCalls(rows: WalletRows, market: Market, policy: Policy): WeighedHistory {
  const sorted = sortCalls(rows.calls);
  const last = sorted.at(-1);
  if (last === undefined) return NOTHING;
  const start = last.timestamp - policy.window.days * SECONDS_PER_DAY;
  const calls = sorted.filter((call) => call.timestamp >= start);
  const trivial = findTrivialCalls(calls, market, policy);
  const trivialMicros = toMicros(policy.credit.trivialFactor);
  const standings = standingsOf(rows, calls, policy);
  const owners = new Map<Address, number>();

  const outside: WeighedCall[] = [];
  const sums = { totalWeight: 0, ownWeight: 0, receiptWeight: 0, evidence: 0, credited: 0 };
  for (const [position, place] of placeCalls(calls).entries()) {
    const { call, method, day } = place;
    const weight = weigh(last.timestamp - call.timestamp, day.calls, policy);
    sums.totalWeight += weight;
    if (call.receipt !== null) sums.receiptWeight += weight;
    const standing = standings[position];
    if (standing === undefined || standing.own) {
      sums.ownWeight += weight;
      continue;
    }
    const isTrivial = trivial[position] === 1;
    const credit = isTrivial ? divideRound(standing.credit * trivialMicros, MICRO) : standing.credit;
    const credited = divideRound(weight * credit, MICRO);
    sums.credited += credited;
    sums.evidence += call.ok ? credited : weight;
    const counterparty = entry(owners, standing.owner, () => owners.size);
    const overpay = overpayOf(call);
    outside.push({ call, counterparty, method, weight, trivial: isTrivial, credit, credited, overpay });
  }
  return { calls, outside, counterparties: owners.size, ...sums };
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
  const decay = decayNanos(age, policy.window.halfLifeDays * SECONDS_PER_DAY);
  if (sameDay <= policy.window.floodPerDay) return decay;
  return divideRound(decay * policy.window.floodPerDay, sameDay);
}

type Day = { readonly number: number; calls: number };

type Place = { readonly call: OwnCall; readonly method: number; readonly day: Day };

type Method = { readonly number: number; day: Day };

/** Numbers (contract, method) pairs, and counts the calls of each pair on each UTC day; calls are sorted by time. */
function placeCalls(calls: readonly OwnCall[]): readonly Place[] {
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
