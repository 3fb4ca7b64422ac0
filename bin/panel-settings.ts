import type { z } from "zod";
import { isSafeBaseUrl } from "../service/verification/panel/openai-client.ts";
import { ROLE_NAMES, type RoleName } from "../service/verification/panel/types.ts";
import type { environment } from "./environment.ts";

/** The models of the panel and what they may use. */
export type PanelSettings = NonNullable<ReturnType<typeof panelSettings>>;

/** The panel that the environment configures; null where it names no server or no model. */
export function panelSettings(data: z.infer<typeof environment>) {
  const { PANEL_BASE_URL: baseUrl, PANEL_MODEL: model } = data;
  if (baseUrl === undefined || model === undefined) return null;
  const { PANEL_PROMPT_USD_PER_MILLION: promptUsd, PANEL_ANSWER_USD_PER_MILLION: answerUsd } = data;
  const models = ROLE_NAMES.map((role) => [role, data.PANEL_ROLE_MODELS?.[role] ?? model] as const);
  return {
    baseUrl,
    apiKey: data.PANEL_API_KEY ?? null,
    models: Object.fromEntries(models) as Record<RoleName, string>,
    temperature: data.PANEL_TEMPERATURE ?? null,
    seed: data.PANEL_SEED ?? null,
    callMs: data.PANEL_CALL_SECONDS * 1_000,
    contextTokens: data.PANEL_CONTEXT_TOKENS,
    answerTokens: data.PANEL_ANSWER_TOKENS,
    tokensPerDay: data.PANEL_TOKENS_PER_DAY,
    /** US dollars for a million tokens; null if costs are not reported. */
    prices: promptUsd === undefined || answerUsd === undefined ? null : { promptUsd, answerUsd },
    atOnce: data.PANEL_AT_ONCE,
  };
}

/** Contradictions in the settings of the panel. */
export function panelFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const faults: string[] = [];
  const { PANEL_BASE_URL: url, PANEL_MODEL: model } = present;
  if (url?.startsWith("http") === true && !isSafeBaseUrl(url))
    faults.push("PANEL_BASE_URL: neither https nor http on this machine, or holds a password");
  if (url !== undefined && model === undefined) faults.push("PANEL_BASE_URL: needs PANEL_MODEL");
  const needUrl = ["PANEL_MODEL", "PANEL_API_KEY", "PANEL_ROLE_MODELS"];
  for (const name of needUrl) {
    if (present[name] !== undefined && url === undefined) faults.push(`${name}: needs PANEL_BASE_URL`);
  }
  const prices = ["PANEL_PROMPT_USD_PER_MILLION", "PANEL_ANSWER_USD_PER_MILLION"];
  if (prices.filter((name) => present[name] !== undefined).length === 1)
    faults.push(`${prices.join(" and ")}: one needs the other`);
  const { PANEL_CONTEXT_TOKENS: context = "128000", PANEL_ANSWER_TOKENS: answer = "4096" } = present;
  // The synthesiser reads five answers and may give two.
  if (Number(answer) * 10 > Number(context))
    faults.push("PANEL_ANSWER_TOKENS: may take a tenth of PANEL_CONTEXT_TOKENS at most");
  return faults.map((fault) => `  ${fault}`);
}
