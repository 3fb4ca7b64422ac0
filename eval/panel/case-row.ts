import type { Decision, RuleName } from "../../service/verification/panel/types.ts";

/** Result of one case, as `--json` writes it. */
export type CaseRow = {
  readonly id: string;
  readonly domain: string;
  readonly tags: readonly string[];
  readonly expected: readonly Decision[];
  /** Null if the run gave no verdict. */
  readonly verdict: Decision | null;
  /** True if the verdict is an expected one; null without a verdict. */
  readonly is_right: boolean | null;
  readonly final_score: number | null;
  /** 0 to 1. */
  readonly confidence: number | null;
  readonly rules_fired: readonly RuleName[];
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Null if no prices are configured. */
  readonly cost_usd: number | null;
  readonly latency_ms: number;
  /** Reason of a missing verdict. */
  readonly error: string | null;
};
