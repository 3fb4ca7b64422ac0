import { bytesToHex, type Hex } from "viem";
import type { HDAccount } from "viem/accounts";
import { roleAccounts } from "../../devnet/accounts.ts";
import type { Config } from "../config.ts";
import { KEY_SUFFIXES, ROLE_PREFIXES } from "../keys/key-variables.ts";
import { AHS_SCRIPT, superviseChild } from "../supervisor/child-process.ts";
import type { ProcessUrls } from "./database-users.ts";
import { freePort } from "./free-port.ts";
import { receiptKeys } from "./receipt-key.ts";
import type { Rising } from "./start-database.ts";
import { startPanel } from "./start-panel.ts";

const LOCAL_POLLING_MS = 200;
/** On the local chain a score follows its wallet within seconds. */
const LOCAL_RESCORE_SECONDS = 20;

export type Services = {
  readonly baseUrl: string;
  readonly indexUrl: string;
  /** Where the scripted model is that verdicts come from; null where another is configured. */
  readonly scriptedUrl: string | null;
};

/** Starts indexer, worker and API, each in a process of its own that is started again when it dies. */
export async function startServices(
  rising: Rising,
  config: Config,
  databaseUrls: ProcessUrls,
): Promise<Services> {
  const { files, children } = rising;
  const indexPort = await freePort();
  const panel = await startPanel(rising, config, required(config.rpcUrl));
  const env = { ...sharedSettings(config), ...panel.settings, INDEX_PORT: String(indexPort) };
  for (const name of ["index", "work", "serve"] as const) {
    const own = { index: {}, work: workerKeys(), serve: receiptKeys(config, files) }[name];
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

/** What every service is told. */
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

/** What was set for the history source; nothing leaves it to the services, which ask the local chain's node. */
function historySettings({ history }: Config): Record<string, string> {
  const set = { HISTORY_SOURCE: history.source, HISTORY_URL: history.url, HISTORY_API_KEY: history.apiKey };
  const given = Object.entries(set).flatMap(([name, value]) => (value === null ? [] : [[name, value]]));
  return { ...Object.fromEntries(given), HISTORY_PAGE_SIZE: String(history.pageSize) };
}

/** What was set for the provider of labels. */
function labelsSettings({ labels: { url, apiKey } }: Config): Record<string, string> {
  return {
    ...(url === null ? {} : { LABELS_URL: url }),
    ...(apiKey === null ? {} : { LABELS_API_KEY: apiKey }),
  };
}

/** The private key of an account of the development mnemonic, which everybody knows. */
export function privateKeyOf(account: HDAccount): Hex {
  const { privateKey } = account.getHdKey();
  if (privateKey === null) throw new Error(`account ${account.address} has no private key`);
  return bytesToHex(privateKey);
}

function required(value: string | null): string {
  if (value === null) throw new Error("database, chain and deployment come before the services");
  return value;
}
