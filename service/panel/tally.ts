import { divideRound } from "./divide-round.ts";
import { leanOf } from "./lean.ts";
import { REJECTION, VOTING } from "./policy.ts";
import { type CountedBallot, countBallots, isValidCritique } from "./tally-ballots.ts";
import { criticRules } from "./tally-critic.ts";
import { outputRules } from "./tally-unmet.ts";
import { thresholdOf } from "./thresholds.ts";
import {
  type Critique,
  type Decision,
  GENERATOR_ROLES,
  type RoleName,
  type RuleName,
  type TallyInput,
  type TallyOutcome,
} from "./types.ts";

type Decided = Extract<TallyOutcome, { kind: "decided" }>;

const CRITIC_RULES: readonly RuleName[] = ["fabrication_risk", "spec_gaming", "challenged"];

/**
 * The verdict of a panel, by the rules of verification.md section 2 in their order, each of which can only turn an outcome into HOLD.
 * `rulesFired` names those that did; of several that would in one step, all. failed where fewer than three ballots or no critique
 * count, with the roles that are missing for it.
 */
export function tally(input: TallyInput): TallyOutcome {
  const ballots = countBallots(input, input.hasCriteria);
  const critique = input.critique.kind === "answer" ? input.critique.answer : null;
  if (ballots.length < VOTING.majority || critique === null || !isValidCritique(critique)) {
    return { kind: "failed", missing: missingRoles(ballots, critique) };
  }
  const decided = decide(input, ballots, critique);
  const uncapped = decide(input, countBallots(input, true), critique);
  const changedByCap =
    uncapped.verdict !== decided.verdict || uncapped.generatorMajority !== decided.generatorMajority;
  const rulesFired: readonly RuleName[] = [
    ...(changedByCap ? (["uncheckable_without_criteria"] as const) : []),
    ...decided.rulesFired,
    ...(input.synthesis.kind === "abstained" ? (["synthesis_missing"] as const) : []),
  ];
  return { ...decided, rulesFired };
}

function missingRoles(ballots: readonly CountedBallot[], critique: Critique | null): readonly RoleName[] {
  const counted = new Set(ballots.map(({ role }) => role));
  const generators =
    ballots.length < VOTING.majority ? GENERATOR_ROLES.filter((role) => !counted.has(role)) : [];
  return critique !== null && isValidCritique(critique) ? generators : [...generators, "critic"];
}

function decide(input: TallyInput, ballots: readonly CountedBallot[], critique: Critique): Decided {
  const threshold = Math.round(thresholdOf(input.domain).confidence * 100);
  const scores = ballots.map(({ ballot }) => ballot.score);
  const agreed = majorityOf(ballots);
  const majority = agreed ?? "HOLD";
  const confidence = meanHundredths(
    majority === "HOLD" ? ballots : ballots.filter(({ vote }) => vote === majority),
  );
  const sureness = Math.min(confidence, meanHundredths(ballots.filter(({ isSure }) => isSure)));
  const margin = (needed: number) => sureness < threshold + needed;
  const steps: readonly ((outcome: Decision) => readonly RuleName[])[] = [
    (outcome) => (disagrees(outcome, scores) ? ["disagreement"] : []),
    (outcome) =>
      criticRules(outcome, { critique, ballots, threshold: threshold / 100, outputText: input.outputText }),
    (outcome) => outputRules(outcome, { ballots, synthesis: input.synthesis, checks: input.checks }),
    (outcome) => (outcome === "REJECT" && margin(REJECTION.margin) ? ["rejection_asymmetry"] : []),
    (outcome) =>
      outcome === "REJECT" && !input.providerHasScore && margin(REJECTION.marginWithoutScore)
        ? ["zero_history"]
        : [],
  ];
  const rulesFired: RuleName[] = agreed === null ? ["no_majority"] : [];
  let verdict: Decision = majority;
  for (const step of steps) {
    const rules = step(verdict);
    if (rules.length > 0) verdict = "HOLD";
    rulesFired.push(...rules);
  }
  return {
    kind: "decided",
    verdict,
    finalScore: divideRound(total(scores), scores.length),
    confidence: confidence / 100,
    mdi: disagreementIndex(scores),
    generatorMajority: majority,
    votes: Object.fromEntries(ballots.map(({ role, vote }) => [role, vote])),
    criticOverrideApplied: rulesFired.some((rule) => CRITIC_RULES.includes(rule)),
    rejectionAsymmetryApplied: rulesFired.includes("rejection_asymmetry"),
    zeroHistoryAdjustmentApplied: rulesFired.includes("zero_history"),
    rulesFired,
  };
}

/** What at least three ballots voted for; null where no three agree. */
function majorityOf(ballots: readonly CountedBallot[]): Decision | null {
  const decisions = ["ALLOW", "HOLD", "REJECT"] as const;
  const votes = (decision: Decision) => ballots.filter(({ vote }) => vote === decision).length;
  return decisions.find((decision) => votes(decision) >= VOTING.majority) ?? null;
}

/** One-sided, so that a worse ballot never helps: one leaning to REJECT bars ALLOW, and one leaning to ALLOW bars REJECT. */
function disagrees(outcome: Decision, scores: readonly number[]): boolean {
  if (outcome === "HOLD") return false;
  const opposite = outcome === "ALLOW" ? "REJECT" : "ALLOW";
  return scores.some((score) => leanOf(score) === opposite);
}

/** Mean confidence in hundredths, half up; in whole ten-thousandths, so that equal ballots give their own confidence. */
function meanHundredths(ballots: readonly CountedBallot[]): number {
  return divideRound(
    total(ballots.map(({ confidence }) => Math.round(confidence * 10_000))),
    ballots.length * 100,
  );
}

/** Population standard deviation over the greatest that is possible, to 0.0001. */
function disagreementIndex(scores: readonly number[]): number {
  const squares = total(scores.map((score) => score * score));
  const spread = Math.sqrt(scores.length * squares - total(scores) ** 2) / scores.length;
  return Math.round((spread / VOTING.greatestDeviation) * 10_000) / 10_000;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
