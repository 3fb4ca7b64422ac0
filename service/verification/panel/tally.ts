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
  const rulesFired: readonly RuleName[] = [
    ...(isChangedByCap(input, { ballots, critique, decided })
      ? (["uncheckable_without_criteria"] as const)
      : []),
    ...decided.rulesFired,
    ...(input.synthesis.kind === "abstained" ? (["synthesis_missing"] as const) : []),
  ];
  return { ...decided, rulesFired };
}

type Counted = {
  readonly ballots: readonly CountedBallot[];
  readonly critique: Critique;
  readonly decided: Decided;
};

/** Whether the outcome would be another without the cap on claims that nobody can check. */
function isChangedByCap(input: TallyInput, { ballots, critique, decided }: Counted): boolean {
  if (ballots.every(({ ballot, confidence }) => confidence === ballot.confidence)) return false;
  const uncapped = decide(input, countBallots(input, true), critique);
  return uncapped.verdict !== decided.verdict || uncapped.generatorMajority !== decided.generatorMajority;
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
  const isShortOf = (margin: number) => confidence < threshold + margin;
  const steps: readonly ((outcome: Decision) => readonly RuleName[])[] = [
    (outcome) => (disagrees(outcome, scores) ? ["disagreement"] : []),
    (outcome) => criticRules(outcome, { critique, ballots, threshold: threshold / 100, texts: input }),
    (outcome) => outputRules(outcome, { ballots, synthesis: input.synthesis, checks: input.checks }),
    (outcome) => (outcome === "REJECT" && isShortOf(REJECTION.margin) ? ["rejection_asymmetry"] : []),
    (outcome) =>
      outcome === "REJECT" && !input.providerHasScore && isShortOf(REJECTION.marginWithoutScore)
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

/** Far less than anybody tells of a confidence, and more than the errors of binary fractions. */
const SLACK = 1e-9;

/** Mean confidence in hundredths, rounded once, half up; summed in order of size, so that no other order gives another sum. */
function meanHundredths(ballots: readonly CountedBallot[]): number {
  const confidences = ballots.map(({ confidence }) => confidence).sort((one, other) => one - other);
  return Math.floor((total(confidences) * 100) / ballots.length + 0.5 + SLACK);
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
