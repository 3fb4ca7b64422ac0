import type { Decision, RuleName } from "../../service/verification/panel/types.ts";

/** What became of one case, as `--json` writes it. */
export type CaseRow = {
  readonly id: string;
  readonly domain: string;
  readonly tags: readonly string[];
  readonly expected: readonly Decision[];
  /** Null where the run came to no verdict. */
  readonly verdict: Decision | null;
  /** Whether the verdict is one of those expected; null where there is none. */
  readonly is_right: boolean | null;
  readonly final_score: number | null;
  /** 0 to 1. */
  readonly confidence: number | null;
  readonly rules_fired: readonly RuleName[];
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Null where prices are not configured. */
  readonly cost_usd: number | null;
  readonly latency_ms: number;
  /** Why there is no verdict. */
  readonly error: string | null;
};
