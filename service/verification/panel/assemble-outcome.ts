import type { Ballot, Critique, Synthesis } from "./answers.ts";
import type { Generators, PanelRunSettings, RoleResult } from "./ask-role.ts";
import type { Block } from "./fence.ts";
import { PANEL_VERSION, SECOND_MODEL_ROLE, thresholdOf, UNMET, VOTING } from "./policy.ts";
import { answerBlock, EVIDENCE_ORDER } from "./prompts.ts";
import { createQuoteSearch } from "./quotes.ts";
import { type ShownTexts, type TallyInput, tally } from "./tally.ts";
import {
  type Criterion,
  type Decision,
  GENERATOR_ROLES,
  type GeneratorRole,
  type NotAsked,
  type OutputCheck,
  type PanelCase,
  type PanelOutcome,
  type RoleAnswer,
  type RoleFinding,
  type TallyOutcome,
  type Voting,
} from "./types.ts";

/** Results of a run; every role received the blocks. */
export type RunResults = {
  panelCase: PanelCase;
  blocks: readonly Block[];
  criteria: readonly Criterion[];
  checks: readonly OutputCheck[];
  settings: PanelRunSettings;
  generators: Generators;
  critic: RoleResult<Critique> | Unasked;
  synthesiser: RoleResult<Synthesis> | Unasked;
};

/** A role without a record, since it was not asked. */
export type Unasked = { readonly record: null; readonly answer: NotAsked };

const MAX_OBJECTIONS = 20;

/**
 * Adds the texts of the synthesis to the tally's decision, or those of the ballots without a synthesis. Null if the tally has no decision.
 */
export function assembleOutcome(results: RunResults): PanelOutcome | null {
  const { panelCase, criteria, checks, settings, critic, synthesiser } = results;
  const input = inputOfRun(results);
  const decision = tally(input);
  if (decision.kind === "failed") return null;
  const critique = critic.answer.kind === "answer" ? critic.answer.answer : null;
  const synthesis = synthesiser.answer.kind === "answer" ? synthesiser.answer.answer : null;
  const valid = validBallots(input.ballots);
  const missed = critique?.missedIssues.map(({ issue }) => issue) ?? [];
  const objections = synthesis?.keyObjections ?? [
    ...valid.flatMap(({ ballot }) => ballot.objections),
    ...missed,
  ];
  const { prompts, models } = settings;
  return {
    kind: "decided",
    decision,
    criteria,
    checks,
    ...sortCriteria(criteria, { ballots: valid.map(({ ballot }) => ballot), synthesis, checks }),
    // Findings of code come first, because they are facts.
    keyObjections: [...new Set([...checks.map(({ finding }) => finding), ...objections])].slice(
      0,
      MAX_OBJECTIONS,
    ),
    reasoning: synthesis === null ? reasoningOf(valid, decision) : synthesis.reasoning,
    strongestDissent: textOrNull(
      synthesis === null ? dissentOf(valid, { decision, critique }) : synthesis.strongestDissent,
    ),
    findings: describeFindings({ ...results, shown: input.shown }, decision.votes),
    fabricationRisk: critique?.fabricationRisk ?? null,
    methodology: {
      panelVersion: PANEL_VERSION,
      promptHash: prompts.hash,
      models,
      thresholds: thresholdOf(panelCase.domain),
      voting: votingOf(decision, results),
    },
  };
}

/** Builds the input of the tally from a run, even before all roles were asked. */
export function inputOfRun(results: RunResults): TallyInput {
  const { panelCase, blocks, criteria, checks, settings, generators, critic, synthesiser } = results;
  return {
    domain: panelCase.domain,
    hasCriteria: criteria.length > 0,
    checks,
    ballots: answersOf(generators),
    critique: critic.answer,
    synthesis: synthesiser.answer,
    outputText: panelCase.outputText,
    shown: shownTexts(blocks, (role) => generators[role].record.answer),
    orderTexts: [panelCase.specText, panelCase.acceptanceCriteria ?? ""],
    providerHasScore: panelCase.providerHasScore,
    released: panelCase.released,
    limits: settings.limits,
    hasSecondModel: settings.hasSecondModel,
  };
}

type Decided = Extract<TallyOutcome, { kind: "decided" }>;
function votingOf(
  { effectiveVotes }: Decided,
  { panelCase: { released }, settings, critic, synthesiser }: RunResults,
): Voting {
  const { limits, models, hasSecondModel } = settings;
  const role = SECOND_MODEL_ROLE;
  return {
    effective_votes: effectiveVotes,
    money:
      released === null
        ? null
        : {
            released_usd: released === "unknown" ? null : usdOf(released),
            unanimous_above_usd: usdOf(limits.unanimousAboveMicroUsd),
            second_model_above_usd: usdOf(limits.secondModelAboveMicroUsd),
          },
    second_model: hasSecondModel ? { role, model: models[role] } : null,
    evidence_order: EVIDENCE_ORDER,
    not_asked: [
      { role: "critic" as const, answer: critic.answer },
      { role: "synthesiser" as const, answer: synthesiser.answer },
    ].flatMap(({ role, answer }) => (answer.kind === "not_asked" ? [{ role, reason: answer.reason }] : [])),
  };
}

function usdOf(microUsd: bigint): number {
  return Number(microUsd) / 1_000_000;
}

type ValidBallot = { role: GeneratorRole; ballot: Ballot };

/** Texts as the critic saw them: the output, and every ballot as it was received. */
export function shownTexts(
  blocks: readonly Block[],
  answerOf: (role: GeneratorRole) => RoleAnswer<unknown>,
): ShownTexts {
  const ballots = GENERATOR_ROLES.flatMap((role) => {
    const answer = answerOf(role);
    return answer.kind === "answer" ? [[role, answerBlock(`ballot_${role}`, answer.answer).neutral]] : [];
  });
  const output = blocks.find(({ label }) => label === "output")?.neutral ?? "";
  return { output, ballots: Object.fromEntries(ballots) };
}

function answersOf(generators: Generators): TallyInput["ballots"] {
  const { criteria_auditor, domain_expert, evidence_checker, user_advocate } = generators;
  return {
    criteria_auditor: criteria_auditor.answer,
    domain_expert: domain_expert.answer,
    evidence_checker: evidence_checker.answer,
    user_advocate: user_advocate.answer,
  };
}

function validBallots(ballots: TallyInput["ballots"]): readonly ValidBallot[] {
  return GENERATOR_ROLES.flatMap((role) => {
    const answer = ballots[role];
    return answer.kind === "answer" ? [{ role, ballot: answer.answer }] : [];
  });
}

/** The count of votes, and the ballots' own reasons: first of those that voted as the verdict is. */
function reasoningOf(valid: readonly ValidBallot[], decision: Decided): string {
  const { votes, verdict } = decision;
  const counts = DECISIONS.flatMap((vote) => {
    const count = valid.filter(({ role }) => votes[role] === vote).length;
    return count === 0 ? [] : [`${count} ${vote}`];
  });
  const votesAsDecided = ({ role }: ValidBallot) => votes[role] === verdict;
  const ordered = [...valid.filter(votesAsDecided), ...valid.filter((one) => !votesAsDecided(one))];
  return [`Votes: ${counts.join(", ")}.`, ...ordered.map((one) => ballotText(one, decision))].join("\n\n");
}

const DECISIONS = ["ALLOW", "HOLD", "REJECT"] as const satisfies readonly Decision[];

function ballotText({ role, ballot }: ValidBallot, { votes }: Decided): string {
  return `${role} (${votes[role] ?? "no vote"}): ${ballot.reasoning}`;
}

/**
 * Text of the most confident ballot with another vote. If all agree, the critic's case against the verdict; without a critique, the ballot
 * whose score leaves HOLD by most, although its confidence is too low for a vote.
 */
function dissentOf(
  valid: readonly ValidBallot[],
  { decision, critique }: { decision: Decided; critique: Critique | null },
): string {
  const [dissenter] = valid
    .filter(({ role }) => decision.votes[role] !== decision.verdict)
    .sort((one, other) => other.ballot.confidence - one.ballot.confidence);
  if (dissenter !== undefined) return ballotText(dissenter, decision);
  if (critique !== null) return caseAgainst(decision.verdict, critique);
  const [leaning] = valid
    .filter(({ ballot }) => distanceFromHold(ballot) > 0)
    .sort((one, other) => distanceFromHold(other.ballot) - distanceFromHold(one.ballot));
  if (leaning === undefined) return "";
  const { role, ballot } = leaning;
  return `${role} (score ${ballot.score}, not sure enough to vote so): ${ballot.reasoning}`;
}

/** Points above the highest score that votes HOLD, or below the lowest. */
function distanceFromHold({ score }: Ballot): number {
  return Math.max(score - VOTING.allowFrom + 1, VOTING.rejectBelow - score, 0);
}

function caseAgainst(verdict: Decision, { caseFor, caseAgainst: against }: Critique): string {
  switch (verdict) {
    case "ALLOW":
      return against;
    case "REJECT":
      return caseFor;
    case "HOLD":
      return `For the output: ${caseFor}\n\nAgainst it: ${against}`;
  }
}

function textOrNull(text: string): string | null {
  return text.trim() === "" ? null : text;
}

type CriteriaFindings = {
  ballots: readonly Ballot[];
  synthesis: Synthesis | null;
  checks: readonly OutputCheck[];
};

/**
 * Texts of met and unmet criteria; an open one is in neither list. A criterion that the tally holds unmet is unmet, whatever the synthesis
 * says. Without a synthesis, three ballots make a criterion met and two unmet.
 */
export function sortCriteria(criteria: readonly Criterion[], findings: CriteriaFindings) {
  const states = criteria.map(({ id, text }) => ({ text, state: stateOf(id, findings) }));
  const textsOf = (wanted: boolean) => states.filter(({ state }) => state === wanted).map(({ text }) => text);
  return { metCriteria: textsOf(true), unmetCriteria: textsOf(false) };
}

function stateOf(id: string, { ballots, synthesis, checks }: CriteriaFindings): boolean | null {
  const found = ballots.flatMap(({ criteria }) => criteria.filter((finding) => finding.id === id));
  const isUnmetBySynthesis = synthesis?.unmetCriteria.some((unmet) => unmet.id === id) ?? false;
  const shown = found.filter(({ met, evidence }) => met === false && evidence.trim() !== "").length;
  const needed = isUnmetBySynthesis ? UNMET.ballotsWithSynthesis : UNMET.ballots;
  if (shown >= needed || checks.some(({ criterion }) => criterion === id)) return false;
  if (synthesis !== null) return isUnmetBySynthesis ? false : synthesis.metCriteria.includes(id) || null;
  return found.filter(({ met }) => met === true).length >= VOTING.majority || null;
}

/** Returns the view of every role in the order of the rounds, abstentions included. */
function describeFindings(
  { panelCase, settings, shown, generators, critic, synthesiser }: RunResults & { shown: ShownTexts },
  votes: Decided["votes"],
): readonly RoleFinding[] {
  const isOfOutput = createQuoteSearch([panelCase.outputText, shown.output], 1);
  const { models } = settings;
  return [
    ...GENERATOR_ROLES.map((role) => ({
      ...findingOf(generators[role], (ballot) => viewOfBallot(ballot, isOfOutput)),
      verdict: votes[role] ?? null,
    })),
    critic.record === null
      ? unaskedFinding("critic", models.critic, critic.answer)
      : findingOf(critic, viewOfCritique),
    synthesiser.record === null
      ? unaskedFinding("synthesiser", models.synthesiser, synthesiser.answer)
      : findingOf(synthesiser, viewOfSynthesis),
  ];
}

type View = Pick<RoleFinding, "score" | "confidence" | "criteria" | "objections">;

const NO_VIEW: View = { score: null, confidence: null, criteria: [], objections: [] };

function findingOf<Answer>(
  { record, answer }: RoleResult<Answer>,
  viewOf: (answer: Answer) => View,
): RoleFinding {
  const { role, model } = record;
  if (answer.kind === "abstained")
    return { role, model, verdict: null, ...NO_VIEW, abstained: answer.reason };
  return { role, model, verdict: null, ...viewOf(answer.answer), abstained: null };
}

function unaskedFinding(role: RoleFinding["role"], model: string, { reason }: NotAsked): RoleFinding {
  return { role, model, verdict: null, ...NO_VIEW, abstained: reason };
}

function viewOfBallot(
  { score, confidence, criteria, ...ballot }: Ballot,
  isOfOutput: (text: string) => boolean,
): View {
  const objections = [
    ...ballot.objections,
    ...ballot.uncheckableClaims.map((claim) => `Cannot be checked: ${claim}`),
    // Only text of the output counts against it. A client may write such text as well.
    ...ballot.instructionsFound.map((text) =>
      isOfOutput(text)
        ? `The output addresses its judges: ${text}`
        : `Addressed to judges, but not in these words in the output: ${text}`,
    ),
  ];
  return { score, confidence, criteria, objections };
}

function viewOfCritique({ confidence, ...critique }: Critique): View {
  const objections = [
    ...critique.challenges.map(({ role, reason, quote }) => withQuote(`${role}: ${reason}`, quote)),
    ...critique.missedIssues.map(({ issue, quote }) => withQuote(issue, quote)),
    ...(critique.fabricationRisk === "none"
      ? []
      : [`Fabrication risk ${critique.fabricationRisk}: ${critique.fabricationReason}`]),
    ...(critique.specGaming ? [`Spec gaming: ${critique.specGamingReason}`] : []),
  ];
  return { ...NO_VIEW, confidence, objections };
}

function viewOfSynthesis({ metCriteria, unmetCriteria, keyObjections }: Synthesis): View {
  const criteria = [
    ...metCriteria.map((id) => ({ id, met: true, evidence: "" })),
    ...unmetCriteria.map(({ id, evidence }) => ({ id, met: false, evidence })),
  ];
  return { ...NO_VIEW, criteria, objections: keyObjections };
}

function withQuote(text: string, quote: string): string {
  return quote.trim() === "" ? text : `${text} (“${quote}”)`;
}
