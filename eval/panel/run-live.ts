import { appendFileSync, writeFileSync } from "node:fs";
import { Registry } from "prom-client";
import { parseConfig } from "../../bin/config.ts";
import { panelFromConfig } from "../../bin/panel-from-config.ts";
import type { PanelSettings } from "../../bin/panel-settings.ts";
import { type ScriptedModel, startScriptedModel } from "../../devnet/scripted-model/start-scripted-model.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { BATCH_MS, createBatchFetch } from "./batch-fetch.ts";
import type { CaseRow } from "./case-row.ts";
import type { LabelledCase } from "./labelled-case.ts";
import type { Options } from "./options.ts";
import { measurePanel } from "./panel-measures.ts";
import { type RecordedCase, recordCase } from "./recorded-case.ts";
import { renderPanelResults } from "./render-panel-results.ts";
import { runAll } from "./run-all.ts";
import { runCase } from "./run-case.ts";

const SCRIPTED_NOTE =
  "No model is configured: the scripted one, which compares words, answers. This checks the harness and says nothing of any model.";

/** Runs the panel on labelled cases and prints the measures. Returns the number of cases without a verdict. */
export async function runLive(options: Extract<Options, { mode: "live" }>): Promise<number> {
  const { cases, json, record, isBatch } = options;
  // Fails before a model is paid for.
  if (record !== undefined) writeFileSync(record, "", { flag: "wx" });
  const { panel, scripted } = await chooseModel(options.config);
  const names = [...new Set(Object.values(panel.models))].join(", ");
  const way = isBatch ? "by batches" : `${panel.atOnce} at once`;
  process.stdout.write(`Panel on ${names}, ${cases.length} cases, ${way}\n`);
  if (scripted !== null) process.stdout.write(`${SCRIPTED_NOTE}\n`);
  const source =
    scripted === null ? "eval:panel" : "eval:panel on the scripted model, which says nothing of any model";
  const runs = await evaluate(cases, { panel, source, record, isBatch });
  await scripted?.stop();
  const rows = runs.map(({ row }) => row);
  const measures = measurePanel(rows);
  process.stdout.write(`\n${renderPanelResults(rows, measures)}\n`);
  if (record !== undefined) writeFileSync(record, linesOf(runs.map(({ recorded }) => recorded)));
  if (json !== undefined) {
    const results = { models: panel.models, is_scripted: scripted !== null, rows };
    writeFileSync(json, `${JSON.stringify(results, null, 2)}\n`);
  }
  return measures.broken;
}

/** A recording as it is written: one case a line. */
export function linesOf(recorded: readonly RecordedCase[]): string {
  return recorded.map((one) => `${JSON.stringify(one)}\n`).join("");
}

/** The models configured, or else the scripted one with the other settings of the environment. */
async function chooseModel(
  configured: PanelSettings | null,
): Promise<{ readonly panel: PanelSettings; readonly scripted: ScriptedModel | null }> {
  if (configured !== null) return { panel: configured, scripted: null };
  const scripted = await startScriptedModel({ chainId: LOCAL_CHAIN_ID });
  const { panel } = parseConfig({
    ...process.env,
    PANEL_BASE_URL: scripted.baseUrl,
    PANEL_MODEL: scripted.model,
  });
  if (panel === null) throw new Error("PANEL_BASE_URL and PANEL_MODEL describe no panel");
  return { panel, scripted };
}

async function evaluate(
  cases: readonly LabelledCase[],
  {
    panel,
    source,
    record,
    isBatch,
  }: { panel: PanelSettings; source: string; record: string | undefined; isBatch: boolean },
): Promise<readonly { readonly row: CaseRow; readonly recorded: RecordedCase }[]> {
  const unused = { registry: new Registry(), now: () => new Date() };
  const { settings, ...ports } = isBatch
    ? panelFromConfig({ ...panel, callMs: BATCH_MS }, unused, createBatchFetch)
    : panelFromConfig(panel, unused);
  // A recording has all answers, so that replays show the effect of an early stop.
  const earlyStop = settings.earlyStop && record === undefined;
  const signal = new AbortController().signal;
  const deps = { ...ports, settings: { ...settings, earlyStop }, signal };
  const { prompts, hasSecondModel } = deps.settings;
  const made = { source, models: panel.models, promptHash: prompts.hash, hasSecondModel };
  let done = 0;
  // The questions of all cases fill a batch.
  return runAll(cases, isBatch ? cases.length : panel.atOnce, async (labelled) => {
    const { row, records } = await runCase(labelled, deps);
    const recorded = recordCase(labelled, { row, records, ...made });
    // A run that breaks off loses no judgment that was paid for.
    if (record !== undefined) appendFileSync(record, linesOf([recorded]));
    done += 1;
    process.stderr.write(`${done}/${cases.length} ${row.id}: ${row.verdict ?? row.error}\n`);
    return { row, recorded };
  });
}
