export const GENERATOR_ROLES = [
  "criteria_auditor",
  "domain_expert",
  "evidence_checker",
  "user_advocate",
] as const;

export type GeneratorRole = (typeof GENERATOR_ROLES)[number];

/** All roles of the panel, in the order of their rounds. */
export const ROLE_NAMES = [...GENERATOR_ROLES, "critic", "synthesiser"] as const;

export type RoleName = (typeof ROLE_NAMES)[number];

/** hold: not enough to adjudicate; no rejection. */
export type Decision = "ALLOW" | "HOLD" | "REJECT";

/** One item that the output is judged by; ids are c1, c2, … in the order of the text. */
export type Criterion = { readonly id: string; readonly text: string };

/** A role's answer, or the reason of its abstention. */
export type RoleAnswer<Answer> =
  | { readonly kind: "answer"; readonly answer: Answer }
  | { readonly kind: "abstained"; readonly reason: string };

/** A role that was not asked, because no answer of it could change the verdict. */
export type NotAsked = { readonly kind: "not_asked"; readonly reason: string };

/** A finding of code about an output: one sentence with a quotation of at most 200 characters. */
export type OutputCheck = {
  readonly name:
    | "padded"
    | "copied_from_spec"
    | "hidden_characters"
    | "not_json"
    | "wrong_language"
    | "empty"
    | "no_content"
    | "misquoted_spec";
  readonly finding: string;
  /** The unmet criterion; null if it concerns the whole output. */
  readonly criterion: string | null;
};

/** A rule of the tally that changed the outcome. */
export type RuleName =
  | "uncheckable_without_criteria"
  | "no_majority"
  | "disagreement"
  | "not_unanimous"
  | "correlated_votes"
  | "fabrication_risk"
  | "spec_gaming"
  | "challenged"
  | "criterion_unmet"
  | "output_padded"
  | "output_copied_from_spec"
  | "output_hidden_characters"
  | "output_without_content"
  | "output_misquotes_spec"
  | "instructions_in_output"
  | "rejection_asymmetry"
  | "zero_history"
  | "synthesis_missing";

/** failed: too few answers to decide. */
export type TallyOutcome =
  | { readonly kind: "failed"; readonly missing: readonly RoleName[] }
  | {
      readonly kind: "decided";
      readonly verdict: Decision;
      /** Whole, 0 to 100. */
      readonly finalScore: number;
      /** 0 to 1, in hundredths. */
      readonly confidence: number;
      /** Population standard deviation of the valid scores over 50. */
      readonly mdi: number;
      /** Independent votes that the ballots behind the confidence are worth, in hundredths of one. */
      readonly effectiveVotes: number;
      readonly generatorMajority: Decision;
      readonly votes: Readonly<Partial<Record<GeneratorRole, Decision>>>;
      readonly criticOverrideApplied: boolean;
      readonly rejectionAsymmetryApplied: boolean;
      readonly zeroHistoryAdjustmentApplied: boolean;
      readonly rulesFired: readonly RuleName[];
    };

export type PanelCase = {
  readonly specText: string;
  readonly acceptanceCriteria: string | null;
  readonly domain: string;
  readonly outputText: string;
  readonly evidenceTexts: readonly string[];
  readonly providerHasScore: boolean;
  readonly released: ReleasedMoney;
};

/** Money that an ALLOW releases, in millionths of a US dollar; `unknown` if its worth is not known, null if it releases none. */
export type ReleasedMoney = bigint | "unknown" | null;

/** Which of the texts a role reads first. */
export type EvidenceOrder = "specification_first" | "output_first";

/** How the votes were counted, as verdict and evidence show it. */
export type Voting = {
  /** Independent votes that the ballots behind the confidence are worth. */
  readonly effective_votes: number;
  /** Null if an ALLOW releases no money; released_usd is null if its worth is not known, which counts as above both amounts. */
  readonly money: {
    readonly released_usd: number | null;
    readonly unanimous_above_usd: number;
    readonly second_model_above_usd: number;
  } | null;
  /** The ballot of another model family; null without one. */
  readonly second_model: { readonly role: GeneratorRole; readonly model: string } | null;
  readonly evidence_order: Readonly<Record<GeneratorRole, EvidenceOrder>>;
  /** Roles that were not asked, since their answer could not change the verdict. */
  readonly not_asked: readonly { readonly role: "critic" | "synthesiser"; readonly reason: string }[];
};

/** One role's part in a run, as stored. */
export type RoleRecord = {
  readonly role: RoleName;
  readonly model: string;
  readonly answer: RoleAnswer<unknown>;
  readonly mode: "json_schema" | "json_object";
  readonly requests: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Part of the prompt tokens that came from the server's cache; null if not reported. It is not stored. */
  readonly cachedTokens: number | null;
  readonly costUsd: number | null;
  readonly latencyMs: number;
};

/** How far a role is in a run, without anything that it said. asked: its question was sent. */
export type RoleProgress = {
  readonly role: RoleName;
  readonly status: "waiting" | "asked" | "answered" | "abstained";
};

/** One role's view as verdict and evidence show it. */
export type RoleFinding = {
  readonly role: RoleName;
  readonly model: string;
  /** A generator's vote; null for critic and synthesiser, and where it abstained. */
  readonly verdict: Decision | null;
  readonly score: number | null;
  readonly confidence: number | null;
  /** `met` is null if it is unclear; the evidence is a quotation of the output, the missing part, or empty. */
  readonly criteria: readonly {
    readonly id: string;
    readonly met: boolean | null;
    readonly evidence: string;
  }[];
  readonly objections: readonly string[];
  /** Why it abstained, or was not asked; null where it answered. */
  readonly abstained: string | null;
};

export type PanelOutcome =
  | {
      readonly kind: "failed";
      readonly message: string;
      /** Whether a later run of the same case may succeed; `once` after a refusal, which seldom passes. */
      readonly retryable: boolean | "once";
    }
  | {
      readonly kind: "decided";
      readonly decision: Extract<TallyOutcome, { kind: "decided" }>;
      readonly criteria: readonly Criterion[];
      /** Texts of criteria, as the specification's lists have them. */
      readonly metCriteria: readonly string[];
      readonly unmetCriteria: readonly string[];
      readonly keyObjections: readonly string[];
      readonly reasoning: string;
      readonly strongestDissent: string | null;
      readonly findings: readonly RoleFinding[];
      readonly checks: readonly OutputCheck[];
      /** Null without a critique. */
      readonly fabricationRisk: "none" | "low" | "medium" | "high" | null;
      readonly methodology: {
        readonly panelVersion: string;
        /** keccak256 over all prompts and schemas. */
        readonly promptHash: string;
        readonly models: Readonly<Record<RoleName, string>>;
        readonly thresholds: { readonly domain: string; readonly confidence: number };
        readonly voting: Voting;
      };
    };
