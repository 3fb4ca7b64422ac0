import type { ScriptedModel } from "../../../../../devnet/scripted-model/start-scripted-model.ts";
import {
  createOpenaiModels,
  MODEL_RETRIES,
} from "../../../../../service/verification/panel/openai-models.ts";
import { loadPrompts } from "../../../../../service/verification/panel/prompts.ts";
import { runPanel } from "../../../../../service/verification/panel/run-panel.ts";
import {
  type PanelCase,
  type PanelOutcome,
  ROLE_NAMES,
  type RoleName,
} from "../../../../../service/verification/panel/types.ts";

const CALL_MS = 20_000;

/** Runs the panel on the scripted model through the real client; every call's marker is the one given. */
export function panelOn(
  model: ScriptedModel,
  marker: string,
  callMs = CALL_MS,
): (panelCase: PanelCase) => Promise<PanelOutcome> {
  const models = createOpenaiModels({
    baseUrl: model.baseUrl,
    apiKey: null,
    temperature: null,
    seed: null,
    callMs,
    answerTokens: 4_096,
    retry: MODEL_RETRIES,
    random: () => 0,
    now: () => new Date(),
  });
  const names = ROLE_NAMES.map((role) => [role, model.model] as const);
  const settings = {
    models: Object.fromEntries(names) as Record<RoleName, string>,
    contextTokens: 128_000,
    answerTokens: 4_096,
    prices: null,
    prompts: loadPrompts(),
  };
  return (panelCase) =>
    runPanel(panelCase, {
      models,
      settings,
      newMarker: () => marker,
      monotonicMs: () => performance.now(),
      known: [],
      begin: async () => undefined,
      keep: async () => undefined,
      signal: new AbortController().signal,
    });
}

type Calls = {
  readonly roles: Readonly<Record<string, { readonly calls: number; readonly obeyed: number }>>;
  readonly system_messages: Readonly<Record<string, number>>;
};

/** How often the model obeyed since it was asked last, and how many system messages each role has had. */
export async function takeCalls(model: ScriptedModel) {
  const url = `${model.origin}/scripted/calls`;
  const { roles, system_messages } = (await (await fetch(url)).json()) as Calls;
  await fetch(url, { method: "DELETE" });
  const obeyed = Object.entries(roles).flatMap(([role, counts]) => (counts.obeyed > 0 ? [role] : []));
  return { obeyed, systemMessages: Math.max(0, ...Object.values(system_messages)) };
}
