import { unavailable } from "../../access/problems.ts";
import { nextDay, startOfDay, tokensForJobs } from "../../verification/verdicts/token-budget.ts";

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
