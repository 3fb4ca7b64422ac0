import { z } from "zod";
import {
  type Ballot,
  type Critique,
  type ParsedAnswer,
  parseBallot,
  parseCritique,
  parseSynthesis,
  type Synthesis,
} from "../../service/verification/panel/answers.ts";
import { shownTexts } from "../../service/verification/panel/assemble-outcome.ts";
import { checkOutput } from "../../service/verification/panel/check-output.ts";
import { splitCriteria } from "../../service/verification/panel/criteria.ts";
import { MAX_CRITERIA, type MoneyLimits, PANEL_VERSION } from "../../service/verification/panel/policy.ts";
import { caseBlocks } from "../../service/verification/panel/prompts.ts";
import {
  challengedRoles,
  instructionsShown,
  shownUnmet,
  type TallyInput,
} from "../../service/verification/panel/tally.ts";
import {
  GENERATOR_ROLES,
  type GeneratorRole,
  type OutputCheck,
  ROLE_NAMES,
  type RoleAnswer,
  type RoleName,
  type RoleRecord,
} from "../../service/verification/panel/types.ts";
import type { VerdictRow } from "./case-row.ts";
import {
  expectedVerdicts,
  type LabelledCase,
  panelCaseOf,
  releasedMoneyOf,
  releasedUsd,
  shownName,
} from "./labelled-case.ts";

/** Version of the format; a file of another version is refused line by line. */
export const FORMAT = "panel-judgments.1";

const confidence = z.number().min(0).max(1);
const criterionId = z.string().regex(/^c\d{1,3}$/, "expected an id such as c1");
const unmet = z.array(criterionId).max(MAX_CRITERIA);

const CHECKS = [
  ...(["padded", "copied_from_spec", "hidden_characters"] as const),
  ...(["not_json", "wrong_language", "empty", "no_content", "misquoted_spec"] as const),
] satisfies readonly OutputCheck["name"][];

const ballot = z.strictObject({
  score: z.int().min(0).max(100),
  confidence,
  /** Criteria found unmet, with evidence. */
  unmet,
  /** How many claims it names that cannot be checked. */
  uncheckable_claims: z.int().min(0).max(1_000),
  /** How many quoted instructions to the judges are in the output and not in the order; older recordings have none. */
  instructions_shown: z.int().min(0).max(1_000).default(0),
});

const critique = z.strictObject({
  confidence,
  fabrication_risk: z.enum(["none", "low", "medium", "high"]),
  spec_gaming: z.boolean(),
  /** Generators challenged with a reason and a quotation that is really there. */
  challenged: z.array(z.enum(GENERATOR_ROLES)).max(GENERATOR_ROLES.length),
});

/** One line of a recording: everything that the tally reads of a case, and no text of the case or of an answer. */
export const recordedCase = z.strictObject({
  format: z.literal(FORMAT),
  id: shownName,
  /** Origin of the judgments. */
  source: shownName,
  domain: shownName,
  expected: expectedVerdicts,
  /** How many criteria the specification has. */
  criteria: z.int().min(0).max(MAX_CRITERIA),
  provider_has_score: z.boolean(),
  released_usd: releasedUsd,
  /** Whether the evidence checker's model is of another family than the others. */
  second_model: z.boolean().default(false),
  checks: z
    .array(z.strictObject({ name: z.enum(CHECKS), criterion: criterionId.nullable() }))
    .max(MAX_CRITERIA + CHECKS.length),
  /** Null abstained. */
  ballots: z.strictObject({
    criteria_auditor: ballot.nullable(),
    domain_expert: ballot.nullable(),
    evidence_checker: ballot.nullable(),
    user_advocate: ballot.nullable(),
  }),
  critique: critique.nullable(),
  synthesis: z.strictObject({ unmet }).nullable(),
  /** Model of each role; null without one. */
  models: z.record(z.enum(ROLE_NAMES), shownName.nullable()),
  /** keccak256 over all prompts and schemas; null if they were not the panel's. */
  prompt_hash: z
    .string()
    .regex(/^0x[\da-f]{64}$/)
    .nullable(),
  /** Version of rules and thresholds when it was recorded, and the verdict then; null without one. */
  panel_version: shownName.nullable(),
  verdict: z.enum(["ALLOW", "HOLD", "REJECT"]).nullable(),
});

export type RecordedCase = z.infer<typeof recordedCase>;

/** Stands for a quotation that was found: the tally finds it again, in the text of the replayed output. */
const FOUND = "a quotation that was found";

/** Input of the tally that decides as the recorded answers did. */
export function tallyInputOf(recorded: RecordedCase, limits: MoneyLimits): TallyInput {
  const { ballots, critique, synthesis } = recorded;
  return {
    domain: recorded.domain,
    hasCriteria: recorded.criteria > 0,
    providerHasScore: recorded.provider_has_score,
    released: releasedMoneyOf(recorded),
    limits,
    hasSecondModel: recorded.second_model,
    checks: recorded.checks.map((check) => ({ ...check, finding: "" })),
    ballots: {
      criteria_auditor: answerOf(ballots.criteria_auditor, replayedBallot),
      domain_expert: answerOf(ballots.domain_expert, replayedBallot),
      evidence_checker: answerOf(ballots.evidence_checker, replayedBallot),
      user_advocate: answerOf(ballots.user_advocate, replayedBallot),
    },
    critique: answerOf(critique, replayedCritique),
    synthesis: answerOf(synthesis, replayedSynthesis),
    outputText: FOUND,
    shown: { output: FOUND, ballots: {} },
    orderTexts: [],
  };
}

function answerOf<Recorded, Answer>(
  recorded: Recorded | null,
  replay: (recorded: Recorded) => Answer,
): RoleAnswer<Answer> {
  return recorded === null
    ? { kind: "abstained", reason: "no answer was recorded" }
    : { kind: "answer", answer: replay(recorded) };
}

function replayedBallot({ score, confidence, ...recorded }: z.infer<typeof ballot>): Ballot {
  return {
    score,
    confidence,
    criteria: recorded.unmet.map((id) => ({ id, met: false, evidence: FOUND })),
    uncheckableClaims: Array.from({ length: recorded.uncheckable_claims }, () => FOUND),
    objections: [],
    instructionsFound: Array.from({ length: recorded.instructions_shown }, () => FOUND),
    reasoning: "",
  };
}

function replayedCritique({ confidence, challenged, ...recorded }: z.infer<typeof critique>): Critique {
  return {
    confidence,
    challenges: challenged.map((role) => ({ role, quote: FOUND, reason: FOUND })),
    fabricationRisk: recorded.fabrication_risk,
    specGaming: recorded.spec_gaming,
    missedIssues: [],
    fabricationReason: "",
    specGamingReason: "",
    caseFor: "",
    caseAgainst: "",
  };
}

function replayedSynthesis(recorded: { unmet: readonly string[] }): Synthesis {
  return {
    unmetCriteria: recorded.unmet.map((id) => ({ id, evidence: FOUND })),
    metCriteria: [],
    keyObjections: [],
    reasoning: "",
    strongestDissent: "",
  };
}

/** Recording of a run: its labelled case, the records of its roles, and what it decided. */
export function recordCase(
  labelled: LabelledCase,
  run: {
    readonly row: Pick<VerdictRow, "verdict">;
    readonly records: readonly RoleRecord[];
    readonly models: Readonly<Record<RoleName, string>>;
    readonly promptHash: string;
    readonly hasSecondModel: boolean;
    readonly source: string;
  },
): RecordedCase {
  const panelCase = panelCaseOf(labelled);
  const criteria = splitCriteria(panelCase.acceptanceCriteria);
  const ids = criteria.map(({ id }) => id);
  const answer = <Answer>(role: RoleName, parse: (wire: unknown) => ParsedAnswer<Answer>): Answer | null => {
    const parsed = parse(wireOf(run.records, role));
    return parsed.kind === "off" ? null : parsed.answer;
  };
  const ballots = GENERATOR_ROLES.flatMap((role) => {
    const found = answer(role, (wire) => parseBallot(wire, ids));
    return found === null ? [] : [{ role, ballot: found }];
  });
  const found = answer("critic", parseCritique);
  const synthesis = answer("synthesiser", (wire) => parseSynthesis(wire, ids));
  const shown = shownTexts(caseBlocks(panelCase, criteria), (role) => recordedAnswer(run.records, role));
  const ballotOf = (role: GeneratorRole) => {
    const counted = ballots.find((one) => one.role === role);
    if (counted === undefined) return null;
    const { outputText, specText, acceptanceCriteria } = panelCase;
    const orderTexts = [specText, acceptanceCriteria ?? ""];
    const instructions = instructionsShown([counted], { outputText, shown, orderTexts });
    return { ...recordedBallot(counted.ballot), instructions_shown: instructions.length };
  };
  return {
    format: FORMAT,
    id: labelled.id,
    source: run.source,
    domain: labelled.domain,
    expected: labelled.expected,
    criteria: criteria.length,
    provider_has_score: labelled.provider_has_score,
    released_usd: labelled.released_usd,
    second_model: run.hasSecondModel,
    checks: checkOutput(panelCase, criteria).map(({ name, criterion }) => ({ name, criterion })),
    ballots: {
      criteria_auditor: ballotOf("criteria_auditor"),
      domain_expert: ballotOf("domain_expert"),
      evidence_checker: ballotOf("evidence_checker"),
      user_advocate: ballotOf("user_advocate"),
    },
    critique: found && {
      confidence: found.confidence,
      fabrication_risk: found.fabricationRisk,
      spec_gaming: found.specGaming,
      challenged: [...challengedRoles(found, ballots, { outputText: panelCase.outputText, shown })],
    },
    synthesis: synthesis && { unmet: [...shownUnmet(synthesis.unmetCriteria)] },
    models: run.models,
    prompt_hash: run.promptHash,
    panel_version: PANEL_VERSION,
    verdict: run.row.verdict,
  };
}

function recordedBallot({ score, confidence, criteria, uncheckableClaims }: Ballot) {
  return {
    score,
    confidence,
    unmet: [...shownUnmet(criteria.filter(({ met }) => met === false))],
    uncheckable_claims: uncheckableClaims.length,
  };
}

function recordedAnswer(records: readonly RoleRecord[], role: RoleName): RoleAnswer<unknown> {
  const record = records.find((one) => one.role === role);
  return record?.answer ?? { kind: "abstained", reason: "it was not asked" };
}

/** A role's answer as received; undefined, which no schema accepts, without one. */
function wireOf(records: readonly RoleRecord[], role: RoleName): unknown {
  const recorded = recordedAnswer(records, role);
  return recorded.kind === "answer" ? recorded.answer : undefined;
}
