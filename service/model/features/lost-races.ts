import { MICRO } from "../score/fixed-point.ts";
import type { Policy } from "../score/policy-shape.ts";
import type { Market } from "./market.ts";
import type { OwnCall } from "./types.ts";

/** A call to others: its number of (contract, method), what it counts, and whether it was won or lost. */
type Attempt = { readonly call: OwnCall; readonly method: number; readonly counted: number };

/** Calls of one (contract, method): its successes, the failures that may be lost races, and what all failures count. */
type Kind = {
  readonly won: Attempt[];
  readonly early: { readonly position: number; readonly gas: number }[];
  lost: number;
  /** Failures since the last success. */
  run: number;
};

/**
 * Returns for each call how far it is a lost race, in millionths; the calls are sorted.
 *
 * A race is for a gain: successes of the same (contract, method) left the wallet with tokens worth clearly more than it gave. A
 * failure is lost early if it sent no coin, followed on few others in a row, and used a small part of the gas of such gains.
 * Gains of enough gas allow some losses each. If all failures of the kind count more than that, each is a race in part.
 *
 * No outcome that turns into a failure makes any other failure more of a race: gains only decrease, and failures only increase.
 */
export function lostRaceMicros(
  attempts: readonly Attempt[],
  market: Market,
  { credit, adaptation }: Policy,
): readonly number[] {
  const kinds = new Map<number, Kind>();
  for (const [position, attempt] of attempts.entries()) {
    const { call, method, counted } = attempt;
    const kind = kinds.get(method) ?? { won: [], early: [], lost: 0, run: 0 };
    kinds.set(method, kind);
    if (call.ok) {
      kind.run = 0;
      kind.won.push(attempt);
      continue;
    }
    kind.lost += counted;
    if (kind.run < adaptation.afterFailures && mayRace(call))
      kind.early.push({ position, gas: Number(call.gasUsed) });
    kind.run += 1;
  }
  const { perGain, gasRatio } = credit.lostRaces;
  const shares = new Array<number>(attempts.length).fill(0);
  for (const { won, early, lost } of kinds.values()) {
    if (early.length === 0 || lost === 0) continue;
    const dearest = won
      .map(({ call, counted }) => ({ call, counted, gas: Number(call.gasUsed) }))
      .sort((a, b) => b.gas - a.gas);
    let allowed = 0;
    let seen = 0;
    for (const { position, gas } of early.toSorted((a, b) => b.gas - a.gas)) {
      let success = dearest[seen];
      while (allowed < lost && success !== undefined && success.gas >= gas * gasRatio) {
        if (hasGained(success.call, market, credit)) allowed += perGain * success.counted;
        seen += 1;
        success = dearest[seen];
      }
      shares[position] = Math.round(MICRO * Math.min(1, allowed / lost));
    }
  }
  return shares;
}

/** True if a failed call only tried to take something: it sent no coin and made no payment. */
function mayRace({ selector, recipient, value }: OwnCall): boolean {
  return selector !== null && recipient === null && value === 0n;
}

/** True if the tokens that a call brought are worth clearly more than what it took, all of known price. */
function hasGained(
  { value, timestamp, receipt }: OwnCall,
  market: Market,
  { lostRaces, trivialBelowMicroUsd }: Policy["credit"],
): boolean {
  if (receipt === null || value !== 0n) return false;
  let gained = 0;
  let given = 0;
  for (const { token, amount } of receipt.moves) {
    const worth = market.tokenWorth(token, amount, timestamp);
    if (worth === null) return false;
    if (worth > 0) gained += worth;
    else given -= worth;
  }
  return gained - given >= Math.max(trivialBelowMicroUsd, lostRaces.leastGain * given);
}
