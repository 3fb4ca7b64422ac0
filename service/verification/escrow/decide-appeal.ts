import type { appeal } from "../../db/tables/appeal.ts";
import type { RunCause } from "../../db/tables/verdict.ts";
import type { Decision } from "../panel/types.ts";

/** Until when a decision may be appealed, by when an appeal has its decision, and its price in thousandths of a US dollar. */
export type AppealTerms = { readonly appealBy: Date; readonly decideBy: Date; readonly units: number };

/** The time to appeal of a verdict, with its appeal. */
export type AppealTerm = Pick<typeof appeal.$inferSelect, "run" | "state" | "appealBy" | "decideBy">;

/** Everything that decides if a decision waits for an appeal. */
export type AppealSnapshot = {
  readonly decision: { readonly decision: Decision; readonly run: number; readonly cause: RunCause };
  /** Null for a verdict that no time to appeal was opened for. */
  readonly appeal: AppealTerm | null;
  /** Price of an appeal; null if the decision cannot be appealed. */
  readonly appealUnits: number | null;
  /** The operator's time to appeal; 0 if there are no appeals. */
  readonly windowSeconds: number;
  /** Seconds until the job expires. */
  readonly secondsLeft: number;
  readonly now: Date;
};

export type AppealStep =
  | { readonly kind: "sign" }
  | ({ readonly kind: "open" } & AppealTerms)
  | { readonly kind: "wait"; readonly status: "appealable" | "appealed"; readonly until: Date | null };

/**
 * Decides if a decision that could be signed now waits for an appeal. Only the panel's ALLOW and REJECT wait, each verdict once: HOLD ends
 * no job, a reviewer has the last word, and a decision after an appeal is final.
 */
export function decideAppeal(snapshot: AppealSnapshot): AppealStep {
  const { decision, appeal, appealUnits: units, now } = snapshot;
  if (decision.decision === "HOLD" || decision.cause === "review") return SIGN;
  if (appeal === null) {
    const times = appealTimes(snapshot);
    return times === null || units === null ? SIGN : { kind: "open", ...times, units };
  }
  if (appeal.run !== decision.run) return SIGN;
  switch (appeal.state) {
    case "window":
      return now < appeal.appealBy ? { kind: "wait", status: "appealable", until: appeal.appealBy } : SIGN;
    case "unsettled":
      return now < appeal.decideBy ? { kind: "wait", status: "appealable", until: null } : SIGN;
    case "open":
      return { kind: "wait", status: "appealed", until: null };
    case "upheld":
    case "overturned":
    case "held":
    case "failed":
      return SIGN;
  }
}

const SIGN = { kind: "sign" } as const;
/** The runs of a verdict are repeated for an hour. */
const PANEL_SECONDS = 3_600;
const LEAST_SECONDS = 1;

/**
 * Times of an appeal from now on: at most a quarter of the time to the job's expiry to appeal, and at most half of it until the second
 * decision, so that the other half is left to settle. Null if there are no appeals, or no time is left for one.
 */
export function appealTimes({
  windowSeconds,
  secondsLeft,
  now,
}: Pick<AppealSnapshot, "windowSeconds" | "secondsLeft" | "now">): Omit<AppealTerms, "units"> | null {
  const toAppeal = Math.floor(Math.min(windowSeconds, secondsLeft / 4));
  if (toAppeal < LEAST_SECONDS) return null;
  const toDecide = Math.floor(Math.min(toAppeal + PANEL_SECONDS, secondsLeft / 2));
  const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
  return { appealBy: after(toAppeal), decideBy: after(toDecide) };
}
