import type { AskDeps } from "../../service/verification/panel/ask-role.ts";
import { runPanel } from "../../service/verification/panel/run-panel.ts";
import type { PanelOutcome, RoleRecord } from "../../service/verification/panel/types.ts";
import { type CaseRow, verdictRowOf } from "./case-row.ts";
import { type LabelledCase, panelCaseOf } from "./labelled-case.ts";

/** Runs the panel on one case; a run that fails or throws becomes a row that says why. The records have every role's answer. */
export async function runCase(
  labelled: LabelledCase,
  deps: AskDeps & { readonly signal: AbortSignal },
): Promise<{ readonly row: CaseRow; readonly records: readonly RoleRecord[] }> {
  const records: RoleRecord[] = [];
  const keep = async (record: RoleRecord) => {
    records.push(record);
  };
  const startedMs = deps.monotonicMs();
  const begin = async () => undefined;
  const outcome = await runPanel(panelCaseOf(labelled), { ...deps, known: [], begin, keep }).catch(
    (error: unknown): PanelOutcome => {
      deps.signal.throwIfAborted();
      return {
        kind: "failed",
        message: error instanceof Error ? error.message : String(error),
        retryable: false,
      };
    },
  );
  const latencyMs = Math.round(deps.monotonicMs() - startedMs);
  const verdict = verdictRowOf(
    labelled,
    outcome.kind === "failed" ? { error: outcome.message } : outcome.decision,
  );
  const row = { ...verdict, tags: labelled.tags, ...usageOf(records), latency_ms: latencyMs };
  return { row, records };
}

function usageOf(records: readonly RoleRecord[]) {
  const costs = records.map(({ costUsd }) => costUsd);
  const cached = records.map(({ cachedTokens }) => cachedTokens).filter((tokens) => tokens !== null);
  return {
    requests: sum(records.map(({ requests }) => requests)),
    prompt_tokens: sum(records.map(({ promptTokens }) => promptTokens)),
    completion_tokens: sum(records.map(({ completionTokens }) => completionTokens)),
    cached_tokens: cached.length === 0 ? null : sum(cached),
    cost_usd: costs.every((cost) => cost !== null) ? sum(costs) : null,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
