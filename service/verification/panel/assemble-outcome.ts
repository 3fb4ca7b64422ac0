import type { Generators } from "./ask-kept.ts";
import type { PanelRunSettings, RoleResult } from "./ask-role.ts";
import { describeFindings } from "./describe-findings.ts";
import type { Block } from "./fence.ts";
import { answerBlock } from "./messages.ts";
import { PANEL_VERSION } from "./policy.ts";
import { sortCriteria } from "./sort-criteria.ts";
import { tally } from "./tally.ts";
import { thresholdOf } from "./thresholds.ts";
import type {
  Ballot,
  Criterion,
  Critique,
  Decision,
  GeneratorRole,
  OutputCheck,
  PanelCase,
  PanelOutcome,
  RoleAnswer,
  ShownTexts,
  Synthesis,
  TallyOutcome,
} from "./types.ts";
import { GENERATOR_ROLES } from "./types.ts";

/** Everything that a run of the panel found. */
export type RunResults = {
  readonly panelCase: PanelCase;
  /** What every role was given of the case. */
  readonly blocks: readonly Block[];
  readonly criteria: readonly Criterion[];
  readonly checks: readonly OutputCheck[];
  readonly settings: PanelRunSettings;
  readonly generators: Generators;
  readonly critic: RoleResult<Critique>;
  readonly synthesiser: RoleResult<Synthesis>;
};

/** As many as anybody reads. */
const MAX_OBJECTIONS = 20;

/** The tally's decision with its texts: the synthesis's, or where that is missing, the ballots'. Null where the tally decides nothing. */
export function assembleOutcome(results: RunResults): PanelOutcome | null {
  const { panelCase, criteria, checks, settings, critic, synthesiser } = results;
  const ballots = answersOf(results.generators);
  const shown = shownTexts(results);
  const decision = tally({
    ...{ domain: panelCase.domain, hasCriteria: criteria.length > 0, ballots, checks },
    ...{ critique: critic.answer, synthesis: synthesiser.answer, outputText: panelCase.outputText },
    ...{ shown, providerHasScore: panelCase.providerHasScore },
  });
  if (decision.kind === "failed" || critic.answer.kind === "abstained") return null;
  const critique = critic.answer.answer;
  const synthesis = synthesiser.answer.kind === "answer" ? synthesiser.answer.answer : null;
  const valid = validBallots(ballots);
  const { prompts, models } = settings;
  return {
    ...{ kind: "decided", decision, criteria, checks },
    ...sortCriteria(criteria, { ballots: valid.map(({ ballot }) => ballot), synthesis, checks }),
    keyObjections: keyObjections({ valid, synthesis, checks }),
    reasoning: synthesis === null ? reasoningOf(valid, decision) : synthesis.reasoning,
    strongestDissent: textOrNull(
      synthesis === null ? dissentOf(valid, { decision, critique }) : synthesis.strongestDissent,
    ),
    findings: describeFindings({ ...results, shown }, decision.votes),
    fabricationRisk: critique.fabricationRisk,
    methodology: {
      ...{ panelVersion: PANEL_VERSION, promptHash: prompts.hash, models },
      thresholds: thresholdOf(panelCase.domain),
    },
  };
}

type Decided = Extract<TallyOutcome, { kind: "decided" }>;
type ValidBallot = { readonly role: GeneratorRole; readonly ballot: Ballot };

function shownTexts({ blocks, generators }: RunResults): ShownTexts {
  const ballots = GENERATOR_ROLES.flatMap((role) => {
    const { answer } = generators[role].record;
    return answer.kind === "answer" ? [[role, answerBlock(`ballot_${role}`, answer.answer).neutral]] : [];
  });
  const output = blocks.find(({ label }) => label === "output")?.neutral ?? "";
  return { output, ballots: Object.fromEntries(ballots) };
}

function answersOf(generators: Generators): Readonly<Record<GeneratorRole, RoleAnswer<Ballot>>> {
  const { criteria_auditor, domain_expert, evidence_checker, user_advocate } = generators;
  return {
    criteria_auditor: criteria_auditor.answer,
    domain_expert: domain_expert.answer,
    evidence_checker: evidence_checker.answer,
    user_advocate: user_advocate.answer,
  };
}

function validBallots(ballots: Readonly<Record<GeneratorRole, RoleAnswer<Ballot>>>): readonly ValidBallot[] {
  return GENERATOR_ROLES.flatMap((role) => {
    const answer = ballots[role];
    return answer.kind === "answer" ? [{ role, ballot: answer.answer }] : [];
  });
}

/** What code found comes first: it is no opinion. */
function keyObjections({
  valid,
  synthesis,
  checks,
}: {
  readonly valid: readonly ValidBallot[];
  readonly synthesis: Synthesis | null;
  readonly checks: readonly OutputCheck[];
}): readonly string[] {
  const objections = synthesis?.keyObjections ?? valid.flatMap(({ ballot }) => ballot.objections);
  return [...new Set([...checks.map(({ finding }) => finding), ...objections])].slice(0, MAX_OBJECTIONS);
}

function reasoningOf(valid: readonly ValidBallot[], { votes }: Decided): string {
  return valid
    .map(({ role, ballot }) => `${role} (${votes[role] ?? "no vote"}): ${ballot.reasoning}`)
    .join("\n\n");
}

/** The surest ballot that voted otherwise; where all voted alike, the critic's case against the verdict. */
function dissentOf(
  valid: readonly ValidBallot[],
  { decision, critique }: { readonly decision: Decided; readonly critique: Critique },
): string {
  const [dissenter] = valid
    .filter(({ role }) => decision.votes[role] !== decision.verdict)
    .sort((one, other) => other.ballot.confidence - one.ballot.confidence);
  if (dissenter === undefined) return caseAgainst(decision.verdict, critique);
  const { role, ballot } = dissenter;
  return `${role} (${decision.votes[role] ?? "no vote"}): ${ballot.reasoning}`;
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
