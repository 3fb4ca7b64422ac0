import { Registry } from "prom-client";
import { afterEach, describe, expect, it } from "vitest";
import { createPanelMetrics, measureModels } from "../../../service/verification/metrics.ts";
import { ANSWER_SHAPES } from "../../../service/verification/panel/answers.ts";
import { contentAnswer, forEachRole, modelsOf, wireCritique } from "./panel/a-panel.ts";
import { complete, type ModelServer, refuse, startModelServer } from "./panel/model-server.ts";

let server: ModelServer;
afterEach(() => server.close());

const question = (role: "critic" | "synthesiser") => ({
  ...{ role, model: "m", system: `Role: ${role}`, user: "", shape: ANSWER_SHAPES.critique },
});

describe("measureModels", () => {
  it("counts what became of questions, their tokens and what they cost, by role", async () => {
    const usage = {
      prompt_tokens: 1_000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400 },
    };
    server = await startModelServer((call) => {
      if (call.role !== "critic") return refuse(401, "no");
      // The second answer comes from a server that has the prompt in its cache.
      return call.number === 1 ? contentAnswer(call) : complete(wireCritique(), {}, {}, usage);
    });
    const registry = new Registry();
    const models = measureModels(modelsOf(server.baseUrl), {
      metrics: createPanelMetrics(registry),
      prices: { ...forEachRole({ promptUsd: 2, answerUsd: 10, cachedUsd: 0.5 }), synthesiser: null },
      monotonicMs: () => performance.now(),
    });
    const running = new AbortController().signal;
    await models.ask(question("critic"), running);
    await models.ask(question("critic"), running);
    await models.ask(question("synthesiser"), running);
    await expect(models.ask(question("critic"), AbortSignal.abort(new Error("over")))).rejects.toThrow(
      "over",
    );
    const lines = (await registry.metrics()).split("\n");
    const counted = lines.filter((line) => /_total\{|_count\{/.test(line)).sort();
    expect(counted).toEqual([
      'ahs_panel_call_seconds_count{role="critic"} 3',
      'ahs_panel_call_seconds_count{role="synthesiser"} 1',
      'ahs_panel_calls_total{role="critic",outcome="aborted",mode="none"} 1',
      'ahs_panel_calls_total{role="critic",outcome="text",mode="json_schema"} 2',
      'ahs_panel_calls_total{role="synthesiser",outcome="rejected",mode="json_schema"} 1',
      'ahs_panel_cost_usd_total{role="critic"} 0.0054',
      'ahs_panel_requests_total{role="critic"} 2',
      'ahs_panel_requests_total{role="synthesiser"} 1',
      'ahs_panel_tokens_total{role="critic",kind="cached"} 400',
      'ahs_panel_tokens_total{role="critic",kind="completion"} 200',
      'ahs_panel_tokens_total{role="critic",kind="prompt"} 2000',
      'ahs_panel_tokens_total{role="synthesiser",kind="completion"} 0',
      'ahs_panel_tokens_total{role="synthesiser",kind="prompt"} 0',
    ]);
  });
});
