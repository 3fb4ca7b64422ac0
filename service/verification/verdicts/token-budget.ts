import { unavailable } from "../../access/problems.ts";
import type { Database } from "../../db/database.ts";
import { ROLE_NAMES } from "../panel/types.ts";
import { readTokensSince } from "./role-calls.ts";

/** Reads the tokens left until the end of the UTC day from the stored calls; negative if running calls took more. */
export async function tokensLeft({
  db,
  now,
  tokensPerDay,
}: {
  db: Database;
  now: () => Date;
  tokensPerDay: number;
}): Promise<number> {
  return tokensPerDay - (await readTokensSince(db, startOfDay(now())));
}

/** Anyone can post outputs without a job. This share is reserved for jobs, whose money waits and which expire. */
const SHARE_FOR_JOBS = 0.25;

export function tokensForJobs(tokensPerDay: number): number {
  return tokensPerDay * SHARE_FOR_JOBS;
}

/** One run decides, and an outage costs parts of a few more. A case that needs more fails by itself. */
const RUNS_PER_DECISION = 6;
/** At least ten such cases are needed to use up a day's tokens. */
const SHARE_PER_DECISION = 0.1;

/**
 * Token limit of all attempts for one decision: six complete runs of the largest case, or a tenth of the day's tokens, whichever is
 * smaller.
 */
export function tokensPerDecision(limits: { contextTokens: number; tokensPerDay: number }): number {
  const largestRun = ROLE_NAMES.length * limits.contextTokens;
  return Math.floor(Math.min(RUNS_PER_DECISION * largestRun, SHARE_PER_DECISION * limits.tokensPerDay));
}

const DAY_MS = 86_400_000;

/** Start of the next UTC day, when there is a new budget. */
export function nextDay(moment: Date): Date {
  return new Date(startOfDay(moment).getTime() + DAY_MS);
}

function startOfDay(moment: Date): Date {
  return new Date(Math.floor(moment.getTime() / DAY_MS) * DAY_MS);
}

/** Token budget of the panel per UTC day. */
export type PanelBudget = {
  readonly tokensPerDay: number;
  readonly usedSince: (moment: Date) => Promise<number>;
};

const NOT_CONFIGURED_RETRY_SECONDS = 3_600;

/** Throws the 503 of a server without a model, and of a day without tokens left. The last tokens are reserved for verdicts of jobs. */
export async function requirePanel(
  budget: PanelBudget | null,
  { now, isOfJob }: { now: Date; isOfJob: boolean },
): Promise<void> {
  if (budget === null)
    throw unavailable("panel-not-configured", "No model is configured here that could judge an output.", {
      retryAfterSeconds: NOT_CONFIGURED_RETRY_SECONDS,
    });
  const { tokensPerDay, usedSince } = budget;
  const mayUse = isOfJob ? tokensPerDay : tokensPerDay - tokensForJobs(tokensPerDay);
  if ((await usedSince(startOfDay(now))) < mayUse) return;
  const left = isOfJob ? "" : " The rest is kept for outputs of jobs.";
  throw unavailable("panel-budget-spent", `The panel has used up its tokens of this day (UTC).${left}`, {
    retryAfterSeconds: Math.ceil((nextDay(now).getTime() - now.getTime()) / 1000),
  });
}
