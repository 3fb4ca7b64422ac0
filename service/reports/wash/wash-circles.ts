import type { Address } from "viem";
import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { WalletRows } from "../../model/features/types.ts";
import { compareTexts } from "../diagnosis/compare.ts";
import type { Exchanges, Movement } from "../profit-and-loss/wallet-transfers.ts";

/** Transfers to one peer that came back, of one token. */
export type Circle = {
  readonly peer: Address;
  /** The zero address for native coin. */
  readonly token: Address;
  /** Whether the peer has the same owner. Then any amount counts, otherwise only nearly equal ones. */
  readonly own: boolean;
  readonly times: number;
  /** Sum of the outgoing amounts, in the token's smallest unit. */
  readonly amount: bigint;
  readonly first: { readonly out: Movement; readonly back: Movement };
  readonly last: { readonly out: Movement; readonly back: Movement };
};

/** Longest time until a return from an own account. */
const OWN_RETURN_SECONDS = 7 * SECONDS_PER_DAY;
/** Longest time until a return from others, which must be nearly whole; the gas of a native transfer may be missing. */
const EQUAL_RETURN_SECONDS = SECONDS_PER_DAY;
const EQUAL_PERCENT = 1n;
/** Most returns of other amounts that are skipped per transfer. */
const MOST_LOOKS = 200;

/**
 * Finds transfers that came back from their recipients. Each movement is used once, the earliest return for the
 * earliest transfer, among the next 200 unused ones. Sorted by count, then by peer and token. Contracts outside of the
 * owner cluster are skipped: their returns are withdrawals.
 */
export function findCircles(
  { sent, returned }: Pick<Exchanges, "sent" | "returned">,
  { counterparties }: Pick<WalletRows, "counterparties">,
): readonly Circle[] {
  const facts = new Map(counterparties.map((fact) => [fact.address, fact]));
  const backs = Map.groupBy(returned.toSorted(byPlace), pairOf);
  const circles = [...Map.groupBy(sent.toSorted(byPlace), pairOf)].flatMap(([pair, outs]) => {
    const fact = facts.get(pairPeer(outs));
    const own = fact !== undefined && fact.ownerLink !== null;
    if (!own && fact?.hasCode === true) return [];
    return circleOf(match(outs, backs.get(pair) ?? [], own), own);
  });
  return circles.toSorted((a, b) => b.times - a.times || compareTexts(keyOf(a), keyOf(b)));
}

type Match = Circle["first"];

function match(outs: readonly Movement[], backs: readonly Movement[], own: boolean): readonly Match[] {
  // Unused returns.
  const open = [...backs];
  const within = own ? OWN_RETURN_SECONDS : EQUAL_RETURN_SECONDS;
  let start = 0;
  return outs.flatMap((out) => {
    // Both lists are sorted, so that skipped returns cannot match later transfers either.
    while (isBefore(open[start], out)) start += 1;
    const end = Math.min(open.length, start + MOST_LOOKS);
    for (let place = start; place < end; place++) {
      const back = open[place];
      if (back === undefined || back.timestamp - out.timestamp > within) break;
      if (!own && !isEqual(out, back)) continue;
      open.splice(place, 1);
      return [{ out, back }];
    }
    return [];
  });
}

function isBefore(back: Movement | undefined, out: Movement): boolean {
  return back !== undefined && byPlace(back, out) <= 0;
}

function isEqual(out: Movement, back: Movement): boolean {
  const difference = back.amount > out.amount ? back.amount - out.amount : out.amount - back.amount;
  return difference * 100n <= EQUAL_PERCENT * out.amount;
}

function circleOf(matches: readonly Match[], own: boolean): readonly Circle[] {
  const first = matches[0];
  const last = matches.at(-1);
  if (first === undefined || last === undefined) return [];
  const { peer, token } = first.out;
  const amount = matches.reduce((sum, { out }) => sum + out.amount, 0n);
  return [{ peer, token, own, times: matches.length, amount, first, last }];
}

function pairOf({ peer, token }: Movement): string {
  return `${peer} ${token}`;
}

function pairPeer(outs: readonly Movement[]): Address {
  const [first] = outs;
  if (first === undefined) throw new Error("a group holds one movement at least");
  return first.peer;
}

function keyOf({ peer, token }: Circle): string {
  return `${peer} ${token}`;
}

/** By block, then place in it: native coin by its transactions, of which −1 is the first, and behind it the logs. */
function byPlace(a: Movement, b: Movement): number {
  if (a.block !== b.block) return a.block - b.block;
  if (a.logIndex < 0 && b.logIndex < 0) return b.logIndex - a.logIndex;
  return a.logIndex - b.logIndex;
}
