import type { Address, Hex } from "viem";
import { decayNanos, divideRound, MICRO } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import { creditMicros } from "./credit.ts";
import { dayOf, SECONDS_PER_DAY } from "./time.ts";
import type { OwnCall, WalletRows } from "./types.ts";

/** An own call of the window with what it weighs; weights are in billionths. */
export type WeighedCall = {
  readonly call: OwnCall;
  /** Number of the called account, counted from 0 in order of first use. */
  readonly counterparty: number;
  /** Number of the (contract, method) pair, counted alike. */
  readonly method: number;
  /** w: decay times flood discount. */
  readonly weight: number;
  /** q in millionths. */
  readonly credit: number;
  /** w·q. */
  readonly credited: number;
};

/** The window of one wallet: what every feature is computed from. */
export type WeighedHistory = {
  /** All own calls of the window, sorted. */
  readonly calls: readonly OwnCall[];
  /** Those outside the owner cluster, sorted. */
  readonly outside: readonly WeighedCall[];
  /** How many accounts the calls went to. */
  readonly counterparties: number;
  /** Σ w of all own calls, in billionths. */
  readonly totalWeight: number;
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
  evidence: 0,
  credited: 0,
};

/** Cuts the window of a wallet's rows and weighs each call; the order of the rows does not matter. */
export function weighCalls(rows: WalletRows, policy: Policy): WeighedHistory {
  const sorted = sortCalls(rows.calls);
  const last = sorted.at(-1);
  if (last === undefined) return NOTHING;
  const start = last.timestamp - policy.window.days * SECONDS_PER_DAY;
  const calls = sorted.filter((call) => call.timestamp >= start);
  const { places, counterparties } = placeCalls(calls);

  const outside: WeighedCall[] = [];
  let totalWeight = 0;
  let evidence = 0;
  let creditedSum = 0;
  for (const [position, call] of calls.entries()) {
    const { counterparty, method, day } = placeAt(places, position);
    const weight = weigh(last.timestamp - call.timestamp, day.calls, policy);
    totalWeight += weight;
    const credit = creditMicros(call, rows.wallet);
    if (credit === 0) continue;
    const credited = divideRound(weight * credit, MICRO);
    creditedSum += credited;
    evidence += call.ok ? credited : weight;
    outside.push({ call, counterparty, method, weight, credit, credited });
  }
  return { calls, outside, counterparties, totalWeight, evidence, credited: creditedSum };
}

/** Calls by (block, index), as a copy where they are not sorted already. */
export function sortCalls(calls: readonly OwnCall[]): readonly OwnCall[] {
  let before: OwnCall | undefined;
  for (const call of calls) {
    if (before !== undefined && compareCalls(before, call) > 0) return calls.toSorted(compareCalls);
    before = call;
  }
  return calls;
}

function compareCalls(a: OwnCall, b: OwnCall): number {
  return a.blockNumber - b.blockNumber || a.transactionIndex - b.transactionIndex;
}

function weigh(age: number, sameDay: number, policy: Policy): number {
  const decay = decayNanos(age, policy.window.halfLifeDays * SECONDS_PER_DAY);
  if (sameDay <= policy.window.floodPerDay) return decay;
  return divideRound(decay * policy.window.floodPerDay, sameDay);
}

type Place = { readonly counterparty: number; readonly method: number; readonly day: { calls: number } };

type Account = { readonly number: number; readonly methods: Map<Hex | null, Method> };

type Method = { readonly number: number; readonly days: Map<number, { calls: number }> };

/** Numbers accounts and (contract, method) pairs, and counts the calls of each pair on each UTC day. */
function placeCalls(calls: readonly OwnCall[]): { places: readonly Place[]; counterparties: number } {
  const accounts = new Map<Address | null, Account>();
  let methods = 0;
  const places = calls.map((call) => {
    const account = entry(accounts, call.to, () => ({ number: accounts.size, methods: new Map() }));
    const method = entry(account.methods, call.selector, () => ({ number: methods++, days: new Map() }));
    const day = entry(method.days, dayOf(call.timestamp), () => ({ calls: 0 }));
    day.calls += 1;
    return { counterparty: account.number, method: method.number, day };
  });
  return { places, counterparties: accounts.size };
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = create();
  map.set(key, made);
  return made;
}

function placeAt(places: readonly Place[], position: number): Place {
  const place = places[position];
  if (place === undefined) throw new RangeError(`${places.length} calls, none at ${position}`);
  return place;
}
