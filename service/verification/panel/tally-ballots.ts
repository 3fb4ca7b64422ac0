import { confidenceOf, voteOf } from "./lean.ts";
import { thresholdOf } from "./thresholds.ts";
import {
  type Ballot,
  type Critique,
  type Decision,
  GENERATOR_ROLES,
  type GeneratorRole,
  type TallyInput,
} from "./types.ts";

/** A ballot that counts, with its vote. */
export type CountedBallot = {
  readonly role: GeneratorRole;
  readonly ballot: Ballot;
  /** After the cap on claims that nobody can check. */
  readonly confidence: number;
  readonly vote: Decision;
};

/** The ballots that count, in the order of the roles; an answer with a score or a confidence off its scale is none. */
export function countBallots(
  input: Pick<TallyInput, "ballots" | "domain">,
  hasCriteria: boolean,
): readonly CountedBallot[] {
  const threshold = thresholdOf(input.domain).confidence;
  return GENERATOR_ROLES.flatMap((role) => {
    const answer = input.ballots[role];
    if (answer.kind === "abstained" || !isValidBallot(answer.answer)) return [];
    const ballot = answer.answer;
    const confidence = confidenceOf(ballot, hasCriteria);
    const vote = voteOf(ballot, { threshold, hasCriteria });
    return [{ role, ballot, confidence, vote }];
  });
}

/** Whether a critique's confidence is on its scale. */
export function isValidCritique(critique: Critique): boolean {
  return isShare(critique.confidence);
}

function isValidBallot(ballot: Ballot): boolean {
  return (
    Number.isInteger(ballot.score) && ballot.score >= 0 && ballot.score <= 100 && isShare(ballot.confidence)
  );
}

function isShare(value: number): boolean {
  return value >= 0 && value <= 1;
}
