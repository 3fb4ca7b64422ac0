import type { Generators } from "./ask-kept.ts";
import type { RoleResult } from "./ask-role.ts";
import { createQuoteSearch } from "./find-quote.ts";
import {
  type Ballot,
  type Critique,
  type Decision,
  GENERATOR_ROLES,
  type GeneratorRole,
  type PanelCase,
  type RoleFinding,
  type ShownTexts,
  type Synthesis,
} from "./types.ts";

export type Findings = {
  readonly panelCase: Pick<PanelCase, "outputText">;
  readonly shown: Pick<ShownTexts, "output">;
  readonly generators: Generators;
  readonly critic: RoleResult<Critique>;
  readonly synthesiser: RoleResult<Synthesis>;
};

/** Every role's view, in the order of the rounds, those that abstained included. */
export function describeFindings(
  { panelCase, shown, generators, critic, synthesiser }: Findings,
  votes: Readonly<Partial<Record<GeneratorRole, Decision>>>,
): readonly RoleFinding[] {
  const isOfOutput = createQuoteSearch([panelCase.outputText, shown.output], 1);
  return [
    ...GENERATOR_ROLES.map((role) => ({
      ...findingOf(generators[role], (ballot) => viewOfBallot(ballot, isOfOutput)),
      verdict: votes[role] ?? null,
    })),
    findingOf(critic, viewOfCritique),
    findingOf(synthesiser, viewOfSynthesis),
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

type IsQuoted = (text: string) => boolean;

function viewOfBallot({ score, confidence, criteria, ...ballot }: Ballot, isOfOutput: IsQuoted): View {
  const objections = [
    ...ballot.objections,
    ...ballot.uncheckableClaims.map((claim) => `Cannot be checked: ${claim}`),
    ...ballot.instructionsFound.map((text) => describeSteering(text, isOfOutput)),
  ];
  return { score, confidence, criteria, objections };
}

/** Only what stands in the output speaks against it; a client may write such texts as well. */
function describeSteering(text: string, isOfOutput: IsQuoted): string {
  return isOfOutput(text)
    ? `The output addresses its judges: ${text}`
    : `Addressed to judges, but not in these words in the output: ${text}`;
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
