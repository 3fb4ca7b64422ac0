import type { Decision, PanelMethodology, RoleFinding, RuleName } from "../panel/types.ts";

/** What a decision adds to its verdict's answer, as it is stored and served. */
export type VerdictResult = {
  readonly final_verdict: Decision;
  readonly final_score: number;
  readonly confidence: number;
  readonly mdi: number;
  readonly domain: string;
  readonly met_criteria: readonly string[];
  readonly unmet_criteria: readonly string[];
  readonly key_objections: readonly string[];
  readonly reasoning: string;
  readonly strongest_dissent: string | null;
  readonly generator_majority: Decision;
  readonly critic_override_applied: boolean;
  readonly zero_history_adjustment_applied: boolean;
  readonly rejection_asymmetry_applied: boolean;
  /** From the start of the run to its decision. */
  readonly latency_ms: number;
  readonly findings: readonly RoleFinding[];
  readonly methodology: {
    readonly panel_version: PanelMethodology["panelVersion"];
    readonly prompt_hash: PanelMethodology["promptHash"];
    readonly models: PanelMethodology["models"];
    readonly thresholds: PanelMethodology["thresholds"];
    readonly rules_fired: readonly RuleName[];
  };
  /** The reviewer's name and reason; null for a decision of the panel. */
  readonly review: { readonly reviewed_by: string; readonly reason: string } | null;
};
