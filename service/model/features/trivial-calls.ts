import type { Address, Hex } from "viem";
import type { Policy } from "../score/policy-shape.ts";
import type { Market } from "./market.ts";
import type { CallReceipt, OwnCall, TokenMove } from "./types.ts";

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
  const { receipt, selector, recipient } = call;
  if (receipt !== null) return hasTrivialEffect(call, receipt, { market, credit });
  if (selector !== null && APPROVALS.has(selector)) return true;
  // Without its logs a contract call is not shown to be without effect.
  if (selector !== null && recipient === null) return false;
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

/** A coin or token without a price is not shown to be worth anything. */
function valueWorth({ value, timestamp }: OwnCall, market: Market): number {
  if (value === 0n) return 0;
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
