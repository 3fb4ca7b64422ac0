import { resolve } from "node:path";
import type { Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import type { FacilitatorCredentials } from "../service/access/payments/facilitator-credentials.ts";
import { DEFAULT_DAILY_GAS } from "../service/sender/send-policy.ts";
import { appealFaults, appealSettings, sharedModelFaults } from "./appeal-settings.ts";
import { environment } from "./environment.ts";
import { keyFaults, keySettings } from "./keys/key-settings.ts";
import { panelFaults, panelSettings } from "./panel-settings.ts";
import { knownSecrets, SECRET_VARIABLES } from "./secrets/known-secrets.ts";

/** Everything that the environment decides, parsed once; a variable that is not set is null or its default. */
export type Config = Readonly<ReturnType<typeof configOf>>;

/** Options of the command line that stand for a variable of the environment, and override it. */
export const OPTION_VARIABLES = {
  "data-dir": "AHS_DATA_DIR",
  "database-url": "DATABASE_URL",
  "rpc-url": "RPC_URL",
  deployment: "AHS_DEPLOYMENT",
  port: "PORT",
} as const;

/** Parses the environment; throws one error that lists every faulty variable with what it holds and what it should. */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse(present);
  const faulty = new Set(parsed.error?.issues.map(({ path }) => String(path[0])));
  const faults = [
    ...[...faulty].map((name) => faultOf(name, present[name])),
    ...sourceFaults(present),
    ...paymentFaults(present),
    ...credentialFaults(present),
    ...panelFaults(present),
    ...appealFaults(present),
    ...(parsed.success ? sharedModelFaults(parsed.data) : []),
    ...keyFaults(present),
  ];
  if (!parsed.success || faults.length > 0)
    throw new Error(`settings that do not fit:\n${faults.join("\n")}`);
  return configOf(parsed.data, knownSecrets(present));
}

/** The parsed variables, whatever does not fit together having been refused before. */
/** Bytes of a secret of 0x and 64 hexadecimal digits. */
function keyBytes(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}

function configOf(data: z.infer<typeof environment>, secrets: readonly string[]) {
  return {
    databaseUrl: data.DATABASE_URL ?? null,
    /** url is null where no replica is read. */
    replica: { url: data.DATABASE_READ_URL ?? null, maxLagMs: data.DATABASE_READ_LAG_SECONDS * 1_000 },
    rpcUrl: data.RPC_URL ?? null,
    receiptsPercent: data.RPC_RECEIPTS_PERCENT,
    deploymentFile: data.AHS_DEPLOYMENT === undefined ? null : resolve(data.AHS_DEPLOYMENT),
    dataDir: resolve(data.AHS_DATA_DIR),
    /** Interfaces that `ahs serve` serves, at least one. */
    interfaces: data.INTERFACES,
    host: data.HOST,
    port: data.PORT,
    indexPort: data.INDEX_PORT,
    metricsPort: data.METRICS_PORT ?? null,
    metricsHost: data.METRICS_HOST,
    publicUrl: data.PUBLIC_URL ?? null,
    securityContact: data.SECURITY_CONTACT ?? null,
    ipRatePerMinute: data.IP_RATE_PER_MINUTE,
    /** Addresses and CIDR ranges. */
    trustedProxies: data.TRUSTED_PROXIES ?? [],
    logLevel: String(data.LOG_LEVEL),
    /** Values that no log line and no message may contain. */
    secrets,
    pollingIntervalMs: data.POLLING_INTERVAL_MS,
    logsBlocks: data.RPC_LOGS_BLOCKS ?? null,
    maxIndexAgeSeconds: data.MAX_INDEX_AGE_SECONDS,
    rescoreIntervalSeconds: data.RESCORE_INTERVAL_SECONDS,
    keys: keySettings(data),
    /** payTo is null where calls are not sold one by one; else one of the other two says who settles. */
    payments: {
      payTo: data.X402_PAY_TO ?? null,
      facilitatorUrl: data.X402_FACILITATOR_URL ?? null,
      facilitatorAddress: data.X402_FACILITATOR_ADDRESS ?? null,
      credentials: facilitatorCredentials(data),
      /** Names of those that are offered, beside the first; null where nothing is said: then chain and facilitator decide. */
      schemes: data.X402_SCHEMES ?? null,
    },
    /** Null where no model is configured. */
    panel: panelSettings(data),
    appeals: appealSettings(data),
    /** Days that texts of specifications and outputs are kept. */
    retentionDays: data.RETENTION_DAYS,
    textKeys: {
      current: data.TEXT_ENCRYPTION_KEY === undefined ? null : keyBytes(data.TEXT_ENCRYPTION_KEY),
      old: (data.TEXT_ENCRYPTION_OLD_KEYS ?? []).map(keyBytes),
    },
    /** Seeds of Ed25519 keys; current is null where no receipts are signed. */
    receiptKeys: { current: data.RECEIPT_PRIVATE_KEY ?? null, previous: data.RECEIPT_PREVIOUS_KEYS ?? [] },
    apiKey: data.AHS_API_KEY ?? null,
    allowRawKeys: data.ALLOW_RAW_KEYS === "1",
    probeLoopback: data.PROBE_LOOPBACK === "1",
    ipfsGateway: data.IPFS_GATEWAY_URL,
    dailyGas: data.DAILY_GAS ?? null,
    /** Limits of the cost of payments and verdicts; null for the chain's default share. */
    spending: {
      x402Percent: data.X402_MAX_GAS_PERCENT ?? null,
      verdictPercent: data.VERDICT_MAX_GAS_PERCENT ?? null,
      dailyGas: {
        x402: data.X402_DAILY_GAS ?? DEFAULT_DAILY_GAS.x402,
        verdicts: data.VERDICT_DAILY_GAS ?? DEFAULT_DAILY_GAS.verdicts,
      },
      nativeCoinUsd: data.NATIVE_COIN_USD,
    },
    history: {
      /** Null where nothing is said: then the chain decides. */
      source: data.HISTORY_SOURCE ?? null,
      url: data.HISTORY_URL ?? null,
      apiKey: data.HISTORY_API_KEY ?? null,
      pageSize: data.HISTORY_PAGE_SIZE,
    },
    historyBatch: {
      source: data.HISTORY_BATCH_SOURCE,
      url: data.HISTORY_BATCH_URL ?? null,
      apiKey: data.HISTORY_BATCH_API_KEY ?? null,
    },
    /** url is null where no third party is asked for labels. */
    labels: {
      url: data.LABELS_URL ?? null,
      apiKey: data.LABELS_API_KEY ?? null,
      provider: data.LABELS_PROVIDER,
    },
    agentId: data.AGENT_ID ?? null,
    validationsPerDay: data.VALIDATIONS_PER_DAY,
    feedbackDailyWei: data.FEEDBACK_DAILY_WEI,
    enrolment: { perDay: data.ENROLMENTS_PER_DAY, maxFeeWei: data.ENROLMENT_MAX_FEE_WEI },
  };
}

/** Contradictions in the settings of the sources of history and labels. */
function sourceFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const { HISTORY_SOURCE: source, HISTORY_URL: url, HISTORY_API_KEY: key, RPC_URL: node } = present;
  const { HISTORY_BATCH_SOURCE: batch = "none", HISTORY_BATCH_URL: batchUrl } = present;
  const batchKey = present.HISTORY_BATCH_API_KEY;
  const isUsed = source === "otterscan" || source === "explorer";
  return chosen([
    [url !== undefined && !isUsed, "HISTORY_URL: needs HISTORY_SOURCE=otterscan or explorer"],
    [key !== undefined && source !== "explorer", "HISTORY_API_KEY: needs HISTORY_SOURCE=explorer"],
    [
      source === "explorer" && url === undefined,
      "HISTORY_SOURCE: explorer needs HISTORY_URL, the explorer's API",
    ],
    [
      source === "otterscan" && url === undefined && node === undefined,
      "HISTORY_SOURCE: otterscan needs HISTORY_URL or RPC_URL, a node with the ots_ methods",
    ],
    [
      batchUrl !== undefined && batch === "none",
      "HISTORY_BATCH_URL: needs HISTORY_BATCH_SOURCE=sqd, hypersync or rpc",
    ],
    [
      batchKey !== undefined && (batch === "none" || batch === "rpc"),
      "HISTORY_BATCH_API_KEY: needs HISTORY_BATCH_SOURCE=sqd or hypersync",
    ],
    [
      batch === "hypersync" && batchUrl === undefined && batchKey === undefined,
      "HISTORY_BATCH_SOURCE: hypersync needs HISTORY_BATCH_API_KEY, the vendor's API token",
    ],
    [
      batch === "rpc" && batchUrl === undefined && node === undefined,
      "HISTORY_BATCH_SOURCE: rpc needs HISTORY_BATCH_URL or RPC_URL",
    ],
    [
      present.LABELS_API_KEY !== undefined && present.LABELS_URL === undefined,
      "LABELS_API_KEY: needs LABELS_URL",
    ],
  ]);
}

/** The sentences whose condition holds, indented. */
function chosen(faults: readonly (readonly [boolean, string])[]): string[] {
  return faults.filter(([holds]) => holds).map(([, fault]) => `  ${fault}`);
}

function faultOf(name: string, given: string | undefined): string {
  const option = Object.entries(OPTION_VARIABLES).find(([, variable]) => variable === name)?.[0];
  const shown = SECRET_VARIABLES.has(name) ? "a value not repeated here" : `"${given}"`;
  const expected = expectationOf(environment.shape[name as keyof typeof environment.shape]);
  return `  ${option === undefined ? name : `${name} (or --${option})`}: expected ${expected}, got ${shown}`;
}

/** The description of a schema, or of the one that it makes optional. */
function expectationOf(schema: z.ZodType): string | undefined {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault;
  return schema.description ?? (isWrapper ? expectationOf(schema.unwrap() as z.ZodType) : undefined);
}

/** Origin under which the service is reached, without a slash at its end. */
export function publicUrl(config: Pick<Config, "publicUrl" | "host" | "port">): string {
  return (config.publicUrl ?? `http://${config.host}:${config.port}`).replace(/\/+$/, "");
}

/** Settings of a command that reads one chain from the database only; throws with the names of all missing ones. */
export function requireIndexSettings(config: Config) {
  return requireSettings(config, ["databaseUrl", "deploymentFile"]);
}

/** Settings of a command that uses the node and no database; throws with the names of all missing ones. */
export function requireNodeSettings(config: Config) {
  return requireSettings(config, ["rpcUrl", "deploymentFile"]);
}

/** Settings of a command that also uses the node; throws with the names of all missing ones. */
export function requireChainSettings(config: Config) {
  return requireSettings(config, ["databaseUrl", "rpcUrl", "deploymentFile"]);
}

const SETTING_NAMES = {
  databaseUrl: "DATABASE_URL (or --database-url)",
  rpcUrl: "RPC_URL (or --rpc-url)",
  deploymentFile: "AHS_DEPLOYMENT (or --deployment)",
} as const;

function requireSettings<Name extends keyof typeof SETTING_NAMES>(
  config: Config,
  names: readonly Name[],
): Record<Name, string> {
  const missing = names.filter((name) => config[name] === null).map((name) => SETTING_NAMES[name]);
  if (missing.length > 0) throw new Error(`missing settings: ${missing.join(", ")}`);
  // These alone, none of which is null: callers pass them on.
  return Object.fromEntries(names.map((name) => [name, config[name]])) as Record<Name, string>;
}

const KEY_FORM = /^0x[0-9a-fA-F]{64}$/;

/** Contradictions in the settings of payments. Keys are compared and never shown. */
function paymentFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const { X402_PAY_TO: payTo, X402_FACILITATOR_URL: url, X402_FACILITATOR_ADDRESS: address } = present;
  const { FACILITATOR_PRIVATE_KEY: key, PUBLISHER_PRIVATE_KEY: publisherKey } = present;
  return chosen([
    [
      payTo !== undefined && url === undefined && address === undefined,
      "X402_PAY_TO: needs X402_FACILITATOR_URL, or X402_FACILITATOR_ADDRESS for a facilitator of our own",
    ],
    [
      url !== undefined && address !== undefined,
      "X402_FACILITATOR_URL: excludes X402_FACILITATOR_ADDRESS; one of them settles",
    ],
    [payTo === undefined && url !== undefined, "X402_FACILITATOR_URL: needs X402_PAY_TO"],
    [payTo === undefined && address !== undefined, "X402_FACILITATOR_ADDRESS: needs X402_PAY_TO"],
    [
      key !== undefined && KEY_FORM.test(key) && address !== undefined && !isAddressOf(address, key),
      "X402_FACILITATOR_ADDRESS: is not the address of FACILITATOR_PRIVATE_KEY",
    ],
    [
      key !== undefined && key.toLowerCase() === publisherKey?.toLowerCase(),
      "FACILITATOR_PRIVATE_KEY: must be another key than PUBLISHER_PRIVATE_KEY",
    ],
  ]);
}

/** Null where none are set. */
function facilitatorCredentials(data: z.infer<typeof environment>): FacilitatorCredentials | null {
  const { X402_FACILITATOR_TOKEN: token, X402_FACILITATOR_HEADER: name } = data;
  const { X402_FACILITATOR_KEY_ID: id, X402_FACILITATOR_KEY_SECRET: key } = data;
  if (id !== undefined && key) return { kind: "key", id, key };
  if (token === undefined) return null;
  return name === undefined
    ? { kind: "header", name: "authorization", value: `Bearer ${token}` }
    : { kind: "header", name, value: token };
}

/** A facilitator to which secrets may be sent: over TLS, or on this machine. */
const PRIVATE_URL = /^(https:\/\/|http:\/\/(127\.0\.0\.1|localhost)(?=[:/]|$))/;

/** Contradictions in the credentials for a facilitator. */
function credentialFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const { X402_FACILITATOR_URL: url, X402_FACILITATOR_TOKEN: token } = present;
  const { X402_FACILITATOR_KEY_ID: id, X402_FACILITATOR_KEY_SECRET: secret } = present;
  const isPrivate = url !== undefined && PRIVATE_URL.test(url);
  return chosen([
    [token !== undefined && id !== undefined, "X402_FACILITATOR_TOKEN: excludes X402_FACILITATOR_KEY_ID"],
    [
      (id === undefined) !== (secret === undefined),
      "X402_FACILITATOR_KEY_ID: needs X402_FACILITATOR_KEY_SECRET, and the reverse",
    ],
    [
      present.X402_FACILITATOR_HEADER !== undefined && token === undefined,
      "X402_FACILITATOR_HEADER: needs X402_FACILITATOR_TOKEN",
    ],
    [
      (token ?? secret) !== undefined && !isPrivate,
      "X402_FACILITATOR_TOKEN or X402_FACILITATOR_KEY_SECRET: needs X402_FACILITATOR_URL with https://, or to 127.0.0.1",
    ],
  ]);
}

function isAddressOf(address: string, key: string): boolean {
  // The caller has seen that it has the form of a key.
  return privateKeyToAddress(key as Hex).toLowerCase() === address.toLowerCase();
}

export type Invocation = {
  readonly config: Config;
  /** Arguments after the command, without the options that override the environment. */
  readonly args: readonly string[];
  readonly out: (line: string) => void;
};

export type Command = (invocation: Invocation) => Promise<void>;
