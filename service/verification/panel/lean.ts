import { VOTING } from "./policy.ts";
import type { Ballot, Decision } from "./types.ts";

/** What a ballot is weighed by: its domain's threshold, from 0 to 1, and whether the client registered criteria. */
export type VoteTerms = { readonly threshold: number; readonly hasCriteria: boolean };

/** The decision that a score from 0 to 100 speaks for. */
export function leanOf(score: number): Decision {
  if (score >= VOTING.allowFrom) return "ALLOW";
  return score < VOTING.rejectBelow ? "REJECT" : "HOLD";
}

/** A ballot's confidence from 0 to 1, at most 0.60 where it names claims that nobody can check and there are no criteria. */
export function confidenceOf(ballot: Ballot, hasCriteria: boolean): number {
  if (hasCriteria || ballot.uncheckableClaims.length === 0) return ballot.confidence;
  return Math.min(ballot.confidence, VOTING.uncheckableCapHundredths / 100);
}

/** A ballot's vote: its lean where its confidence reaches the threshold, else HOLD. */
export function voteOf(ballot: Ballot, terms: VoteTerms): Decision {
  return confidenceOf(ballot, terms.hasCriteria) >= terms.threshold ? leanOf(ballot.score) : "HOLD";
}
