import { parseArgs } from "node:util";
import { isUnauthorized, readSettlers } from "../../service/access/payments/http-facilitator.ts";
import { SCHEMES } from "../../service/access/schemes/schemes.ts";
import { loadDeployment } from "../../service/chain/deployments.ts";
import { LOCAL_CHAIN_ID } from "../../service/chain/networks.ts";
import { concern, fault, fine, notConfigured, type Verdict } from "../../service/check.ts";
import { checkDisk } from "../../service/db/checks.ts";
import { judgeTokens } from "../../service/verification/checks.ts";
import { appealsOf } from "../appeal-settings.ts";
import { type Config, parseConfig } from "../config.ts";
import { chainChecks, type OpenedAccounts, openEarly } from "../doctor/chain-checks.ts";
import { databaseChecks } from "../doctor/database-checks.ts";
import { judgeSettings } from "../doctor/judge-settings.ts";
import { type AdvisedCheck, type Finding, runChecks, safeReason } from "../doctor/run-checks.ts";
import { configuredModels, createTokenSearch, modelProbeFromConfig } from "../panel-from-config.ts";
import type { PanelSettings } from "../panel-settings.ts";
import { machineDate } from "../process.ts";

const DEADLINE_MS = 15_000;
const FACILITATOR_MS = 5_000;
const MODEL_MS = 6_000;

/** Usage of `ahs doctor`. */
export const USAGE = `Usage: ahs doctor [--json]
Prints one line for each finding: ok, skip (not configured), warn or fail. Exits with 1 if a check fails.
  --json  print the findings as JSON`;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `ahs doctor [--json]`: looks at everything that the service needs, and prints one line for each finding; true where nothing
 * has failed. Changes nothing, and ends within its deadlines.
 */
export async function doctor({
  env,
  args,
  out,
}: {
  env: Environment;
  args: readonly string[];
  out: (line: string) => void;
}): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { json: { type: "boolean", default: false } } });
  const findings = await examine(env);
  const isHealthy = findings.every(({ level }) => level !== "fail");
  if (values.json) out(JSON.stringify({ healthy: isHealthy, findings }, null, 2));
  else for (const finding of findings) out(lineOf(finding));
  return isHealthy;
}

function lineOf({ level, check, detail, advice }: Finding): string {
  const action = advice === null ? "" : ` → ${advice}`;
  return `${level.padEnd(4)}  ${check}: ${detail}${action}`;
}

async function examine(env: Environment): Promise<readonly Finding[]> {
  const configuration = readSettings(env);
  const named = (verdict: Verdict): Finding => ({ check: "settings", ...verdict });
  if ("faults" in configuration) return configuration.faults.map(named);
  const { config } = configuration;
  const options = { deadlineMs: DEADLINE_MS, reasonOf: safeReason(env) };
  const deployment = readDeployment(config);
  if ("fault" in deployment) return [named(deployment.fault)];
  const database =
    config.databaseUrl === null ? null : databaseChecks(config, config.databaseUrl, config.deploymentFile);
  const { chainId } = deployment;
  const accounts = chainId === null ? null : await openEarly(config, chainId);
  const checks = checksOf(config, { chainId, accounts, database });
  const found = await runChecks(checks, options);
  // A connection that hangs is not waited for: the command ends the process.
  void database?.close().catch(() => undefined);
  return [...settingsOf(config, chainId).map(named), ...found];
}

function readSettings(
  env: Environment,
): { readonly config: Config } | { readonly faults: readonly Verdict[] } {
  try {
    return { config: parseConfig(env) };
  } catch (error) {
    // The message names every fault in a line of its own, and repeats no secret.
    const [, ...lines] = error instanceof Error ? error.message.split("\n") : [];
    if (lines.length === 0) throw error;
    return { faults: lines.map((line) => fault(line.trim(), "see bin/environment.ts")) };
  }
}

function readDeployment(config: Config): { readonly chainId: number | null } | { readonly fault: Verdict } {
  if (config.deploymentFile === null) return { chainId: null };
  try {
    return { chainId: loadDeployment(config.deploymentFile).chainId };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { fault: fault(why.replace(/\s+/g, " "), 'write one with "ahs deploy"') };
  }
}

function settingsOf(config: Config, chainId: number | null): readonly Verdict[] {
  const missing = [
    config.databaseUrl === null ? "DATABASE_URL" : null,
    config.rpcUrl === null ? "RPC_URL" : null,
    config.deploymentFile === null ? "AHS_DEPLOYMENT" : null,
  ].filter((name) => name !== null);
  if (missing.length > 0) return [fault(`${missing.join(", ")} not set`, "every process needs them")];
  const isLocal = chainId === LOCAL_CHAIN_ID;
  return judgeSettings({
    isLocal,
    publicUrl: config.publicUrl,
    payTo: config.payments.payTo,
    hasPanel: config.panel !== null,
    hasPublisher: config.keys.publisher !== null,
    hasReceiptKey: config.receiptKeys.current !== null,
    hasTextKey: config.textKeys.current !== null,
    historySource: config.history.source ?? (isLocal ? "otterscan" : "none"),
    allowRawKeys: config.allowRawKeys,
  });
}

function checksOf(
  config: Config,
  {
    chainId,
    accounts,
    database,
  }: {
    /** Null where no deployment is named, as accounts are. */
    chainId: number | null;
    accounts: OpenedAccounts | null;
    database: ReturnType<typeof databaseChecks> | null;
  },
): readonly AdvisedCheck[] {
  const { rpcUrl, deploymentFile } = config;
  const hasChain = rpcUrl !== null && deploymentFile !== null && accounts !== null;
  return [
    ...(database?.checks ?? []),
    ...(hasChain ? chainChecks(config, { rpcUrl, deploymentFile, accounts }) : []),
    {
      name: "model",
      advice: "see PANEL_BASE_URL and PANEL_API_KEY",
      run: () => checkModel(config.panel, "PANEL"),
    },
    {
      name: "model of appeals",
      advice: "see PANEL_APPEAL_BASE_URL and PANEL_APPEAL_API_KEY",
      run: () => checkModel(appealsOf(config.appeals)?.panel ?? null, "PANEL_APPEAL"),
    },
    {
      name: "control tokens",
      advice: "see PANEL_BASE_URL and PANEL_APPEAL_BASE_URL",
      run: () => checkTokens(config),
    },
    {
      name: "facilitator",
      advice: "see X402_FACILITATOR_URL",
      adviceOn: (error) =>
        isUnauthorized(error) ? "see X402_FACILITATOR_TOKEN, or X402_FACILITATOR_KEY_ID and _SECRET" : null,
      run: () => checkFacilitator(config, chainId),
    },
    { name: "disk", advice: "see AHS_DATA_DIR", run: () => checkDisk(config.dataDir) },
  ];
}

async function checkModel(panel: PanelSettings | null, prefix: string): Promise<Verdict> {
  if (panel === null) return notConfigured();
  const { isReachable, detail } = await modelProbeFromConfig(panel)();
  return isReachable
    ? fine("the model server answers")
    : fault(`the model server: ${detail}`, `see ${prefix}_BASE_URL and ${prefix}_API_KEY`);
}

/** One verdict for each configured model: whether its server reads control tokens within messages. */
async function checkTokens({ panel, appeals }: Config): Promise<readonly Verdict[]> {
  const panels = [panel, appealsOf(appeals)?.panel ?? null].filter((one) => one !== null);
  if (panels.length === 0) return [notConfigured()];
  return Promise.all(
    configuredModels(panels).map(async (model) =>
      judgeTokens(await createTokenSearch({ ...model, callMs: MODEL_MS })(), {
        model: model.model,
        mayRead: panel?.mayReadControlTokens === true,
      }),
    ),
  );
}

async function checkFacilitator({ payments }: Config, chainId: number | null): Promise<Verdict> {
  const { facilitatorUrl, facilitatorAddress, credentials } = payments;
  if (facilitatorUrl === null) {
    return facilitatorAddress === null ? notConfigured() : fine("our own: its balance is reported above");
  }
  const network = `eip155:${chainId}`;
  const asked = { url: facilitatorUrl, credentials, now: machineDate, timeoutMs: FACILITATOR_MS };
  const settlers = await readSettlers(asked, { network, schemes: SCHEMES });
  const [first, ...further] = SCHEMES.map(({ name }) => name);
  const listed = further.filter((name) => settlers.has(name));
  return first !== undefined && settlers.has(first)
    ? fine(
        `settles on ${network}${listed.map((name) => `, ${name}`).join("")}${credentials === null ? "" : ", asked with credentials"}`,
      )
    : concern(`it does not say that it settles on ${network}`, "choose one that does, or settle yourself");
}
