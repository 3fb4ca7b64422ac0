import { CRITIC } from "./policy.ts";
import type { CountedBallot } from "./tally-ballots.ts";
import type { Critique, Decision, GeneratorRole, RuleName } from "./types.ts";

/** What a critique is heard with; the threshold from 0 to 1. */
export type CriticInput = {
  readonly critique: Critique;
  readonly ballots: readonly CountedBallot[];
  readonly threshold: number;
  readonly outputText: string;
};

/** The rules of the critic that turn an outcome into HOLD. */
export function criticRules(outcome: Decision, input: CriticInput): readonly RuleName[] {
  if (outcome === "HOLD") return [];
  const { critique } = input;
  const rules: RuleName[] = [];
  if (outcome === "ALLOW" && critique.fabricationRisk === "high") rules.push("fabrication_risk");
  if (outcome === "ALLOW" && critique.specGaming) rules.push("spec_gaming");
  const isSure = critique.confidence >= input.threshold;
  if (isSure && challengedRoles(input).size >= CRITIC.challengedGenerators) rules.push("challenged");
  return rules;
}

/** Generators whose ballot counts and that a challenge with a reason quotes, in words of that ballot or of the output. */
function challengedRoles({ critique, ballots, outputText }: CriticInput): ReadonlySet<GeneratorRole> {
  const challenged = new Set<GeneratorRole>();
  const output = normalise(outputText);
  const words = new Map(ballots.map(({ role, ballot }) => [role, wordsOf(ballot).map(normalise)]));
  for (const { role, quote, reason } of critique.challenges) {
    const own = words.get(role);
    if (own === undefined || challenged.has(role) || reason.trim() === "") continue;
    const sought = normalise(quote).slice(0, CRITIC.maxQuoteCharacters).trim();
    if (sought.length < CRITIC.minQuoteCharacters) continue;
    if ([...own, output].some((text) => text.includes(sought))) challenged.add(role);
  }
  return challenged;
}

function wordsOf(ballot: CountedBallot["ballot"]): readonly string[] {
  const lists = [ballot.objections, ballot.uncheckableClaims, ballot.instructionsFound];
  return [ballot.reasoning, ...lists.flat(), ...ballot.criteria.map(({ evidence }) => evidence)];
}

/** Letters of any width and case alike, one blank for any white space, and no quotation marks at either end. */
function normalise(text: string): string {
  const plain = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return plain.replace(/^["'“”‘’«»„]+/, "").replace(/(?<!["'“”‘’«»„])["'“”‘’«»„]+$/, "");
}
