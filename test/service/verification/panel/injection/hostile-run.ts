import type { ScriptedModel } from "../../../../../devnet/scripted-model/start-scripted-model.ts";
import { MODEL_RETRIES } from "../../../../../service/verification/panel/openai-models.ts";
import {
  type PanelCase,
  type PanelOutcome,
  ROLE_NAMES,
  type RoleName,
} from "../../../../../service/verification/panel/types.ts";
import { aRun, modelsOf, SETTINGS } from "../a-panel.ts";

/** Runs the panel on the scripted model through the real client; every call's marker is the one given. */
export function panelOn(
  model: ScriptedModel,
  marker: string,
  callMs = 20_000,
): (panelCase: PanelCase) => Promise<PanelOutcome> {
  const models = modelsOf(model.baseUrl, { apiKey: null, callMs, retry: MODEL_RETRIES });
  const names = ROLE_NAMES.map((role) => [role, model.model] as const);
  const settings = { ...SETTINGS, models: Object.fromEntries(names) as Record<RoleName, string> };
  return aRun(models, { settings, newMarker: () => marker }).run;
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
