import type { Hex } from "viem";
import type { EvidenceParts } from "../panel/evidence-document.ts";
import type { Decision, RoleFinding, RuleName, Voting } from "../panel/types.ts";

/**
 * Result of a decision, as stored and served. If a reviewer decides a failed verdict, score, confidence, mdi, majority, latency, panel
 * version and prompts are null, and lists are empty.
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
  /** Time from the start of the run to its decision. */
  readonly latency_ms: number | null;
  readonly findings: readonly RoleFinding[];
  readonly methodology: {
    readonly panel_version: string | null;
    readonly prompt_hash: string | null;
    readonly models: EvidenceParts["methodology"]["models"];
    readonly thresholds: EvidenceParts["methodology"]["thresholds"];
    readonly rules_fired: readonly RuleName[];
    /** Absent in decisions before panel-2026.1, and null if the panel made none. */
    readonly voting?: Voting | null;
  };
  /** Reviewer and reason; null for a decision of the panel. */
  readonly review: { readonly reviewed_by: string; readonly reason: string } | null;
};

/** A reviewer's decision on a verdict. `reviewedBy` is the reviewer's name in the evidence. */
export type Review = {
  readonly verdictId: string;
  readonly decision: Exclude<Decision, "HOLD">;
  readonly reason: string;
  readonly reviewedBy: string;
};

/**
 * not_held: the newest decision is not HOLD. undecided: the verdict has no decision and is not a failed one of a job, or does not exist.
 */
export type ReviewOutcome =
  | { readonly kind: "recorded"; readonly run: number; readonly evidenceHash: Hex }
  | { readonly kind: "not_held"; readonly finalVerdict: Decision }
  | { readonly kind: "undecided" };

/** requested: the texts are erased within seconds, or were at `erasedAt`. Every other outcome changed nothing. */
export type ErasureOutcome =
  | { readonly kind: "requested"; readonly requestedAt: Date; readonly erasedAt: Date | null }
  | { readonly kind: "unknown" }
  | { readonly kind: "stranger" }
  /** It is run, or will be, or has no decision yet. */
  | { readonly kind: "open"; readonly status: string }
  /** It failed, and its payer can still have it retried. */
  | { readonly kind: "owed" }
  /** Its job can still end by it. */
  | { readonly kind: "unsettled" };
