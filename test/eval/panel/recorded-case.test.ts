import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CaseRow } from "../../../eval/panel/case-row.ts";
import type { LabelledCase } from "../../../eval/panel/labelled-case.ts";
import { parseLines } from "../../../eval/panel/read-lines.ts";
import { recordCase, recordedCase } from "../../../eval/panel/recorded-case.ts";
import { replay } from "../../../eval/panel/replay.ts";
import { runCase } from "../../../eval/panel/run-case.ts";
import {
  type Decision,
  GENERATOR_ROLES,
  type GeneratorRole,
  type RoleName,
  type RuleName,
} from "../../../service/verification/panel/types.ts";
import {
  MODELS,
  SETTINGS,
  wireBallot,
  wireCritique,
  wireSynthesis,
} from "../../service/verification/panel/a-panel.ts";

const LABELLED: LabelledCase = {
  id: "tides",
  domain: "default",
  tags: [],
  spec_text: "Write two sentences about tides.",
  acceptance_criteria: "- Names the moon\n- Is two sentences long",
  output_text: "The moon pulls at the sea. Twice a day it rises.",
  evidence_texts: [],
  provider_has_score: true,
  expected: ["ALLOW"],
};

/** Changes of the answers of a content panel; null answers off the schema. */
type Answers = Partial<Record<RoleName, object | null>>;

/** Runs the panel on answers, records it, and replays the recording. */
async function runAndReplay(answers: Answers, change: Partial<LabelledCase> = {}) {
  const labelled = { ...LABELLED, ...change };
  const { row, records } = await runCase(labelled, {
    settings: SETTINGS,
    newMarker: () => "a".repeat(32),
    monotonicMs: () => 0,
    signal: new AbortController().signal,
    models: {
      ask: async ({ role }) => ({
        outcome: { kind: "text", text: JSON.stringify(wireOf(role, answers, labelled)) },
        ...{ mode: "json_schema", requests: 1, promptTokens: 1, completionTokens: 1 },
      }),
    },
  });
  const recorded = recordCase(labelled, {
    ...{ row, records, models: MODELS, promptHash: SETTINGS.prompts.hash, source: "a test" },
  });
  // As it is read from a file.
  const [replayed] = replay([recordedCase.parse(JSON.parse(JSON.stringify(recorded)))]);
  return { row, recorded, replayed };
}

function wireOf(role: RoleName, answers: Answers, { acceptance_criteria }: LabelledCase): object | null {
  const change = answers[role];
  if (change === null) return null;
  if (role === "critic") return wireCritique(change);
  const isAsked = acceptance_criteria !== null;
  if (role === "synthesiser") return wireSynthesis({ ...(isAsked ? {} : { met_criteria: [] }), ...change });
  return wireBallot({ ...(isAsked ? {} : { criteria: [] }), ...change });
}

const generators = (change: object): Answers =>
  Object.fromEntries(GENERATOR_ROLES.map((role) => [role, change]));
const unmet = (evidence: string) => ({
  criteria: [
    { id: "c1", met: "no", evidence },
    { id: "c2", met: "yes", evidence: "" },
  ],
});
const challenges = (quote: string, roles: readonly GeneratorRole[] = GENERATOR_ROLES) => ({
  critic: { challenges: roles.map((role) => ({ role, quote, reason: "It is too kind." })) },
});
const rejecting = (confidence: number) => generators({ score: 20, confidence });
/** Agreement without the last role. */
const three = (change: object, last: object): Answers => ({ ...generators(change), user_advocate: last });

type Row = [
  rule: RuleName,
  change: Partial<LabelledCase>,
  without: Answers,
  instead: Decision,
  with_: Answers,
];

/** Answers which the tally decides, and a change by which one rule turns the same case into HOLD. */
const RULES: readonly Row[] = [
  ["no_majority", {}, {}, "ALLOW", { criteria_auditor: { score: 50 }, domain_expert: { score: 50 } }],
  ["disagreement", {}, {}, "ALLOW", { user_advocate: { score: 39 } }],
  ["disagreement", {}, three({ score: 20 }, { score: 64 }), "REJECT", three({ score: 20 }, { score: 65 })],
  [
    "fabrication_risk",
    {},
    { critic: { fabrication_risk: "medium" } },
    "ALLOW",
    { critic: { fabrication_risk: "high" } },
  ],
  ["spec_gaming", {}, {}, "ALLOW", { critic: { spec_gaming: true } }],
  ["challenged", {}, challenges("never written"), "ALLOW", challenges("pulls at the sea")],
  ["challenged", {}, challenges("Both are there", ["domain_expert"]), "ALLOW", challenges("Both are there")],
  [
    "criterion_unmet",
    {},
    { domain_expert: unmet("the moon") },
    "ALLOW",
    { domain_expert: unmet("the moon"), user_advocate: unmet("the moon") },
  ],
  [
    "criterion_unmet",
    {},
    { domain_expert: unmet(" "), user_advocate: unmet("") },
    "ALLOW",
    {
      domain_expert: unmet("the moon"),
      synthesiser: { met_criteria: ["c2"], unmet_criteria: [{ id: "c1", evidence: "the moon" }] },
    },
  ],
  ["rejection_asymmetry", {}, rejecting(0.8), "REJECT", rejecting(0.79)],
  ["zero_history", { provider_has_score: false }, rejecting(0.85), "REJECT", rejecting(0.84)],
];

describe("a recording", () => {
  test.each(RULES)("keeps what %s needs", async (rule, change, without, instead, answers) => {
    const before = await runAndReplay(without, change);
    expect(before.replayed).toMatchObject(verdictOf(before.row));
    expect(before.replayed).toMatchObject({ verdict: instead, rules_fired: [] });
    const after = await runAndReplay(answers, change);
    expect(after.replayed).toMatchObject(verdictOf(after.row));
    expect(after.replayed).toMatchObject({ verdict: "HOLD", rules_fired: [rule], recorded_verdict: "HOLD" });
  });

  test("keeps the cap of claims that cannot be checked, where there are no criteria", async () => {
    const claims = generators({ uncheckable_claims: ["Twice a day it rises."] });
    const { row, replayed } = await runAndReplay(claims, { acceptance_criteria: null });
    expect(replayed).toMatchObject({ verdict: "HOLD", rules_fired: ["uncheckable_without_criteria"] });
    expect(replayed).toMatchObject(verdictOf(row));
    expect((await runAndReplay(claims)).replayed).toMatchObject({ verdict: "ALLOW", rules_fired: [] });
  });

  test.each<[RuleName, string]>([
    ["output_hidden_characters", "The moon pulls at the sea.\u202e Twice a day it rises."],
    ["output_padded", `The moon pulls at the sea. ${"Twice a day it rises. ".repeat(200)}`],
  ])("keeps the check behind %s", async (rule, output_text) => {
    const { row, replayed } = await runAndReplay({}, { output_text });
    expect(replayed).toMatchObject({ verdict: "HOLD", rules_fired: [rule] });
    expect(replayed).toMatchObject(verdictOf(row));
  });

  test("keeps that answers are missing", async () => {
    const one = await runAndReplay({ synthesiser: null, domain_expert: null });
    expect(one.recorded).toMatchObject({ synthesis: null, ballots: { domain_expert: null } });
    expect(one.replayed).toMatchObject({ verdict: "ALLOW", rules_fired: ["synthesis_missing"] });
    const two = await runAndReplay({ evidence_checker: null, domain_expert: null });
    expect(two.row.verdict).toBeNull();
    expect(two.replayed).toMatchObject({
      verdict: null,
      error: "no answer that counts from domain_expert, evidence_checker, critic",
    });
  });

  test("has no text of the case or of an answer", async () => {
    const { recorded } = await runAndReplay({
      ...challenges("pulls at the sea"),
      domain_expert: unmet("the moon"),
    });
    expect(recorded).toEqual({
      format: "panel-judgments.1",
      id: "tides",
      source: "a test",
      domain: "default",
      expected: ["ALLOW"],
      criteria: 2,
      provider_has_score: true,
      checks: [],
      ballots: {
        ...Object.fromEntries(
          GENERATOR_ROLES.map((role) => [
            role,
            { score: 90, confidence: 0.9, unmet: [], uncheckable_claims: 0 },
          ]),
        ),
        domain_expert: { score: 90, confidence: 0.9, unmet: ["c1"], uncheckable_claims: 0 },
      },
      critique: {
        confidence: 0.9,
        fabrication_risk: "none",
        spec_gaming: false,
        challenged: GENERATOR_ROLES,
      },
      synthesis: { unmet: [] },
      models: MODELS,
      prompt_hash: SETTINGS.prompts.hash,
      panel_version: "panel-2026.0",
      verdict: "HOLD",
    });
  });
});

/** The part of a row that the tally decides. */
function verdictOf({ verdict, is_right, final_score, confidence, rules_fired }: CaseRow) {
  return { verdict, is_right, final_score, confidence, rules_fired };
}

test("the recording of the scripted model is decided as it was", () => {
  const file = new URL("../../../eval/panel/recorded/scripted.jsonl", import.meta.url);
  const text = readFileSync(file, "utf8");
  expect(text.length).toBeLessThan(200_000);
  const { rows, faults } = parseLines(text, { name: "scripted", schema: recordedCase, maxLineBytes: 16_384 });
  expect(faults).toEqual([]);
  expect(rows.length).toBeGreaterThanOrEqual(40);
  expect(new Set(rows.map(({ source }) => source))).toEqual(
    new Set(["eval:panel on the scripted model, which says nothing of any model"]),
  );
  expect(replay(rows).map(({ verdict }) => verdict)).toEqual(rows.map(({ verdict }) => verdict));
});

test("eval/panel/README.md names every member of the format", () => {
  const page = readFileSync(new URL("../../../eval/panel/README.md", import.meta.url), "utf8");
  const { ballots, critique } = recordedCase.shape;
  const shapes = [recordedCase, ballots.shape.user_advocate.unwrap(), critique.unwrap()];
  for (const name of shapes.flatMap(({ shape }) => Object.keys(shape))) expect(page).toContain(`\`${name}\``);
});
