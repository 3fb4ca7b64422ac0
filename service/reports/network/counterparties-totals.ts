import type { Counterparty, Volume } from "./counterparties.ts";

/** Direction of dealings: out by own calls, in by transfers from there. */
type Direction = "out" | "in" | "both";

/** Sums over all counterparties; worths in millionths of a US dollar, null where something moved and nothing of it has a price. */
export type DealingTotals = {
  readonly counterparties: number;
  readonly byDirection: Readonly<Record<Direction, number>>;
  readonly interactions: number;
  readonly calls: number;
  readonly failedCalls: number;
  readonly transfersIn: number;
  readonly outMicroUsd: number | null;
  readonly inMicroUsd: number | null;
  /** Counterparties with an unpriced exchange. */
  readonly unpriced: number;
  /** Herfindahl-Hirschman indices; null if there is nothing to share. Third parties cannot change `callsHhi`. */
  readonly callsHhi: number | null;
  readonly outHhi: number | null;
  readonly inHhi: number | null;
};

/** Both where it was called and something came from it, in an own call or in another's transaction. */
export function directionOf({ calls, transfersIn, volumeIn }: Counterparty): Direction {
  if (calls === 0) return "in";
  return transfersIn > 0 || hasMoved(volumeIn) ? "both" : "out";
}

/** The totals and the concentration of a whole list. */
export function totalsOf(list: readonly Counterparty[]): DealingTotals {
  const byDirection = { out: 0, in: 0, both: 0 };
  for (const counterparty of list) byDirection[directionOf(counterparty)] += 1;
  const sum = (of: (counterparty: Counterparty) => number) =>
    list.reduce((total, counterparty) => total + of(counterparty), 0);
  return {
    counterparties: list.length,
    byDirection,
    interactions: sum(({ interactions }) => interactions),
    calls: sum(({ calls }) => calls),
    failedCalls: sum(({ failedCalls }) => failedCalls),
    transfersIn: sum(({ transfersIn }) => transfersIn),
    outMicroUsd: worthOf(list.map(({ volumeOut }) => volumeOut)),
    inMicroUsd: worthOf(list.map(({ volumeIn }) => volumeIn)),
    unpriced: list.filter(({ volumeOut, volumeIn }) => !volumeOut.isPriced || !volumeIn.isPriced).length,
    callsHhi: herfindahl(list.map(({ calls }) => calls)),
    outHhi: herfindahl(list.map(({ volumeOut }) => pricedWorth(volumeOut))),
    inHhi: herfindahl(list.map(({ volumeIn }) => pricedWorth(volumeIn))),
  };
}

function worthOf(volumes: readonly Volume[]): number | null {
  const moved = volumes.filter(hasMoved);
  const priced = moved.flatMap(({ microUsd }) => microUsd ?? []);
  if (moved.length > 0 && priced.length === 0) return null;
  return priced.reduce((sum, microUsd) => sum + microUsd, 0);
}

/** For shares of the priced volume; unpriced parts count as 0. */
function pricedWorth({ microUsd }: Volume): number {
  return microUsd === null ? 0 : microUsd;
}

function hasMoved({ nativeWei, tokens }: Volume): boolean {
  return nativeWei > 0n || tokens.length > 0;
}

const WHOLE = 10_000;

/**
 * Herfindahl-Hirschman index of amounts: the sum of squared shares in percent, 0 to 10,000, rounded. 10,000 is a single
 * counterparty, 10,000 / n are n equal ones. Null if no amount is above zero.
 */
export function herfindahl(amounts: readonly number[]): number | null {
  // Relative to the largest, so that small amounts are not lost in huge sums.
  const largest = amounts.reduce((most, amount) => Math.max(most, amount), 0);
  if (largest <= 0) return null;
  let sum = 0;
  let squares = 0;
  for (const amount of amounts) {
    if (amount <= 0) continue;
    const part = amount / largest;
    sum += part;
    squares += part * part;
  }
  return Math.round((WHOLE * squares) / (sum * sum));
}
