import type { Registry } from "prom-client";
import { metricsOf } from "../db/metrics.ts";
import type { WaitStatus } from "./escrow/settlement-checks.ts";
import { costOf, type PanelRunSettings } from "./panel/ask-role.ts";
import type { ModelPort } from "./panel/model-port.ts";

export function createPanelMetrics(registry: Registry) {
  const { counter, histogram } = metricsOf(registry);
  return {
    callSeconds: histogram(
      "ahs_panel_call_seconds",
      "Time that a question to a model took, tries included",
      [0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320],
      "role",
    ),
    calls: counter(
      "ahs_panel_calls_total",
      "Questions to models, by what came of them and how the schema was asked for",
      "role",
      "outcome",
      "mode",
    ),
    requests: counter("ahs_panel_requests_total", "HTTP requests to the model server", "role"),
    tokens: counter(
      "ahs_panel_tokens_total",
      "Tokens of questions (prompt) and answers (completion), and those of questions that a server had cached (cached)",
      "role",
      "kind",
    ),
    costUsd: counter(
      "ahs_panel_cost_usd_total",
      "What tokens cost in US dollars, where prices are configured",
      "role",
    ),
  };
}

/** Wraps models so that each question is counted and timed; an aborted one counts as aborted. */
export function measureModels(
  models: ModelPort,
  {
    metrics,
    prices,
    monotonicMs,
  }: {
    metrics: ReturnType<typeof createPanelMetrics>;
    prices: PanelRunSettings["prices"];
    monotonicMs: () => number;
  },
): ModelPort {
  return {
    ask: async (question, signal) => {
      const { role } = question;
      const startedMs = monotonicMs();
      try {
        const reply = await models.ask(question, signal);
        metrics.calls.inc({ role, outcome: reply.outcome.kind, mode: reply.mode });
        metrics.requests.inc({ role }, reply.requests);
        metrics.tokens.inc({ role, kind: "prompt" }, reply.promptTokens);
        metrics.tokens.inc({ role, kind: "completion" }, reply.completionTokens);
        if (reply.cachedTokens !== null) metrics.tokens.inc({ role, kind: "cached" }, reply.cachedTokens);
        const costUsd = costOf(reply, prices[role]);
        if (costUsd !== null) metrics.costUsd.inc({ role }, costUsd);
        return reply;
      } catch (error) {
        metrics.calls.inc({ role, outcome: "aborted", mode: "none" });
        throw error;
      } finally {
        metrics.callSeconds.observe({ role }, (monotonicMs() - startedMs) / 1_000);
      }
    },
  };
}

export function createVerdictMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry);
  return {
    queueDepth: gauge("ahs_verdict_queue_depth", "Verdicts that wait to be run"),
    queueAgeSeconds: gauge("ahs_verdict_queue_age_seconds", "How long the most overdue verdict has been due"),
    processing: gauge("ahs_verdicts_processing", "Verdicts that are being run"),
    tokensLeft: gauge(
      "ahs_panel_tokens_left",
      "Tokens left of what the panel may use until the end of the UTC day",
    ),
    runs: counter("ahs_verdict_runs_total", "Tries to run a verdict, by what came of them", "outcome"),
    runSeconds: histogram(
      "ahs_verdict_run_seconds",
      "Time from the first try of a run to its decision",
      [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900, 3_600],
    ),
    verdictTokens: histogram(
      "ahs_verdict_tokens",
      "Tokens that a decision of the panel took, all attempts included",
      [2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000],
    ),
    verdictCostUsd: histogram(
      "ahs_verdict_cost_usd",
      "What a decision of the panel cost in US dollars, where prices are configured",
      [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5, 20],
    ),
  };
}

/** Statuses of waiting decisions; each has a gauge. */
export const WAIT_STATUSES: readonly WaitStatus[] = [
  "waiting",
  "waiting_for_submission",
  "waiting_for_finality",
  "appealable",
  "appealed",
  "suspended",
  "unbound",
  "refused",
];

export function createEscrowMetrics(registry: Registry) {
  const { counter, gauge } = metricsOf(registry);
  return {
    outcomes: counter(
      "ahs_escrow_outcomes_total",
      "Signed verdicts by what became of them, and what held jobs asked for",
      "outcome",
    ),
    failures: counter(
      "ahs_escrow_failures_total",
      "Verdicts that could not be processed, by the step that failed; they are tried again",
      "at",
    ),
    openSettlements: gauge(
      "ahs_escrow_open_settlements",
      "Signed verdicts that no final event confirms and that may yet be carried out",
    ),
    oldestOpenSeconds: gauge(
      "ahs_escrow_oldest_open_seconds",
      "Age of the oldest signed verdict that no final event confirms; 0 if there is no such verdict",
    ),
    oldestUnsignedSeconds: gauge(
      "ahs_escrow_oldest_unsigned_seconds",
      "Age of the oldest decision about a bound job that waits to be signed, by what it waits for; 0 if there is no such verdict",
      "status",
    ),
    appeals: gauge("ahs_appeals", "Open appeals, and those of the last 90 days by their end", "state"),
    holds: gauge(
      "ahs_escrow_holds",
      "Jobs on HOLD: all that are open, and those whose reviewer was asked to decide",
      "kind",
    ),
  };
}
