import { unavailable } from "../../access/problems.ts";
import { hasRoom, isOverShare, secondsLeftOfDay } from "../../db/day-budget.ts";
import type { RunCause } from "../../db/tables/verdict.ts";

/** Causes of unpaid runs. */
export const FREE_CAUSES: readonly RunCause[] = ["evidence", "near_expiry"];

/** Share of a day for unpaid runs. */
const FREE_SHARE = 1 / 4;
/** Share of the rest that only runs of jobs may use, whose money waits and which expire. */
const SHARE_FOR_JOBS = 2 / 3;

/** Tokens of a day for unpaid runs, for paid runs of jobs, and those of them that outputs without a job may take. */
export function tokenShares(tokensPerDay: number) {
  const free = Math.floor(tokensPerDay * FREE_SHARE);
  const jobs = tokensPerDay - free;
  return { free, jobs, withoutJob: Math.floor(jobs * (1 - SHARE_FOR_JOBS)) };
}

/** One run decides, and refusals or answers off the schema may cost another one. All unpaid runs of a verdict count as one decision. */
export const RUNS_PER_DECISION = 2;
/** Of a model server that takes questions and does not answer them. */
export const RUNS_IN_OUTAGE = 6;

/** Tokens of the UTC day: used by paid runs, granted to those that wait or are under way, and used by unpaid runs. */
export type DayTokens = {
  readonly used: number;
  readonly granted: number;
  readonly free: number;
  /** Of runs without a verdict, whose price goes back, and of those that wait for owners without a verdict and can go back at once. */
  readonly returned: number;
};

/** Tokens of one owner: today's, and over its newest verdicts those with a decision, and those that wait or were given back without one. */
export type OwnerTokens = { readonly today: number; readonly paid: number; readonly unpaid: number };

/** Token budget of the panel per UTC day. */
export type PanelBudget = {
  readonly tokensPerDay: number;
  /** Tokens of the largest run that is sold. */
  readonly largestRun: number;
  readonly readDay: (now: Date) => Promise<DayTokens>;
  /** `owner` is key:ID or wallet:ADDRESS. */
  readonly readOwner: (owner: string, now: Date) => Promise<OwnerTokens>;
};

/** A paid run that is about to be sold. */
export type AskedRun = {
  readonly owner: string;
  readonly isOfJob: boolean;
  /** Whether its price goes back without a verdict: credits of a key, and money in the payment escrow. */
  readonly isReturnable?: boolean;
  /** Tokens that it is expected to take; the largest run where its texts are not at hand. */
  readonly runTokens?: number | null;
};

const NOT_CONFIGURED_RETRY_SECONDS = 3_600;
/** Verdicts are decided within about a minute, in which clients try twice again. */
const WAITING_RETRY_SECONDS = 30;
/**
 * Runs whose price goes back take shares of a day: of their class's tokens where it goes back at once, of all tokens where it was settled and
 * goes back as credits. Beyond them each owner has a share of its paid runs' tokens.
 */
export const RETURNED_SHARE = { atOnce: 0.1, settled: 0.5, owner: 0.25 } as const;

/** Throws the 503 of a server without a model, of a day without tokens left for such a run, and of an owner that has its share. */
export async function requirePanel(
  budget: PanelBudget | null,
  now: Date,
  { owner, isOfJob, isReturnable = false, runTokens = null }: AskedRun,
): Promise<void> {
  if (budget === null)
    throw unavailable("panel-not-configured", "No model is configured here that could judge an output.", {
      retryAfterSeconds: NOT_CONFIGURED_RETRY_SECONDS,
    });
  const { tokensPerDay, largestRun } = budget;
  const day = await budget.readDay(now);
  const own = await budget.readOwner(owner, now);
  const refuse = (detail: string, retryAfterSeconds = secondsLeftOfDay(now)) =>
    unavailable("panel-budget-spent", detail, { retryAfterSeconds });
  const shares = tokenShares(tokensPerDay);
  const ceiling = isOfJob ? shares.jobs : shares.withoutJob;
  const needed = runTokens ?? largestRun;
  const use = { ceiling, used: day.used + day.granted, own: own.today };
  if (isOverShare(use) && use.used < ceiling)
    throw refuse("You have as many of the panel's tokens of this day (UTC) as are left for all others.");
  if (!hasRoom(use, needed)) {
    const left = isOfJob ? "" : " The rest is kept for outputs of jobs.";
    throw refuse(`The panel has used up its tokens of this day (UTC).${left}`);
  }
  if (own.unpaid > own.paid + RUNS_PER_DECISION * largestRun)
    throw refuse(
      "Outputs of yours that wait, or that came to no verdict by their texts, have taken more tokens than your verdicts.",
      WAITING_RETRY_SECONDS,
    );
  const most = isReturnable ? RETURNED_SHARE.atOnce * ceiling : RETURNED_SHARE.settled * tokensPerDay;
  if (
    day.returned + needed > most &&
    own.unpaid + RUNS_PER_DECISION * needed > RETURNED_SHARE.owner * own.paid
  ) {
    const otherwise = isReturnable ? " Pay by x402's scheme exact." : "";
    throw refuse(`Too many prices of today have gone back without a verdict.${otherwise}`);
  }
}
