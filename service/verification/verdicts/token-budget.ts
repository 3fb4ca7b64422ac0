import { unavailable } from "../../access/problems.ts";
import type { Database } from "../../db/database.ts";
import { ROLE_NAMES } from "../panel/types.ts";
import { readTokensSince } from "./role-calls.ts";

export type TokenBudget = {
  /** Tokens left until the end of the UTC day; below zero where runs that were under way took more. */
  readonly left: () => Promise<number>;
};

type BudgetDeps = {
  readonly db: Database;
  readonly now: () => Date;
  /** Tokens that all runs of all workers may use per UTC day. */
  readonly tokensPerDay: number;
};

/** What is left of the tokens of the day, as the calls that were begun and answered have used them. */
export function createTokenBudget({ db, now, tokensPerDay }: BudgetDeps): TokenBudget {
  return { left: async () => tokensPerDay - (await readTokensSince(db, startOfDay(now()))) };
}

/** Anybody can post outputs of no job; while they use up the rest, a job, whose money waits and whose time ends, is judged from this. */
const SHARE_FOR_JOBS = 0.25;

/** The last of a day's tokens, which only verdicts of jobs get. */
export function tokensForJobs(tokensPerDay: number): number {
  return tokensPerDay * SHARE_FOR_JOBS;
}

/** One run decides, and an outage costs parts of a few more; a case that takes more than that fails by itself. */
const RUNS_PER_DECISION = 6;
/** Ten such cases a day are the fewest that may use up its tokens. */
const SHARE_PER_DECISION = 0.1;

/**
 * The most that all tries of one decision may take together: six complete runs of the largest case, in which every role fills the
 * context, or a tenth of the day's tokens, whichever is smaller.
 */
export function tokensPerDecision(limits: {
  readonly contextTokens: number;
  readonly tokensPerDay: number;
}): number {
  const largestRun = ROLE_NAMES.length * limits.contextTokens;
  return Math.floor(Math.min(RUNS_PER_DECISION * largestRun, SHARE_PER_DECISION * limits.tokensPerDay));
}

const DAY_MS = 86_400_000;

/** The start of the UTC day after this moment, when there is a budget again. */
export function nextDay(moment: Date): Date {
  return new Date(startOfDay(moment).getTime() + DAY_MS);
}

/** The start of the UTC day of this moment. */
function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);
}

/** What the panel may use per UTC day. */
export type PanelBudget = {
  readonly tokensPerDay: number;
  readonly usedSince: (moment: Date) => Promise<number>;
};

const NOT_CONFIGURED_RETRY_SECONDS = 3_600;

/**
 * Throws the 503 of a server without a model, and of a day whose tokens are spent, of which the last are kept for verdicts of jobs.
 */
export async function requirePanel(
  budget: PanelBudget | null,
  { now, isOfJob }: { readonly now: Date; readonly isOfJob: boolean },
): Promise<void> {
  const { tokensPerDay, usedSince } = requireModel(budget);
  const mayUse = isOfJob ? tokensPerDay : tokensPerDay - tokensForJobs(tokensPerDay);
  if ((await usedSince(startOfDay(now))) < mayUse) return;
  const left = isOfJob ? "" : " The rest is kept for outputs of jobs.";
  throw unavailable("panel-budget-spent", `The panel has used up its tokens of this day (UTC).${left}`, {
    retryAfterSeconds: Math.ceil((nextDay(now).getTime() - now.getTime()) / 1000),
  });
}

function requireModel(budget: PanelBudget | null): PanelBudget {
  if (budget !== null) return budget;
  throw unavailable("panel-not-configured", "No model is configured here that could judge an output.", {
    retryAfterSeconds: NOT_CONFIGURED_RETRY_SECONDS,
  });
}
