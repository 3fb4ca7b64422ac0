import type { Decision, PanelMethodology, RoleFinding, RoleName, RuleName } from "../panel/types.ts";

/**
 * What a decision adds to its verdict's answer, as it is stored and served. A reviewer's decision on a verdict that had failed rests on
 * no result of the panel: score, confidence, mdi, majority, latency, panel version and prompts are null, and lists are empty.
 */
export type VerdictResult = {
  readonly final_verdict: Decision;
  readonly final_score: number | null;
  readonly confidence: number | null;
  readonly mdi: number | null;
  readonly domain: string;
  readonly met_criteria: readonly string[];
  readonly unmet_criteria: readonly string[];
  readonly key_objections: readonly string[];
  readonly reasoning: string;
  readonly strongest_dissent: string | null;
  readonly generator_majority: Decision | null;
  readonly critic_override_applied: boolean;
  readonly zero_history_adjustment_applied: boolean;
  readonly rejection_asymmetry_applied: boolean;
  /** From the start of the run to its decision. */
  readonly latency_ms: number | null;
  readonly findings: readonly RoleFinding[];
  readonly methodology: {
    readonly panel_version: PanelMethodology["panelVersion"] | null;
    readonly prompt_hash: PanelMethodology["promptHash"] | null;
    readonly models: Readonly<Partial<Record<RoleName, string>>>;
    readonly thresholds: PanelMethodology["thresholds"];
    readonly rules_fired: readonly RuleName[];
  };
  /** The reviewer's name and reason; null for a decision of the panel. */
  readonly review: { readonly reviewed_by: string; readonly reason: string } | null;
};
