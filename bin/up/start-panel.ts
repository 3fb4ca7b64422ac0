import { setTimeout as sleep } from "node:timers/promises";
import { SCRIPTED_MODEL } from "../../devnet/scripted-model/completion.ts";
import { ROLE_NAMES } from "../../service/verification/panel/types.ts";
import type { Config } from "../config.ts";
import type { PanelSettings } from "../panel-settings.ts";
import { superviseChild } from "../supervisor/child-process.ts";
import { freePort } from "./free-port.ts";
import type { Rising } from "./start-database.ts";

const HOST = new URL("../local/scripted-model.ts", import.meta.url).pathname;
const POLL_MS = 100;
const REQUEST_MS = 1_000;

export type Panel = {
  /** Variables of the environment by which worker and API know the models. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where the scripted model is; null where another is configured. */
  readonly scriptedUrl: string | null;
};

/** The panel's models: those that are configured, or the scripted one, started on loopback and again whenever it dies. */
export async function startPanel(rising: Rising, config: Config, rpcUrl: string): Promise<Panel> {
  if (config.panel !== null) return { settings: panelVariables(config.panel), scriptedUrl: null };
  const port = await freePort();
  const spec = {
    name: "scripted-model",
    script: HOST,
    args: ["--rpc-url", rpcUrl, "--port", String(port)],
    env: {},
    logFile: rising.files.logFile("scripted-model"),
  };
  rising.progress.show("starting the scripted model", 0, 1);
  rising.children.push(
    superviseChild(spec, (reason) => process.stderr.write(`${reason} (log: ${spec.logFile})\n`)),
  );
  const scriptedUrl = `http://127.0.0.1:${port}`;
  while (!(await answers(`${scriptedUrl}/v1/models`)))
    await sleep(POLL_MS, undefined, { signal: rising.signal });
  rising.progress.show("starting the scripted model", 1, 1);
  return { settings: { PANEL_BASE_URL: `${scriptedUrl}/v1`, PANEL_MODEL: SCRIPTED_MODEL }, scriptedUrl };
}

/** The settings of a panel as the variables that they came from. */
function panelVariables(panel: PanelSettings): Record<string, string> {
  const set = {
    PANEL_API_KEY: panel.apiKey,
    PANEL_TEMPERATURE: panel.temperature,
    PANEL_SEED: panel.seed,
    PANEL_PROMPT_USD_PER_MILLION: panel.prices?.promptUsd ?? null,
    PANEL_ANSWER_USD_PER_MILLION: panel.prices?.answerUsd ?? null,
  };
  const given = Object.entries(set).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)]],
  );
  return {
    ...Object.fromEntries(given),
    PANEL_BASE_URL: panel.baseUrl,
    PANEL_MODEL: panel.models.synthesiser,
    PANEL_ROLE_MODELS: ROLE_NAMES.map((role) => `${role}=${panel.models[role]}`).join(","),
    PANEL_CALL_SECONDS: String(panel.callMs / 1_000),
    PANEL_CONTEXT_TOKENS: String(panel.contextTokens),
    PANEL_ANSWER_TOKENS: String(panel.answerTokens),
    PANEL_TOKENS_PER_DAY: String(panel.tokensPerDay),
    PANEL_AT_ONCE: String(panel.atOnce),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS) })).ok;
  } catch {
    return false;
  }
}
