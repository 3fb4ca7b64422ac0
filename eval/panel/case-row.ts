import type { Decision, RuleName, TallyOutcome } from "../../service/verification/panel/types.ts";

/** The verdict on one labelled case, by a run or by a replay. */
export type VerdictRow = {
  readonly id: string;
  readonly domain: string;
  readonly expected: readonly Decision[];
  /** Null if there is no verdict. */
  readonly verdict: Decision | null;
  /** True if the verdict is an expected one; null without a verdict. */
  readonly is_right: boolean | null;
  readonly final_score: number | null;
  /** 0 to 1. */
  readonly confidence: number | null;
  readonly rules_fired: readonly RuleName[];
  /** Reason of a missing verdict. */
  readonly error: string | null;
};

/** Result of one run, as `--json` writes it. */
export type CaseRow = VerdictRow & {
  readonly tags: readonly string[];
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  /** Prompt tokens from a server's cache; null if no server reports them. */
  readonly cached_tokens: number | null;
  /** Null if no prices are configured. */
  readonly cost_usd: number | null;
  readonly latency_ms: number;
};

/** Row of a case, from the tally's decision or the reason of a missing verdict. */
export function verdictRowOf(
  { id, domain, expected }: Pick<VerdictRow, "id" | "domain" | "expected">,
  decision: Extract<TallyOutcome, { kind: "decided" }> | { readonly error: string },
): VerdictRow {
  const labelled = { id, domain, expected };
  if ("error" in decision) {
    const nothing = { verdict: null, is_right: null, final_score: null, confidence: null, rules_fired: [] };
    return { ...labelled, ...nothing, error: decision.error };
  }
  const { verdict, finalScore, confidence, rulesFired } = decision;
  return {
    ...labelled,
    verdict,
    is_right: expected.includes(verdict),
    final_score: finalScore,
    confidence,
    rules_fired: rulesFired,
    error: null,
  };
}
