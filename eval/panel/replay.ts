import type { Random } from "../../devnet/population/random.ts";
import { effectiveVotes } from "../../service/verification/panel/effective-votes.ts";
import {
  MONEY_LIMITS,
  SECOND_MODEL_ROLE,
  THRESHOLDS,
  type Thresholds,
} from "../../service/verification/panel/policy.ts";
import { nextRole, type TallyInput, tally } from "../../service/verification/panel/tally.ts";
import { GENERATOR_ROLES } from "../../service/verification/panel/types.ts";
import { type VerdictRow, verdictRowOf } from "./case-row.ts";
import { acrossModels, type Voted, withinModel } from "./error-correlation.ts";
import { bootstrap, type Estimate } from "./interval.ts";
import { calibrationOf, measureVerdicts, type VerdictMeasures } from "./panel-measures.ts";
import { type RecordedCase, tallyInputOf } from "./recorded-case.ts";

/** The tally's decision on a recorded case. */
export type ReplayedCase = VerdictRow & {
  /** The verdict when it was recorded; null without one. */
  readonly recorded_verdict: VerdictRow["verdict"];
  /** Scores of the ballots in the order of the roles. */
  readonly scores: Voted["scores"];
  readonly second_model: boolean;
  /** Model calls with an early stop, and the verdict then; it is to be the same. */
  readonly calls: number;
  readonly early_verdict: VerdictRow["verdict"];
};

/** Measures of a replay. Shares have Wilson intervals; the others have bootstrap intervals. */
export type ReplayMeasures = VerdictMeasures & {
  /** Cases with another verdict than when they were recorded. */
  readonly changed: number;
  /** Cases with another verdict by an early stop: none, or the rule that stops is wrong. */
  readonly otherwise: number;
  /** Mean number of model calls with an early stop; without one it is six. */
  readonly calls: number;
  readonly brier: Estimate;
  readonly ece: Estimate;
  /** Mean correlation of two roles' errors, those of a second model left out, and the number of independent votes that as many are worth. */
  readonly correlation: Estimate;
  readonly effectiveVotes: Estimate;
  /** Mean correlation of the errors of a second model with those of the others; null without one. */
  readonly acrossModels: Estimate;
};

/** Runs the tally over recorded judgments. */
export function replay(
  recorded: readonly RecordedCase[],
  thresholds: Thresholds = THRESHOLDS,
): readonly ReplayedCase[] {
  return recorded.map((one) => {
    const input = tallyInputOf(one, MONEY_LIMITS);
    const outcome = tally(input, thresholds);
    const { calls, early } = stopEarly(input, thresholds);
    const missing =
      outcome.kind === "failed" ? `no answer that counts from ${outcome.missing.join(", ")}` : "";
    return {
      ...verdictRowOf(one, outcome.kind === "failed" ? { error: missing } : outcome),
      recorded_verdict: one.verdict,
      second_model: one.second_model,
      calls,
      early_verdict: early.kind === "failed" ? null : early.verdict,
      scores: GENERATOR_ROLES.map((role) => one.ballots[role]?.score ?? null),
    };
  });
}

/** The same panel, whose critic and synthesiser are asked only as long as their answers can change the verdict. */
function stopEarly(input: TallyInput, thresholds: Thresholds) {
  const notAsked = { kind: "not_asked", reason: "" } as const;
  let known: TallyInput = { ...input, critique: notAsked, synthesis: notAsked };
  let calls = GENERATOR_ROLES.length;
  for (let role = nextRole(known, thresholds); role !== null; role = nextRole(known, thresholds)) {
    const { critique, synthesis } = input;
    known = { ...known, ...(role === "critic" ? { critique } : { synthesis }) };
    calls += 1;
  }
  return { calls, early: tally(known, thresholds) };
}

/** Measures replayed cases; the random numbers draw the bootstrap. */
export function measureReplay(cases: readonly ReplayedCase[], random: Random): ReplayMeasures {
  const voted = cases.map(({ expected: [best], scores, second_model }) => ({
    truth: best ?? "",
    scores,
    ...(second_model ? { second: GENERATOR_ROLES.indexOf(SECOND_MODEL_ROLE) } : {}),
  }));
  const roles = GENERATOR_ROLES.filter((_, role) =>
    voted.some(({ scores, second }) => role !== second && typeof scores[role] === "number"),
  );
  const votesAt = (sameModel: number) => effectiveVotes([roles.length], { sameModel, otherModel: 0 });
  const correlation = bootstrap(voted, withinModel, random.fork("correlation"));
  return {
    ...measureVerdicts(cases),
    otherwise: cases.filter((one) => one.early_verdict !== one.verdict).length,
    calls: cases.reduce((sum, one) => sum + one.calls, 0) / Math.max(1, cases.length),
    changed: cases.filter((one) => one.recorded_verdict !== null && one.verdict !== one.recorded_verdict)
      .length,
    brier: bootstrap(cases, (drawn) => calibrationOf(drawn).brier, random.fork("brier")),
    ece: bootstrap(cases, (drawn) => calibrationOf(drawn).ece, random.fork("ece")),
    correlation,
    acrossModels: bootstrap(voted, acrossModels, random.fork("across")),
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
