import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Registry } from "prom-client";
import { parseConfig } from "../../bin/config.ts";
import { panelFromConfig } from "../../bin/panel-from-config.ts";
import type { PanelSettings } from "../../bin/panel-settings.ts";
import { type ScriptedModel, startScriptedModel } from "../../devnet/scripted-model/start-scripted-model.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import type { CaseRow } from "./case-row.ts";
import { type LabelledCase, ownCases, readCases } from "./labelled-case.ts";
import { measurePanel } from "./panel-measures.ts";
import { renderPanelResults } from "./render-panel-results.ts";
import { runAll } from "./run-all.ts";
import { runCase } from "./run-case.ts";

const USAGE = `Usage: npm run eval:panel [-- --cases FILE] [-- --json FILE]
What the panel makes of labelled cases, on the models that PANEL_BASE_URL and PANEL_MODEL name. Exit code 1 when a run came to no verdict.`;

const SCRIPTED_NOTE =
  "No model is configured: the scripted one, which compares words, answers. This checks the harness and says nothing of any model.";

const options = parse();
if (options === null) process.exit(2);
const { panel, scripted } = await chooseModel(options.config);
const names = [...new Set(Object.values(panel.models))].join(", ");
process.stdout.write(`Panel on ${names}, ${options.cases.length} cases, ${panel.atOnce} at once\n`);
if (scripted !== null) process.stdout.write(`${SCRIPTED_NOTE}\n`);
const rows = await evaluate(options.cases, panel);
await scripted?.stop();
const measures = measurePanel(rows);
process.stdout.write(`\n${renderPanelResults(rows, measures)}\n`);
if (options.json !== undefined) {
  const results = { models: panel.models, is_scripted: scripted !== null, rows };
  writeFileSync(options.json, `${JSON.stringify(results, null, 2)}\n`);
}
process.exitCode = measures.broken > 0 ? 1 : 0;

/** Null, with what was wrong on standard error, for options, cases or an environment that do not fit. */
function parse() {
  try {
    const { values } = parseArgs({ options: { cases: { type: "string" }, json: { type: "string" } } });
    const cases = values.cases === undefined ? ownCases() : readCases(values.cases);
    return { cases, json: values.json, config: parseConfig(process.env).panel };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n${USAGE}\n`);
    return null;
  }
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

async function evaluate(cases: readonly LabelledCase[], panel: PanelSettings): Promise<readonly CaseRow[]> {
  const deps = { ...panelFromConfig(panel, new Registry()), signal: new AbortController().signal };
  let done = 0;
  return runAll(cases, panel.atOnce, async (labelled) => {
    const row = await runCase(labelled, deps);
    done += 1;
    process.stderr.write(`${done}/${cases.length} ${row.id}: ${row.verdict ?? row.error}\n`);
    return row;
  });
}
