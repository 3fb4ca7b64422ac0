import type { PanelDeps } from "../../../../service/verification/panel/ask-role.ts";
import {
  createOpenaiModels,
  type OpenaiModelSettings,
} from "../../../../service/verification/panel/openai-models.ts";
import { MONEY_LIMITS } from "../../../../service/verification/panel/policy.ts";
import { EVIDENCE_ORDER, loadPrompts } from "../../../../service/verification/panel/prompts.ts";
import { runPanel } from "../../../../service/verification/panel/run-panel.ts";
import {
  type PanelCase,
  ROLE_NAMES,
  type RoleName,
  type RoleRecord,
  type Voting,
} from "../../../../service/verification/panel/types.ts";
import { type Call, complete, type Respond } from "./model-server.ts";

/** Long and odd enough to be found wherever it should not be. */
export const API_KEY = "sk-test-0f8e7d6c5b4a39281706";

export function aCase(change: Partial<PanelCase> = {}): PanelCase {
  return {
    specText: "Write two sentences about tides.",
    acceptanceCriteria: "- Names the moon\n- Is two sentences long",
    domain: "content",
    outputText: "The moon pulls at the sea. Twice a day it rises.",
    evidenceTexts: [],
    providerHasScore: true,
    released: null,
    ...change,
  };
}

/** A ballot on the two criteria of aCase, as it goes over the wire. */
export function wireBallot(change: object = {}) {
  return {
    score: 90,
    confidence: 0.9,
    criteria: [
      { id: "c1", met: "yes", evidence: "The moon pulls at the sea" },
      { id: "c2", met: "yes", evidence: "Twice a day it rises." },
    ],
    objections: [],
    uncheckable_claims: [],
    instructions_found: [],
    reasoning: "Both are there.",
    ...change,
  };
}

export function wireCritique(change: object = {}) {
  return {
    challenges: [],
    missed_issues: [],
    fabrication_risk: "none",
    fabrication_reason: "",
    spec_gaming: false,
    spec_gaming_reason: "",
    case_for: "All is there.",
    case_against: "It is plain.",
    confidence: 0.9,
    ...change,
  };
}

export function wireSynthesis(change: object = {}) {
  return {
    met_criteria: ["c1", "c2"],
    unmet_criteria: [],
    key_objections: ["It is plain."],
    reasoning: "It does what was asked.",
    strongest_dissent: "It could say more.",
    ...change,
  };
}

/** Answer of a role that finds no fault. */
export function contentAnswer({ role }: Pick<Call, "role">): Respond {
  if (role === "critic") return complete(wireCritique());
  return complete(role === "synthesiser" ? wireSynthesis() : wireBallot());
}

/** Models of a server, with pauses that no test waits for. */
export function modelsOf(baseUrl: string, change: Partial<OpenaiModelSettings> = {}) {
  return createOpenaiModels({
    ...{ baseUrl, apiKey: API_KEY, temperature: null, seed: null, callMs: 5_000, answerTokens: 4_096 },
    ...{ retry: { tries: 3, pauseMs: 1, longestPauseMs: 2_000 }, random: () => 0, now: () => new Date() },
    ...change,
  });
}

export const MODELS = Object.fromEntries(ROLE_NAMES.map((role) => [role, `model-of-${role}`])) as Record<
  RoleName,
  string
>;

/** The same value for each role. */
export function forEachRole<Value>(value: Value): Record<RoleName, Value> {
  return Object.fromEntries(ROLE_NAMES.map((role) => [role, value])) as Record<RoleName, Value>;
}

/** Counted votes of an ALLOW that releases money. */
export const VOTING: Voting = {
  effective_votes: 1.62,
  money: { released_usd: 40.5, unanimous_above_usd: 25, second_model_above_usd: 1_000 },
  second_model: { role: "evidence_checker", model: "another" },
  evidence_order: EVIDENCE_ORDER,
  not_asked: [{ role: "synthesiser", reason: "not asked: no ballot shows an unmet criterion" }],
};

export const SETTINGS: PanelDeps["settings"] = {
  ...{ models: MODELS, contextTokens: 128_000, answerTokens: 4_096 },
  ...{ prices: forEachRole({ promptUsd: 2, answerUsd: 10, cachedUsd: 2 }), prompts: loadPrompts() },
  ...{ hasSecondModel: false, limits: MONEY_LIMITS, earlyStop: false, controlTokens: [] },
};

/** Dependencies of a run, and the records that it keeps. */
export function aRun(models: PanelDeps["models"], change: Partial<PanelDeps> = {}) {
  const records: RoleRecord[] = [];
  let markers = 0;
  const deps: PanelDeps = {
    models,
    settings: SETTINGS,
    newMarker: () => (++markers).toString(16).padStart(32, "a"),
    monotonicMs: () => performance.now(),
    known: [],
    begin: async () => undefined,
    keep: async (record) => {
      records.push(record);
    },
    signal: new AbortController().signal,
    ...change,
  };
  return { records, run: (panelCase: PanelCase = aCase()) => runPanel(panelCase, deps) };
}
