import type { Random } from "../../devnet/population/random.ts";
import { THRESHOLDS, type Thresholds } from "../../service/verification/panel/policy.ts";
import { tally } from "../../service/verification/panel/tally.ts";
import { GENERATOR_ROLES } from "../../service/verification/panel/types.ts";
import { type VerdictRow, verdictRowOf } from "./case-row.ts";
import { effectiveVotes, errorCorrelation, type Voted } from "./effective-votes.ts";
import { bootstrap, type Estimate } from "./interval.ts";
import { calibrationOf, measureVerdicts, type VerdictMeasures } from "./panel-measures.ts";
import { type RecordedCase, tallyInputOf } from "./recorded-case.ts";

/** The tally's decision on a recorded case. */
export type ReplayedCase = VerdictRow & {
  /** The verdict when it was recorded; null without one. */
  readonly recorded_verdict: VerdictRow["verdict"];
  /** Scores of the ballots in the order of the roles. */
  readonly scores: Voted["scores"];
};

/** Measures of a replay. Shares have Wilson intervals; the others have bootstrap intervals. */
export type ReplayMeasures = VerdictMeasures & {
  /** Cases with another verdict than when they were recorded. */
  readonly changed: number;
  readonly brier: Estimate;
  readonly ece: Estimate;
  /** Mean correlation of two roles' errors, and the number of independent votes that the ballots are worth. */
  readonly correlation: Estimate;
  readonly effectiveVotes: Estimate;
};

/** Runs the tally over recorded judgments. */
export function replay(
  recorded: readonly RecordedCase[],
  thresholds: Thresholds = THRESHOLDS,
): readonly ReplayedCase[] {
  return recorded.map((one) => {
    const outcome = tally(tallyInputOf(one), thresholds);
    const missing =
      outcome.kind === "failed" ? `no answer that counts from ${outcome.missing.join(", ")}` : "";
    return {
      ...verdictRowOf(one, outcome.kind === "failed" ? { error: missing } : outcome),
      recorded_verdict: one.verdict,
      scores: GENERATOR_ROLES.map((role) => one.ballots[role]?.score ?? null),
    };
  });
}

/** Measures replayed cases; the random numbers draw the bootstrap. */
export function measureReplay(cases: readonly ReplayedCase[], random: Random): ReplayMeasures {
  const voted = cases.map(({ expected: [best], scores }) => ({ truth: best ?? "", scores }));
  const roles = GENERATOR_ROLES.filter((_, role) =>
    voted.some(({ scores }) => typeof scores[role] === "number"),
  );
  const votesAt = (correlation: number) => effectiveVotes(roles.length, correlation);
  const correlation = bootstrap(voted, errorCorrelation, random.fork("correlation"));
  return {
    ...measureVerdicts(cases),
    changed: cases.filter((one) => one.recorded_verdict !== null && one.verdict !== one.recorded_verdict)
      .length,
    brier: bootstrap(cases, (drawn) => calibrationOf(drawn).brier, random.fork("brier")),
    ece: bootstrap(cases, (drawn) => calibrationOf(drawn).ece, random.fork("ece")),
    correlation,
    effectiveVotes: {
      value: correlation.value === null ? null : votesAt(correlation.value),
      // More correlation makes fewer votes.
      interval: correlation.interval && {
        low: votesAt(correlation.interval.high),
        high: votesAt(correlation.interval.low),
      },
    },
  };
}
