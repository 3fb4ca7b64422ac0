import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../bin/config.ts";
import { KEY_SUFFIXES, ROLE_PREFIXES } from "../../bin/keys/key-variables.ts";
import type { PanelSettings } from "../../bin/panel-settings.ts";
import { AHS_SCRIPT, freePortFrom, superviseChild } from "../../bin/supervisor/child-process.ts";
import { type Database, migrateDatabase } from "../../service/db/database.ts";
import { ROLES, type RoleName } from "../../service/db/role-rights.ts";
import { createRoles, putLogin } from "../../service/db/roles.ts";
import type { ModelServer } from "../../service/verification/panel/openai-client.ts";
import { SECOND_MODEL_ROLE } from "../../service/verification/panel/policy.ts";
import { ROLE_NAMES } from "../../service/verification/panel/types.ts";
import { privateKeyOf, roleAccounts } from "../accounts.ts";
import { SCRIPTED_APPEAL_MODEL, SCRIPTED_MODEL } from "../scripted-model/completion.ts";
import { type LocalFiles, receiptKeys, textKeys, writeSecret } from "./local-files.ts";
import type { Rising } from "./start-chain.ts";

const LOCAL_POLLING_MS = 200;
/** On the local chain a score follows its wallet within seconds. */
const LOCAL_RESCORE_SECONDS = 20;

/** Starts indexer, worker and API, each in a process of its own that is started again when it dies. */
export async function startServices(
  rising: Rising,
  config: Config,
  databaseUrls: ProcessUrls,
): Promise<{
  baseUrl: string;
  indexUrl: string;
  /** Where the scripted model is that verdicts come from; null where another is configured. */
  scriptedUrl: string | null;
}> {
  const { files, children } = rising;
  const indexPort = await freePortFrom(config.indexPort);
  const panel = await startPanel(rising, config, required(config.rpcUrl));
  const env = { ...sharedSettings(config), ...panel.settings, INDEX_PORT: String(indexPort) };
  for (const name of ["index", "work", "serve"] as const) {
    const texts = textKeys(config, files);
    const own = {
      index: {},
      work: { ...workerKeys(), ...texts },
      serve: { ...receiptKeys(config, files), ...texts },
    }[name];
    const spec = {
      name,
      script: AHS_SCRIPT,
      args: [name],
      env: { ...env, ...own, DATABASE_URL: databaseUrls[name] },
      logFile: files.logFile(name),
    };
    children.push(
      superviseChild(spec, (reason) => process.stderr.write(`${reason} (log: ${spec.logFile})\n`)),
    );
  }
  return {
    baseUrl: `http://${config.host}:${config.port}`,
    indexUrl: `http://127.0.0.1:${indexPort}`,
    scriptedUrl: panel.scriptedUrl,
  };
}

/** Settings of every service. */
function sharedSettings(config: Config): Record<string, string> {
  const { publisher, signer, facilitator, payee } = roleAccounts();
  return {
    RPC_URL: required(config.rpcUrl),
    AHS_DEPLOYMENT: required(config.deploymentFile),
    AHS_DATA_DIR: config.dataDir,
    HOST: config.host,
    PORT: String(config.port),
    LOG_LEVEL: config.logLevel,
    IP_RATE_PER_MINUTE: String(config.ipRatePerMinute),
    POLLING_INTERVAL_MS: String(LOCAL_POLLING_MS),
    RESCORE_INTERVAL_SECONDS: String(LOCAL_RESCORE_SECONDS),
    PROBE_LOOPBACK: "1",
    IPFS_GATEWAY_URL: config.ipfsGateway,
    ...noKeys(),
    PUBLISHER_PRIVATE_KEY: privateKeyOf(publisher),
    SIGNER_PRIVATE_KEY: privateKeyOf(signer),
    X402_PAY_TO: payee.address,
    X402_FACILITATOR_ADDRESS: facilitator.address,
    ...historySettings(config),
    ...labelsSettings(config),
    RETENTION_DAYS: String(config.retentionDays),
    ENROLMENTS_PER_DAY: String(config.enrolment.perDay),
    ENROLMENT_MAX_FEE_WEI: String(config.enrolment.maxFeeWei),
    FEEDBACK_DAILY_WEI: LOCAL_FEEDBACK_WEI,
  };
}

/** An empty variable is not set: keys of this shell are meant for another chain. */
function noKeys(): Record<string, string> {
  const names = Object.values(ROLE_PREFIXES).flatMap((prefix) =>
    Object.values(KEY_SUFFIXES).map((suffix) => `${prefix}${suffix}`),
  );
  return Object.fromEntries(names.map((name) => [name, ""]));
}

/** The server asks for settlements and verdicts; only the worker can sign them. */
function workerKeys(): Record<string, string> {
  const { facilitator, relayer, verdictSigner } = roleAccounts();
  return {
    FACILITATOR_PRIVATE_KEY: privateKeyOf(facilitator),
    RELAYER_PRIVATE_KEY: privateKeyOf(relayer),
    VERDICT_SIGNER_PRIVATE_KEY: privateKeyOf(verdictSigner),
  };
}

/** Settings of the sources of history; without them the services ask the local chain's node. */
function historySettings({ history, historyBatch }: Config): Record<string, string> {
  const set = {
    HISTORY_SOURCE: history.source,
    HISTORY_URL: history.url,
    HISTORY_API_KEY: history.apiKey,
    HISTORY_BATCH_SOURCE: historyBatch.source,
    HISTORY_BATCH_URL: historyBatch.url,
    HISTORY_BATCH_API_KEY: historyBatch.apiKey,
  };
  const given = Object.entries(set).flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return { ...Object.fromEntries(given), HISTORY_PAGE_SIZE: String(history.pageSize) };
}

/** Settings of the provider of labels. */
function labelsSettings({ labels: { url, apiKey, provider } }: Config): Record<string, string> {
  return {
    LABELS_PROVIDER: provider,
    ...(url === null ? {} : { LABELS_URL: url }),
    ...(apiKey === null ? {} : { LABELS_API_KEY: apiKey }),
  };
}

function required(value: string | null): string {
  if (value === null) throw new Error("database, chain and deployment come before the services");
  return value;
}

const HOST = new URL("./scripted-model.ts", import.meta.url).pathname;
const SCRIPTED_MODEL_PORT = 4_030;
/** Long enough to appeal by hand, and short enough to watch a job to its end. */
const LOCAL_APPEAL_SECONDS = 30;
/** 0.05 of the coin: at 1 gwei, an entry for each agent of the local chain. */
const LOCAL_FEEDBACK_WEI = "50000000000000000";
const POLL_MS = 100;
const REQUEST_MS = 1_000;

/** The panel's models: those that are configured, or the scripted one, started on loopback and again whenever it dies. */
export async function startPanel(
  rising: Rising,
  config: Config,
  rpcUrl: string,
): Promise<{
  /** Variables of the environment by which worker and API know the models. */
  settings: Readonly<Record<string, string>>;
  /** Where the scripted model is; null where another is configured. */
  scriptedUrl: string | null;
}> {
  if (config.panel !== null)
    return {
      settings: { ...panelVariables(config.panel), ...appealVariables(config.appeals) },
      scriptedUrl: null,
    };
  const port = await freePortFrom(SCRIPTED_MODEL_PORT);
  const spec = {
    name: "scripted-model",
    script: HOST,
    args: ["--rpc-url", rpcUrl, "--port", String(port)],
    env: {},
    logFile: rising.files.logFile("scripted-model"),
  };
  rising.progress.show("model", 0, 1);
  rising.children.push(
    superviseChild(spec, (reason) => process.stderr.write(`${reason} (log: ${spec.logFile})\n`)),
  );
  const scriptedUrl = `http://127.0.0.1:${port}`;
  while (!(await answers(`${scriptedUrl}/v1/models`)))
    await sleep(POLL_MS, undefined, { signal: rising.signal });
  rising.progress.show("model", 1, 1);
  const baseUrl = `${scriptedUrl}/v1`;
  const appeals = { windowSeconds: config.appeals.windowSeconds ?? LOCAL_APPEAL_SECONDS };
  const panel = { baseUrl, model: SCRIPTED_APPEAL_MODEL, apiKey: null };
  return {
    settings: {
      PANEL_BASE_URL: baseUrl,
      PANEL_MODEL: SCRIPTED_MODEL,
      ...appealVariables({ ...appeals, panel }),
    },
    scriptedUrl,
  };
}

function appealVariables({
  windowSeconds,
  panel,
}: {
  windowSeconds: number | null;
  panel: (ModelServer & { model: string }) | null;
}): Record<string, string> {
  return {
    APPEAL_WINDOW_SECONDS: String(windowSeconds ?? 0),
    ...(panel === null ? {} : { PANEL_APPEAL_BASE_URL: panel.baseUrl, PANEL_APPEAL_MODEL: panel.model }),
    ...(panel === null || panel.apiKey === null ? {} : { PANEL_APPEAL_API_KEY: panel.apiKey }),
  };
}

/** The settings of a panel as the variables that they came from. */
function panelVariables(panel: PanelSettings): Record<string, string> {
  const { second } = panel;
  // A second model on the first server has no address of its own.
  const secondServer = second?.baseUrl === panel.baseUrl ? null : second;
  const roles = ROLE_NAMES.filter((role) => second === null || role !== SECOND_MODEL_ROLE);
  const set = {
    PANEL_API_KEY: panel.apiKey,
    PANEL_SECOND_BASE_URL: secondServer?.baseUrl ?? null,
    PANEL_SECOND_API_KEY: secondServer?.apiKey ?? null,
    PANEL_SECOND_MODEL: second?.model ?? null,
    PANEL_SECOND_PROMPT_USD_PER_MILLION: second?.prices?.promptUsd ?? null,
    PANEL_SECOND_ANSWER_USD_PER_MILLION: second?.prices?.answerUsd ?? null,
    PANEL_SECOND_CACHED_USD_PER_MILLION: second?.prices?.cachedUsd ?? null,
    PANEL_TEMPERATURE: panel.temperature,
    PANEL_SEED: panel.seed,
    PANEL_PROMPT_USD_PER_MILLION: panel.prices?.promptUsd ?? null,
    PANEL_ANSWER_USD_PER_MILLION: panel.prices?.answerUsd ?? null,
    PANEL_CACHED_USD_PER_MILLION: panel.prices?.cachedUsd ?? null,
  };
  const given = Object.entries(set).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)]],
  );
  return {
    ...Object.fromEntries(given),
    PANEL_BASE_URL: panel.baseUrl,
    PANEL_MODEL: panel.models.synthesiser,
    PANEL_ROLE_MODELS: roles.map((role) => `${role}=${panel.models[role]}`).join(","),
    PANEL_CALL_SECONDS: String(panel.callMs / 1_000),
    PANEL_CONTEXT_TOKENS: String(panel.contextTokens),
    PANEL_ANSWER_TOKENS: String(panel.answerTokens),
    PANEL_TOKENS_PER_DAY: String(panel.tokensPerDay),
    PANEL_EARLY_STOP: panel.earlyStop ? "1" : "0",
    PANEL_UNANIMOUS_ABOVE_USD: String(panel.limits.unanimousAboveMicroUsd / 1_000_000n),
    PANEL_SECOND_MODEL_ABOVE_USD: String(panel.limits.secondModelAboveMicroUsd / 1_000_000n),
    PANEL_AT_ONCE: String(panel.atOnce),
    PANEL_CONTROL_TOKENS: panel.controlTokens.join(" "),
    PANEL_ALLOW_CONTROL_TOKENS: panel.mayReadControlTokens ? "1" : "0",
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(REQUEST_MS) })).ok;
  } catch {
    return false;
  }
}

/** With which URL each kind of process reaches the database. */
export type ProcessUrls = { readonly index: string; readonly serve: string; readonly work: string };

/** One URL for all: roles of an external database are its owner's to make. */
export function sameUrlForAll(databaseUrl: string): ProcessUrls {
  return { index: databaseUrl, serve: databaseUrl, work: databaseUrl };
}

/**
 * Migrates the database that we run ourselves, and has a user for each kind of process, with no more rights than it needs;
 * their passwords are random and kept in the data directory.
 */
export async function urlsOfLeastRights(
  db: Database,
  files: LocalFiles,
  databaseUrl: string,
): Promise<ProcessUrls> {
  const passwords = storedPasswords(files);
  const client = await db.$client.connect();
  try {
    await createRoles(client);
    for (const role of ROLES) {
      await putLogin(client, { name: userOf(role), role, password: passwords[role] });
    }
  } finally {
    client.release();
  }
  await migrateDatabase(db);
  const urlOf = (role: RoleName) => {
    const url = new URL(databaseUrl);
    url.username = userOf(role);
    url.password = passwords[role];
    return url.href;
  };
  return { index: urlOf("ahs_index"), serve: urlOf("ahs_serve"), work: urlOf("ahs_work") };
}

function userOf(role: RoleName): string {
  return `${role}_user`;
}

function storedPasswords({ databaseUsersFile }: LocalFiles): Record<RoleName, string> {
  if (!existsSync(databaseUsersFile)) {
    const fresh = Object.fromEntries(ROLES.map((role) => [role, randomBytes(18).toString("base64url")]));
    writeSecret(databaseUsersFile, `${JSON.stringify(fresh)}\n`);
  }
  return JSON.parse(readFileSync(databaseUsersFile, "utf8")) as Record<RoleName, string>;
}
