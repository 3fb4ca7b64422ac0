import { SECONDS_PER_DAY } from "../../model/features/time.ts";
import type { WalletRows } from "../../model/features/types.ts";
import { compare } from "../diagnosis/report-facts.ts";
import type { Exchanges, Movement } from "../profit-and-loss/wallet-transfers.ts";

/**
 * Transfers of one token (the zero address for native coin) to one peer that came back. `own`: the peer has the same owner,
 * so that any amount counts, otherwise only nearly equal ones.
 */
export type Circle = ReturnType<typeof circleOf>[number];

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
    const [first] = outs;
    const fact = first === undefined ? undefined : facts.get(first.peer);
    const own = fact !== undefined && fact.ownerLink !== null;
    if (!own && fact?.hasCode === true) return [];
    return circleOf(match(outs, backs.get(pair) ?? [], own), own);
  });
  return circles.toSorted((a, b) => b.times - a.times || compare(pairOf(a), pairOf(b)));
}

function match(outs: readonly Movement[], backs: readonly Movement[], own: boolean) {
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

function circleOf(matches: ReturnType<typeof match>, own: boolean) {
  const first = matches[0];
  const last = matches.at(-1);
  if (first === undefined || last === undefined) return [];
  const { peer, token } = first.out;
  // In the token's smallest unit.
  const amount = matches.reduce((sum, { out }) => sum + out.amount, 0n);
  return [{ peer, token, own, times: matches.length, amount, first, last }];
}

function pairOf({ peer, token }: Pick<Movement, "peer" | "token">): string {
  return `${peer} ${token}`;
}

/** By block, then place in it: native coin by its transactions, of which −1 is the first, and behind it the logs. */
function byPlace(a: Movement, b: Movement): number {
  if (a.block !== b.block) return a.block - b.block;
  if (a.logIndex < 0 && b.logIndex < 0) return b.logIndex - a.logIndex;
  return a.logIndex - b.logIndex;
}
