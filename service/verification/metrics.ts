import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { WaitStatus } from "./escrow/settlement-checks.ts";
import { costOf, type TokenPrices } from "./panel/ask-role.ts";
import type { ModelPort, ModelReply } from "./panel/model-port.ts";
import type { RoleName } from "./panel/types.ts";

type PanelMetrics = {
  readonly callSeconds: Histogram<"role">;
  readonly calls: Counter<"role" | "outcome" | "mode">;
  readonly requests: Counter<"role">;
  readonly tokens: Counter<"role" | "kind">;
  readonly costUsd: Counter<"role">;
};

/** Registers the metrics of the panel's models. Call it once per registry. */
export function createPanelMetrics(registry: Registry): PanelMetrics {
  const registers = [registry];
  return {
    callSeconds: new Histogram({
      name: "ahs_panel_call_seconds",
      help: "Time that a question to a model took, tries included",
      labelNames: ["role"],
      buckets: [0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320],
      registers,
    }),
    calls: new Counter({
      name: "ahs_panel_calls_total",
      help: "Questions to models, by what came of them and how the schema was asked for",
      labelNames: ["role", "outcome", "mode"],
      registers,
    }),
    requests: new Counter({
      name: "ahs_panel_requests_total",
      help: "HTTP requests to the model server",
      labelNames: ["role"],
      registers,
    }),
    tokens: new Counter({
      name: "ahs_panel_tokens_total",
      help: "Tokens of questions (prompt) and answers (completion)",
      labelNames: ["role", "kind"],
      registers,
    }),
    costUsd: new Counter({
      name: "ahs_panel_cost_usd_total",
      help: "What tokens cost in US dollars, where prices are configured",
      labelNames: ["role"],
      registers,
    }),
  };
}

type Measuring = {
  readonly metrics: PanelMetrics;
  readonly prices: TokenPrices | null;
  readonly monotonicMs: () => number;
};

/** Wraps models so that each question is counted and timed; an aborted one counts as aborted. */
export function measureModels(models: ModelPort, { metrics, prices, monotonicMs }: Measuring): ModelPort {
  return {
    ask: async (question, signal) => {
      const { role } = question;
      const startedMs = monotonicMs();
      try {
        const reply = await models.ask(question, signal);
        metrics.calls.inc({ role, outcome: reply.outcome.kind, mode: reply.mode });
        countUse({ metrics, prices }, role, reply);
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

function countUse(
  { metrics, prices }: Pick<Measuring, "metrics" | "prices">,
  role: RoleName,
  reply: ModelReply,
): void {
  metrics.requests.inc({ role }, reply.requests);
  metrics.tokens.inc({ role, kind: "prompt" }, reply.promptTokens);
  metrics.tokens.inc({ role, kind: "completion" }, reply.completionTokens);
  if (prices !== null) metrics.costUsd.inc({ role }, costOf(reply, prices));
}

export type VerdictMetrics = {
  readonly queueDepth: Gauge;
  readonly queueAgeSeconds: Gauge;
  readonly processing: Gauge;
  readonly tokensLeft: Gauge;
  readonly runs: Counter<"outcome">;
  readonly runSeconds: Histogram;
};

/** Registers the metrics of the verdict queue. Call it once per registry. */
export function createVerdictMetrics(registry: Registry): VerdictMetrics {
  const registers = [registry];
  return {
    queueDepth: new Gauge({
      name: "ahs_verdict_queue_depth",
      help: "Verdicts that wait to be run",
      registers,
    }),
    queueAgeSeconds: new Gauge({
      name: "ahs_verdict_queue_age_seconds",
      help: "How long the most overdue verdict has been due",
      registers,
    }),
    processing: new Gauge({
      name: "ahs_verdicts_processing",
      help: "Verdicts that are being run",
      registers,
    }),
    tokensLeft: new Gauge({
      name: "ahs_panel_tokens_left",
      help: "Tokens left of what the panel may use until the end of the UTC day",
      registers,
    }),
    runs: new Counter({
      name: "ahs_verdict_runs_total",
      help: "Tries to run a verdict, by what came of them",
      labelNames: ["outcome"],
      registers,
    }),
    runSeconds: new Histogram({
      name: "ahs_verdict_run_seconds",
      help: "Time from the first try of a run to its decision",
      buckets: [0.1, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900, 3_600],
      registers,
    }),
  };
}

/** Outcomes of signed verdicts and of requests for held ones. */
export type EscrowOutcome =
  | "signed"
  | "confirmed"
  | "refused"
  | "expired"
  | "sent_again"
  | "rerun_asked"
  | "review_told"
  | "expired_on_hold";

export type EscrowMetrics = {
  readonly outcomes: Counter<"outcome">;
  readonly failures: Counter<"at">;
  readonly openSettlements: Gauge;
  readonly oldestOpenSeconds: Gauge;
  readonly oldestUnsignedSeconds: Gauge<"status">;
  readonly holds: Gauge<"kind">;
};

/** Statuses of waiting decisions; each has a gauge. */
export const WAIT_STATUSES: readonly WaitStatus[] = [
  "waiting",
  "waiting_for_submission",
  "waiting_for_finality",
  "suspended",
  "unbound",
  "refused",
];

/** Registers the metrics of escrow settlement. Call it once per registry. */
export function createEscrowMetrics(registry: Registry): EscrowMetrics {
  const registers = [registry];
  return {
    outcomes: new Counter({
      name: "ahs_escrow_outcomes_total",
      help: "Signed verdicts by what became of them, and what held jobs asked for",
      labelNames: ["outcome"],
      registers,
    }),
    failures: new Counter({
      name: "ahs_escrow_failures_total",
      help: "Verdicts that could not be looked at, by what failed; they are looked at again",
      labelNames: ["at"],
      registers,
    }),
    openSettlements: new Gauge({
      name: "ahs_escrow_open_settlements",
      help: "Signed verdicts that no final event confirms and that may yet be carried out",
      registers,
    }),
    oldestOpenSeconds: new Gauge({
      name: "ahs_escrow_oldest_open_seconds",
      help: "Age of the oldest signed verdict that no final event confirms; 0 where there is none",
      registers,
    }),
    oldestUnsignedSeconds: new Gauge({
      name: "ahs_escrow_oldest_unsigned_seconds",
      help: "Age of the oldest decision about a bound job that waits to be signed, by what it waits for; 0 where there is none",
      labelNames: ["status"],
      registers,
    }),
    holds: new Gauge({
      name: "ahs_escrow_holds",
      help: "Jobs on HOLD: all that are open, and those whose reviewer was asked to decide",
      labelNames: ["kind"],
      registers,
    }),
  };
}
