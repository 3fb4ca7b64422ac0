import { randomBytes } from "node:crypto";
import type { Registry } from "prom-client";
import { createPanelMetrics, measureModels } from "../service/verification/metrics.ts";
import type { AskDeps, PanelRunSettings } from "../service/verification/panel/ask-role.ts";
import {
  createTokenCounter,
  findReadToken,
  type TokenFinding,
} from "../service/verification/panel/find-read-token.ts";
import type { ModelPort } from "../service/verification/panel/model-port.ts";
import {
  createModelProbe,
  type ModelReachability,
  type ModelServer,
} from "../service/verification/panel/openai-client.ts";
import { createOpenaiModels, MODEL_RETRIES } from "../service/verification/panel/openai-models.ts";
import { SECOND_MODEL_ROLE } from "../service/verification/panel/policy.ts";
import { loadPrompts } from "../service/verification/panel/prompts.ts";
import { ROLE_NAMES } from "../service/verification/panel/types.ts";
import type { PanelSettings } from "./panel-settings.ts";

/** How questions reach a server, in place of one request for each. */
type SendTo = (server: ModelServer) => typeof fetch;

type PanelPorts = { readonly registry: Registry; readonly now: () => Date };

type ModelPorts = { readonly now: () => Date; readonly sendTo: SendTo | undefined };

/**
 * Dependencies of runPanel from the process, without those of a case: models and their limits, markers and a clock. Metrics go to the
 * registry, once. Throws where a base URL or a key cannot be used safely.
 */
export function panelFromConfig(
  settings: PanelSettings,
  { registry, now }: PanelPorts,
  sendTo?: SendTo,
): AskDeps {
  return openPanel(settings, { metrics: createPanelMetrics(registry), now }, sendTo);
}

/** The first panel and that of appeals, null without one. They share their metrics. */
export function panelsFromConfig(
  settings: PanelSettings,
  appeal: PanelSettings | null,
  { registry, now }: PanelPorts,
): { first: AskDeps; appeal: AskDeps | null } {
  const ports = { metrics: createPanelMetrics(registry), now };
  return { first: openPanel(settings, ports), appeal: appeal && openPanel(appeal, ports) };
}

function openPanel(
  settings: PanelSettings,
  { metrics, now }: { metrics: ReturnType<typeof createPanelMetrics>; now: () => Date },
  sendTo?: SendTo,
): AskDeps {
  const { models, contextTokens, answerTokens, limits, controlTokens } = settings;
  const prices = pricesOf(settings);
  const monotonicMs = () => performance.now();
  return {
    models: measureModels(openModels(settings, { now, sendTo }), { metrics, prices, monotonicMs }),
    settings: {
      models,
      contextTokens,
      answerTokens,
      prices,
      prompts: loadPrompts(),
      hasSecondModel: settings.second !== null,
      limits,
      earlyStop: settings.earlyStop,
      controlTokens,
    },
    newMarker: () => randomBytes(16).toString("hex"),
    monotonicMs,
  };
}

/** The models of all roles: those of one server, and a second one for its role. */
function openModels({ second, ...settings }: PanelSettings, ports: ModelPorts): ModelPort {
  const first = openServer(settings, settings, ports);
  if (second === null) return first;
  const other = openServer(second, settings, ports);
  return {
    ask: (question, signal) => (question.role === SECOND_MODEL_ROLE ? other : first).ask(question, signal),
  };
}

function openServer(
  { baseUrl, apiKey }: ModelServer,
  { temperature, seed, callMs, answerTokens }: Omit<PanelSettings, "second">,
  { now, sendTo }: ModelPorts,
): ModelPort {
  return createOpenaiModels({
    send: sendTo?.({ baseUrl, apiKey }),
    baseUrl,
    apiKey,
    temperature,
    seed,
    callMs,
    answerTokens,
    retry: MODEL_RETRIES,
    random: Math.random,
    now,
  });
}

function pricesOf({ prices, second }: PanelSettings): PanelRunSettings["prices"] {
  const entries = ROLE_NAMES.map((role) => {
    const isSecond = second !== null && role === SECOND_MODEL_ROLE;
    return [role, isSecond ? second.prices : prices] as const;
  });
  // One entry for each role.
  return Object.fromEntries(entries) as PanelRunSettings["prices"];
}

/** Settings that limit the texts of a case. */
export function panelSizes(settings: PanelSettings) {
  return { ...settings, prices: pricesOf(settings), prompts: loadPrompts() };
}

/** A model of a panel on its server. */
export type ConfiguredModel = ModelServer &
  Pick<PanelSettings, "callMs" | "answerTokens" | "controlTokens"> & { readonly model: string };

/** Every model that the panels ask, once for each server. */
export function configuredModels(panels: readonly PanelSettings[]): readonly ConfiguredModel[] {
  const found = panels.flatMap((panel) => {
    const { callMs, answerTokens, controlTokens, second } = panel;
    const limits = { callMs, answerTokens, controlTokens };
    return ROLE_NAMES.map((role): ConfiguredModel => {
      const { baseUrl, apiKey } = second !== null && role === SECOND_MODEL_ROLE ? second : panel;
      return { baseUrl, apiKey, model: panel.models[role], ...limits };
    });
  });
  return [...new Map(found.map((one) => [`${one.baseUrl} ${one.model}`, one])).values()];
}

/** Creates a search for control tokens that the server of a model reads within messages. A repeat asks only what was not answered. */
export function createTokenSearch(model: ConfiguredModel): () => Promise<TokenFinding> {
  const ask = createTokenCounter(model, model);
  const known = new Map<string, Promise<number | null>>();
  return () => findReadToken(ask, model.controlTokens, known);
}

/** Asks whether the panel's model servers are there, for health and readiness. Reports the first that is not. */
export function modelProbeFromConfig({
  baseUrl,
  apiKey,
  second,
}: PanelSettings): () => Promise<ModelReachability> {
  const first = createModelProbe({ baseUrl, apiKey });
  // A second model of the same server needs no second probe.
  if (second === null || second.baseUrl === baseUrl) return first;
  const other = createModelProbe(second);
  return async () => {
    const [one, two] = await Promise.all([first(), other()]);
    if (!one.isReachable || two.isReachable) return one;
    return { isReachable: false, detail: `the second model: ${two.detail}` };
  };
}
