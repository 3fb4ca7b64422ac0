import { Counter, Histogram, type Registry } from "prom-client";
import { costOf, type TokenPrices } from "./ask-role.ts";
import type { ModelPort, ModelReply } from "./model-port.ts";
import type { RoleName } from "./types.ts";

export type PanelMetrics = {
  readonly callSeconds: Histogram<"role">;
  readonly calls: Counter<"role" | "outcome" | "mode">;
  readonly requests: Counter<"role">;
  readonly tokens: Counter<"role" | "kind">;
  readonly costUsd: Counter<"role">;
};

/** Registers the metrics of the panel's models; once per registry, since names in it are unique. */
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

export type Measuring = {
  readonly metrics: PanelMetrics;
  readonly prices: TokenPrices | null;
  readonly monotonicMs: () => number;
};

/** The same models, each question of which is counted and timed; one that is aborted counts as such. */
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
