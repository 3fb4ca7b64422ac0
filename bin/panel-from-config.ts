import { randomBytes } from "node:crypto";
import type { Registry } from "prom-client";
import { createPanelMetrics, measureModels } from "../service/verification/metrics.ts";
import type { AskDeps } from "../service/verification/panel/ask-role.ts";
import { createModelProbe, type ModelReachability } from "../service/verification/panel/openai-client.ts";
import { createOpenaiModels, MODEL_RETRIES } from "../service/verification/panel/openai-models.ts";
import { loadPrompts } from "../service/verification/panel/prompts.ts";
import type { PanelSettings } from "./panel-settings.ts";

/**
 * Dependencies of runPanel from the process, without those of a case: models and their limits, markers and a clock. Metrics go to the
 * registry, once. Throws where the base URL or the key cannot be used safely.
 */
export function panelFromConfig(settings: PanelSettings, registry: Registry): AskDeps {
  const { models: names, contextTokens, answerTokens, prices } = settings;
  const { baseUrl, apiKey, temperature, seed, callMs } = settings;
  const monotonicMs = () => performance.now();
  const models = createOpenaiModels({
    ...{ baseUrl, apiKey, temperature, seed, callMs, answerTokens },
    ...{ retry: MODEL_RETRIES, random: Math.random, now: () => new Date() },
  });
  return {
    models: measureModels(models, { metrics: createPanelMetrics(registry), prices, monotonicMs }),
    settings: { models: names, contextTokens, answerTokens, prices, prompts: loadPrompts() },
    newMarker: () => randomBytes(16).toString("hex"),
    monotonicMs,
  };
}

/** Asks whether the panel's model server is there, for health and readiness. */
export function modelProbeFromConfig({ baseUrl, apiKey }: PanelSettings): () => Promise<ModelReachability> {
  return createModelProbe({ baseUrl, apiKey });
}
