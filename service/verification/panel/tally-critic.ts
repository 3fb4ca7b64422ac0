import { createQuoteSearch } from "./find-quote.ts";
import { CRITIC } from "./policy.ts";
import type { CountedBallot } from "./tally-ballots.ts";
import type { Critique, Decision, GeneratorRole, RuleName, TallyInput } from "./types.ts";

/** What a critique is heard with; the threshold from 0 to 1. */
export type CriticInput = {
  readonly critique: Critique;
  readonly ballots: readonly CountedBallot[];
  readonly threshold: number;
  readonly texts: Pick<TallyInput, "outputText" | "shown">;
};

/** The rules of the critic that turn an outcome into HOLD. */
export function criticRules(outcome: Decision, input: CriticInput): readonly RuleName[] {
  if (outcome === "HOLD") return [];
  const { critique } = input;
  const rules: RuleName[] = [];
  if (outcome === "ALLOW" && critique.fabricationRisk === "high") rules.push("fabrication_risk");
  if (outcome === "ALLOW" && critique.specGaming) rules.push("spec_gaming");
  const isSure = critique.confidence >= input.threshold;
  if (isSure && challengesEnough(input)) rules.push("challenged");
  return rules;
}

/** Whether enough generators whose ballot counts are challenged with a reason and a quotation, in words of that ballot or of the output. */
function challengesEnough({ critique, ballots, texts }: CriticInput): boolean {
  const reasoned = critique.challenges.filter(
    ({ role, reason }) => reason.trim() !== "" && ballots.some((ballot) => ballot.role === role),
  );
  // Most often, and the output need not be searched.
  if (new Set(reasoned.map(({ role }) => role)).size < CRITIC.challengedGenerators) return false;
  const isOfOutput = createQuoteSearch([texts.outputText, texts.shown.output], CRITIC.minQuoteCharacters);
  const challenged = ballots.filter(({ role, ballot }) => {
    const isOfBallot = createQuoteSearch(wordsOf(role, ballot, texts), CRITIC.minQuoteCharacters);
    return reasoned.some(
      (challenge) => challenge.role === role && (isOfBallot(challenge.quote) || isOfOutput(challenge.quote)),
    );
  });
  return challenged.length >= CRITIC.challengedGenerators;
}

function wordsOf(
  role: GeneratorRole,
  ballot: CountedBallot["ballot"],
  { shown }: CriticInput["texts"],
): readonly string[] {
  const lists = [ballot.objections, ballot.uncheckableClaims, ballot.instructionsFound];
  const own = [ballot.reasoning, ...lists.flat(), ...ballot.criteria.map(({ evidence }) => evidence)];
  return [...own, shown.ballots[role] ?? ""];
}
