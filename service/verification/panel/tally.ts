import type { Ballot, Critique, Synthesis } from "./answers.ts";
import { effectiveVotes } from "./effective-votes.ts";
import {
  CRITIC,
  INSTRUCTIONS,
  type MoneyLimits,
  SECOND_MODEL_ROLE,
  THRESHOLDS,
  type Thresholds,
  thresholdOf,
  UNMET,
  VOTING,
} from "./policy.ts";
import { createQuoteSearch } from "./quotes.ts";
import {
  type Decision,
  GENERATOR_ROLES,
  type GeneratorRole,
  type NotAsked,
  type OutputCheck,
  type ReleasedMoney,
  type RoleAnswer,
  type RoleName,
  type RuleName,
  type TallyOutcome,
} from "./types.ts";

/** Texts as models saw them, with neutralised signs; ballots of those that answered, as JSON. */
export type ShownTexts = {
  readonly output: string;
  readonly ballots: Readonly<Partial<Record<GeneratorRole, string>>>;
};

export type TallyInput = {
  /** As registered; one that is unknown is judged by `default`. */
  readonly domain: string;
  readonly hasCriteria: boolean;
  readonly ballots: Readonly<Record<GeneratorRole, RoleAnswer<Ballot>>>;
  readonly critique: RoleAnswer<Critique> | NotAsked;
  readonly synthesis: RoleAnswer<Synthesis> | NotAsked;
  readonly checks: readonly OutputCheck[];
  /** Searched for the critic's quotations, beside the shown texts and the challenged ballot. */
  readonly outputText: string;
  readonly shown: ShownTexts;
  /** Specification and criteria: an output may repeat what they say. */
  readonly orderTexts: readonly string[];
  /** Whether the provider has an Agent Health Score; its value decides nothing. */
  readonly providerHasScore: boolean;
  readonly released: ReleasedMoney;
  readonly limits: MoneyLimits;
  /** Whether the ballot of SECOND_MODEL_ROLE is of another model family than the others. */
  readonly hasSecondModel: boolean;
};

type Decided = Extract<TallyOutcome, { kind: "decided" }>;

const CRITIC_RULES: readonly RuleName[] = ["fabrication_risk", "spec_gaming", "challenged"];

/**
 * Decides the verdict by the rules of docs/panel.md, section 2, in their order. Each rule can only turn an outcome into HOLD.
 * `rulesFired` names the rules that did, all of one step. failed: fewer than three valid ballots, or no valid critique where one could
 * change the verdict, with the missing roles. Only replays of recorded judgments give other thresholds.
 */
export function tally(all: TallyInput, thresholds: Thresholds = THRESHOLDS): TallyOutcome {
  const given = validCritique(all);
  // A synthesis without the critique that it weighs does not count.
  const input = given === null ? { ...all, synthesis: NO_SYNTHESIS } : all;
  const ballots = countBallots(input, input.hasCriteria, thresholds);
  const critique = given ?? NO_FINDINGS;
  if (ballots.length < VOTING.majority) return { kind: "failed", missing: missingRoles(ballots, given) };
  const decided = decide(input, { ballots, critique, thresholds });
  if (given === null && decided.verdict !== "HOLD") return { kind: "failed", missing: ["critic"] };
  const rulesFired = [...decided.rulesFired];
  if (isChangedByCap(input, { ballots, critique, thresholds, decided }))
    rulesFired.unshift("uncheckable_without_criteria");
  if (input.synthesis.kind === "abstained") rulesFired.push("synthesis_missing");
  return { ...decided, rulesFired };
}

/**
 * Returns the role to ask next, whose answer can still change the verdict; null if none can. Every rule only turns an outcome into HOLD, so
 * a HOLD is final, a rejection depends on the critic alone, and an ALLOW on the synthesis only if a ballot shows an unmet criterion.
 */
export function nextRole(
  input: TallyInput,
  thresholds: Thresholds = THRESHOLDS,
): "critic" | "synthesiser" | null {
  const ballots = countBallots(input, input.hasCriteria, thresholds);
  if (ballots.length < VOTING.majority) return null;
  const { verdict } = decide(input, { ballots, critique: validCritique(input) ?? NO_FINDINGS, thresholds });
  if (verdict === "HOLD") return null;
  if (input.critique.kind !== "answer") return input.critique.kind === "not_asked" ? "critic" : null;
  const isUnmet = ballots.some(
    ({ ballot }) => shownUnmet(ballot.criteria.filter(({ met }) => met === false)).length > 0,
  );
  return verdict === "ALLOW" && input.synthesis.kind === "not_asked" && isUnmet ? "synthesiser" : null;
}

/** A critique that changes no outcome. */
const NO_FINDINGS: Critique = {
  challenges: [],
  missedIssues: [],
  confidence: 0,
  caseFor: "",
  caseAgainst: "",
  fabricationRisk: "none",
  fabricationReason: "",
  specGaming: false,
  specGamingReason: "",
};

const NO_SYNTHESIS: NotAsked = { kind: "not_asked", reason: "there is no critique" };

function validCritique({ critique }: Pick<TallyInput, "critique">): Critique | null {
  return critique.kind === "answer" && isValidCritique(critique.answer) ? critique.answer : null;
}

/** True if the outcome differs without the cap for uncheckable claims. */
function isChangedByCap(input: TallyInput, { decided, ...counted }: Counted & { decided: Decided }): boolean {
  const { ballots, thresholds } = counted;
  if (ballots.every(({ ballot, confidence }) => confidence === ballot.confidence)) return false;
  const uncapped = decide(input, { ...counted, ballots: countBallots(input, true, thresholds) });
  return uncapped.verdict !== decided.verdict || uncapped.generatorMajority !== decided.generatorMajority;
}

function missingRoles(ballots: readonly CountedBallot[], critique: Critique | null): readonly RoleName[] {
  const counted = new Set(ballots.map(({ role }) => role));
  const generators = GENERATOR_ROLES.filter((role) => !counted.has(role));
  return critique === null ? [...generators, "critic"] : generators;
}

type Counted = { ballots: readonly CountedBallot[]; critique: Critique; thresholds: Thresholds };

function decide(input: TallyInput, { ballots, critique, thresholds }: Counted): Decided {
  const threshold = thresholds.confidence[thresholdOf(input.domain).domain];
  const scores = ballots.map(({ ballot }) => ballot.score);
  const agreed = majorityOf(ballots);
  const majority = agreed ?? "HOLD";
  const counted = majority === "HOLD" ? ballots : ballots.filter(({ vote }) => vote === majority);
  const confidence = meanHundredths(counted);
  const worth = worthOf(counted, input);
  const isShortOf = (margin: number) => confidence < threshold + margin;
  const steps: readonly ((outcome: Decision) => readonly RuleName[])[] = [
    (outcome) => (disagrees(outcome, scores, thresholds) ? ["disagreement"] : []),
    (outcome) => moneyRules(outcome, { input, thresholds, votes: counted.length, worth }),
    (outcome) => criticRules(outcome, { critique, ballots, threshold: threshold / 100, texts: input }),
    (outcome) => outputRules(outcome, { ballots, synthesis: input.synthesis, checks: input.checks }),
    (outcome) =>
      outcome === "ALLOW" && instructionsShown(ballots, input).length > 0 ? ["instructions_in_output"] : [],
    (outcome) =>
      outcome === "REJECT" && isShortOf(thresholds.rejectionMargin) ? ["rejection_asymmetry"] : [],
    (outcome) =>
      outcome === "REJECT" && !input.providerHasScore && isShortOf(thresholds.rejectionMarginWithoutScore)
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
    finalScore: medianOf(scores),
    confidence: confidence / 100,
    mdi: disagreementIndex(scores),
    effectiveVotes: worth / 100,
    generatorMajority: majority,
    votes: Object.fromEntries(ballots.map(({ role, vote }) => [role, vote])),
    criticOverrideApplied: rulesFired.some((rule) => CRITIC_RULES.includes(rule)),
    rejectionAsymmetryApplied: rulesFired.includes("rejection_asymmetry"),
    zeroHistoryAdjustmentApplied: rulesFired.includes("zero_history"),
    rulesFired,
  };
}

/** Decision with at least three votes; null without one. */
function majorityOf(ballots: readonly CountedBallot[]): Decision | null {
  const decisions = ["ALLOW", "HOLD", "REJECT"] as const;
  const votes = (decision: Decision) => ballots.filter(({ vote }) => vote === decision).length;
  return decisions.find((decision) => votes(decision) >= VOTING.majority) ?? null;
}

/** One-sided, so that a worse ballot never helps: one leaning to REJECT bars ALLOW, and one leaning to ALLOW bars REJECT. */
function disagrees(outcome: Decision, scores: readonly number[], thresholds: Thresholds): boolean {
  if (outcome === "HOLD") return false;
  const opposite = outcome === "ALLOW" ? "REJECT" : "ALLOW";
  return scores.some((score) => leanOf(score, thresholds) === opposite);
}

/** Returns the rules that turn an ALLOW into HOLD because it releases more money than its votes are good for. */
function moneyRules(
  outcome: Decision,
  {
    input: { released, limits },
    thresholds,
    votes,
    worth,
  }: { input: TallyInput; thresholds: Thresholds; votes: number; worth: number },
): readonly RuleName[] {
  if (outcome !== "ALLOW" || released === null) return [];
  // In doubt an amount is a large one.
  const isAbove = (limit: bigint) => released === "unknown" || released > limit;
  const rules: RuleName[] = [];
  if (isAbove(limits.unanimousAboveMicroUsd) && votes < thresholds.moneyVotes) rules.push("not_unanimous");
  if (isAbove(limits.secondModelAboveMicroUsd) && worth < thresholds.effectiveVotes)
    rules.push("correlated_votes");
  return rules;
}

/** Effective votes of ballots, in whole hundredths. */
function worthOf(
  ballots: readonly CountedBallot[],
  { hasSecondModel }: Pick<TallyInput, "hasSecondModel">,
): number {
  const others = ballots.filter(({ role }) => hasSecondModel && role === SECOND_MODEL_ROLE).length;
  return Math.round(effectiveVotes([ballots.length - others, others]) * 100);
}

/** Median of at least one whole score; the mean of the two in the middle is rounded half up. */
function medianOf(scores: readonly number[]): number {
  const sorted = scores.toSorted((one, other) => one - other);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (low === undefined || high === undefined) throw new Error("a median needs a score");
  return Math.ceil((low + high) / 2);
}

/** Below any stated precision of a confidence, and above binary rounding errors. */
const SLACK = 1e-9;

/** Mean confidence in hundredths, rounded once, half up. Values are sorted first, so that the order of ballots does not change the sum. */
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

type CountedBallot = {
  readonly role: GeneratorRole;
  readonly ballot: Ballot;
  /** After the cap for uncheckable claims. */
  readonly confidence: number;
  readonly vote: Decision;
};

/** Returns valid ballots in the order of the roles. A score or a confidence outside its scale is invalid. */
function countBallots(
  input: Pick<TallyInput, "ballots" | "domain">,
  hasCriteria: boolean,
  thresholds: Thresholds,
): readonly CountedBallot[] {
  const threshold = thresholds.confidence[thresholdOf(input.domain).domain] / 100;
  return GENERATOR_ROLES.flatMap((role) => {
    const answer = input.ballots[role];
    if (answer.kind === "abstained" || !isValidBallot(answer.answer)) return [];
    const ballot = answer.answer;
    const confidence = confidenceOf(ballot, hasCriteria);
    // Its lean is its vote if it is sure enough.
    const vote = confidence >= threshold ? leanOf(ballot.score, thresholds) : "HOLD";
    return [{ role, ballot, confidence, vote }];
  });
}

function isValidCritique(critique: Critique): boolean {
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

function leanOf(score: number, { allowFrom, rejectBelow }: Thresholds): Decision {
  if (score >= allowFrom) return "ALLOW";
  return score < rejectBelow ? "REJECT" : "HOLD";
}

/** Confidence of a ballot from 0 to 1; at most 0.60 if it names uncheckable claims and there are no criteria. */
function confidenceOf(ballot: Ballot, hasCriteria: boolean): number {
  if (hasCriteria || ballot.uncheckableClaims.length === 0) return ballot.confidence;
  return Math.min(ballot.confidence, VOTING.uncheckableCapHundredths / 100);
}

/** Inputs of the critic's rules; the threshold is from 0 to 1. */
type CriticInput = {
  critique: Critique;
  ballots: readonly CountedBallot[];
  threshold: number;
  texts: Pick<TallyInput, "outputText" | "shown">;
};

/** Returns the critic's rules that turn an outcome into HOLD. */
function criticRules(outcome: Decision, input: CriticInput): readonly RuleName[] {
  if (outcome === "HOLD") return [];
  const { critique } = input;
  const rules: RuleName[] = [];
  if (outcome === "ALLOW" && critique.fabricationRisk === "high") rules.push("fabrication_risk");
  if (outcome === "ALLOW" && critique.specGaming) rules.push("spec_gaming");
  if (critique.confidence >= input.threshold && challengesEnough(input)) rules.push("challenged");
  return rules;
}

function challengesEnough({ critique, ballots, texts }: CriticInput): boolean {
  // The common case needs no search in the output.
  if (new Set(critique.challenges.map(({ role }) => role)).size < CRITIC.challengedGenerators) return false;
  return challengedRoles(critique, ballots, texts).length >= CRITIC.challengedGenerators;
}

/** Generators that are challenged with a reason and a quotation from their ballot or the output. */
export function challengedRoles(
  critique: Critique,
  ballots: readonly { readonly role: GeneratorRole; readonly ballot: Ballot }[],
  texts: CriticInput["texts"],
): readonly GeneratorRole[] {
  const isOfOutput = createQuoteSearch([texts.outputText, texts.shown.output], CRITIC.minQuoteCharacters);
  const reasoned = critique.challenges.filter(({ reason }) => reason.trim() !== "");
  const challenged = ballots.filter(({ role, ballot }) => {
    const isOfBallot = createQuoteSearch(ballotTexts(role, ballot, texts), CRITIC.minQuoteCharacters);
    return reasoned.some(
      (challenge) => challenge.role === role && (isOfBallot(challenge.quote) || isOfOutput(challenge.quote)),
    );
  });
  return challenged.map(({ role }) => role);
}

function ballotTexts(
  role: GeneratorRole,
  ballot: Ballot,
  { shown }: CriticInput["texts"],
): readonly string[] {
  const lists = [ballot.objections, ballot.uncheckableClaims, ballot.instructionsFound];
  const own = [ballot.reasoning, ...lists.flat(), ...ballot.criteria.map(({ evidence }) => evidence)];
  return [...own, shown.ballots[role] ?? ""];
}

/**
 * Instructions to the judges that a ballot quotes from the output. A quotation that is in the order counts for nothing: a client could
 * order those words, or a provider repeat the order.
 */
export function instructionsShown(
  ballots: readonly { readonly ballot: Ballot }[],
  { outputText, shown, orderTexts }: Pick<TallyInput, "outputText" | "shown" | "orderTexts">,
): readonly string[] {
  const quotations = ballots.flatMap(({ ballot }) => ballot.instructionsFound);
  const isOfOutput = createQuoteSearch([outputText, shown.output], INSTRUCTIONS.minQuoteCharacters);
  const isOfOrder = createQuoteSearch(orderTexts, INSTRUCTIONS.minQuoteCharacters);
  return quotations.filter((quotation) => isOfOutput(quotation) && !isOfOrder(quotation));
}

/** Rule of each check. Checks without an own rule show that a requested thing is missing. */
const RULE_OF_CHECK: Readonly<Record<OutputCheck["name"], RuleName>> = {
  padded: "output_padded",
  copied_from_spec: "output_copied_from_spec",
  hidden_characters: "output_hidden_characters",
  not_json: "criterion_unmet",
  wrong_language: "criterion_unmet",
  empty: "criterion_unmet",
  no_content: "output_without_content",
  misquoted_spec: "output_misquotes_spec",
};

/** Returns the rules on unmet criteria and on the output itself that turn ALLOW into HOLD. */
function outputRules(
  outcome: Decision,
  faults: Pick<TallyInput, "synthesis" | "checks"> & { ballots: readonly CountedBallot[] },
): readonly RuleName[] {
  if (outcome !== "ALLOW") return [];
  const rules = new Set<RuleName>();
  if (hasUnmetCriterion(faults)) rules.add("criterion_unmet");
  for (const { name, criterion } of faults.checks) {
    rules.add(RULE_OF_CHECK[name]);
    if (criterion !== null) rules.add("criterion_unmet");
  }
  return [...rules];
}

/** Unmet with evidence in two ballots, or in one and the synthesis. */
function hasUnmetCriterion({ ballots, synthesis }: Parameters<typeof outputRules>[1]): boolean {
  const synthesised = new Set(synthesis.kind === "answer" ? shownUnmet(synthesis.answer.unmetCriteria) : []);
  const times = new Map<string, number>();
  for (const { ballot } of ballots) {
    for (const id of new Set(shownUnmet(ballot.criteria.filter(({ met }) => met === false)))) {
      times.set(id, (times.get(id) ?? 0) + 1);
    }
  }
  return [...times].some(
    ([id, count]) => count >= (synthesised.has(id) ? UNMET.ballotsWithSynthesis : UNMET.ballots),
  );
}

/** Ids of the criteria that a role finds unmet, with evidence. */
export function shownUnmet(findings: readonly { id: string; evidence: string }[]): readonly string[] {
  return findings.filter(({ evidence }) => evidence.trim() !== "").map(({ id }) => id);
}
