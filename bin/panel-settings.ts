import type { z } from "zod";
import type { TokenPrices } from "../service/verification/panel/ask-role.ts";
import { isSafeBaseUrl } from "../service/verification/panel/openai-client.ts";
import { SECOND_MODEL_ROLE } from "../service/verification/panel/policy.ts";
import { ROLE_NAMES, type RoleName } from "../service/verification/panel/types.ts";
import type { environment } from "./environment.ts";

/** The models of the panel and what they may use. */
export type PanelSettings = NonNullable<ReturnType<typeof panelSettings>>;

type Variables = z.infer<typeof environment>;

/** The panel that the environment configures; null where it names no server or no model. */
export function panelSettings(data: Variables) {
  const { PANEL_BASE_URL: baseUrl, PANEL_MODEL: model } = data;
  if (baseUrl === undefined || model === undefined) return null;
  const apiKey = data.PANEL_API_KEY ?? null;
  const second = secondModel(data, { baseUrl, apiKey });
  const models = ROLE_NAMES.map((role) => {
    const other = role === SECOND_MODEL_ROLE ? second?.model : undefined;
    return [role, other ?? data.PANEL_ROLE_MODELS?.[role] ?? model] as const;
  });
  return {
    baseUrl,
    apiKey,
    models: Object.fromEntries(models) as Record<RoleName, string>,
    second,
    temperature: data.PANEL_TEMPERATURE ?? null,
    seed: data.PANEL_SEED ?? null,
    callMs: data.PANEL_CALL_SECONDS * 1_000,
    contextTokens: data.PANEL_CONTEXT_TOKENS,
    answerTokens: data.PANEL_ANSWER_TOKENS,
    tokensPerDay: data.PANEL_TOKENS_PER_DAY,
    prices: pricesOf(
      data.PANEL_PROMPT_USD_PER_MILLION,
      data.PANEL_ANSWER_USD_PER_MILLION,
      data.PANEL_CACHED_USD_PER_MILLION,
    ),
    earlyStop: data.PANEL_EARLY_STOP === "1",
    limits: {
      unanimousAboveMicroUsd: microUsd(data.PANEL_UNANIMOUS_ABOVE_USD),
      secondModelAboveMicroUsd: microUsd(data.PANEL_SECOND_MODEL_ABOVE_USD),
    },
    controlTokens: data.PANEL_CONTROL_TOKENS,
    mayReadControlTokens: data.PANEL_ALLOW_CONTROL_TOKENS === "1",
    atOnce: data.PANEL_AT_ONCE,
  };
}

function microUsd(usd: number): bigint {
  return BigInt(usd) * 1_000_000n;
}

/** The model that gives one ballot, with its server; null if all roles have models of one server. */
function secondModel(data: Variables, first: { baseUrl: string; apiKey: string | null }) {
  const { PANEL_SECOND_MODEL: model, PANEL_SECOND_BASE_URL: baseUrl } = data;
  if (model === undefined) return null;
  // The first server's key is never sent to another one.
  const server = baseUrl === undefined ? first : { baseUrl, apiKey: data.PANEL_SECOND_API_KEY ?? null };
  const prices = pricesOf(
    data.PANEL_SECOND_PROMPT_USD_PER_MILLION,
    data.PANEL_SECOND_ANSWER_USD_PER_MILLION,
    data.PANEL_SECOND_CACHED_USD_PER_MILLION,
  );
  return { ...server, model, prices };
}

/** US dollars for a million tokens; null if costs are not reported. */
function pricesOf(
  promptUsd: number | undefined,
  answerUsd: number | undefined,
  cachedUsd: number | undefined,
): TokenPrices | null {
  if (promptUsd === undefined || answerUsd === undefined) return null;
  return { promptUsd, answerUsd, cachedUsd: cachedUsd ?? promptUsd };
}

export type Present = Readonly<Record<string, string | undefined>>;

/** Contradictions in the settings of the panel. */
export function panelFaults(present: Present): string[] {
  const faults = [
    ...["PANEL_BASE_URL", "PANEL_SECOND_BASE_URL"].flatMap((name) => urlFaults(name, present[name])),
    ...needFaults(present, NEEDS),
    ...["PANEL", "PANEL_SECOND"].flatMap((prefix) => priceFaults(prefix, present)),
  ];
  const { PANEL_SECOND_MODEL: second, PANEL_ROLE_MODELS: roles = "" } = present;
  if (second !== undefined && new RegExp(`\\b${SECOND_MODEL_ROLE}\\s*=`).test(roles))
    faults.push(`PANEL_ROLE_MODELS: ${SECOND_MODEL_ROLE} is asked of PANEL_SECOND_MODEL`);
  if (second !== undefined && second === present.PANEL_MODEL)
    faults.push("PANEL_SECOND_MODEL: the same as PANEL_MODEL, expected another model");
  const { PANEL_CONTEXT_TOKENS: context = "128000", PANEL_ANSWER_TOKENS: answer = "4096" } = present;
  // The synthesiser reads five answers and may give two.
  if (Number(answer) * 10 > Number(context))
    faults.push("PANEL_ANSWER_TOKENS: may take a tenth of PANEL_CONTEXT_TOKENS at most");
  return faults.map((fault) => `  ${fault}`);
}

/** Variables, and the one that each of them needs. */
export type Needs = readonly (readonly [names: readonly string[], needed: string])[];

const NEEDS: Needs = [
  [["PANEL_BASE_URL"], "PANEL_MODEL"],
  [["PANEL_MODEL", "PANEL_API_KEY", "PANEL_ROLE_MODELS", "PANEL_SECOND_MODEL"], "PANEL_BASE_URL"],
  [["PANEL_SECOND_BASE_URL", "PANEL_SECOND_PROMPT_USD_PER_MILLION"], "PANEL_SECOND_MODEL"],
  [["PANEL_SECOND_API_KEY"], "PANEL_SECOND_BASE_URL"],
  [["PANEL_CACHED_USD_PER_MILLION"], "PANEL_PROMPT_USD_PER_MILLION"],
  [["PANEL_SECOND_CACHED_USD_PER_MILLION"], "PANEL_SECOND_PROMPT_USD_PER_MILLION"],
];

/** Variables that are set without the one that they need. */
export function needFaults(present: Present, needs: Needs): string[] {
  return needs.flatMap(([names, needed]) =>
    names
      .filter((name) => present[name] !== undefined && present[needed] === undefined)
      .map((name) => `${name}: needs ${needed}`),
  );
}

/** Why a base URL of models is not safe; nothing for one that is no URL of the web. */
export function urlFaults(name: string, url: string | undefined): string[] {
  if (url?.startsWith("http") !== true || isSafeBaseUrl(url)) return [];
  return [`${name}: neither https nor http on this machine, or holds a password`];
}

function priceFaults(prefix: string, present: Present): string[] {
  const names = [`${prefix}_PROMPT_USD_PER_MILLION`, `${prefix}_ANSWER_USD_PER_MILLION`];
  const isHalf = names.filter((name) => present[name] !== undefined).length === 1;
  return isHalf ? [`${names.join(" and ")}: one needs the other`] : [];
}
