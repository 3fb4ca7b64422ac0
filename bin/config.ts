import { resolve } from "node:path";
import type { Address, Hex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { DEFAULT_DAILY_GAS } from "../service/sender/send-policy.ts";
import { environment, type HISTORY_SOURCES, type InterfaceName } from "./environment.ts";
import { type KeySettings, keyFaults, keySettings } from "./keys/key-settings.ts";
import { type PanelSettings, panelFaults, panelSettings } from "./panel-settings.ts";
import { knownSecrets, SECRET_VARIABLES } from "./secrets/known-secrets.ts";

/** Everything that the environment decides, parsed once; a variable that is not set is null or its default. */
export type Config = {
  readonly databaseUrl: string | null;
  readonly rpcUrl: string | null;
  readonly deploymentFile: string | null;
  readonly dataDir: string;
  /** Interfaces that `ahs serve` serves, at least one. */
  readonly interfaces: readonly InterfaceName[];
  readonly host: string;
  readonly port: number;
  readonly indexPort: number;
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  readonly publicUrl: string | null;
  readonly securityContact: string | null;
  readonly ipRatePerMinute: number;
  /** Addresses and CIDR ranges. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: string;
  /** Values that no log line and no message may contain. */
  readonly secrets: readonly string[];
  readonly pollingIntervalMs: number;
  readonly maxIndexAgeSeconds: number;
  readonly rescoreIntervalSeconds: number;
  readonly keys: KeySettings;
  /** payTo is null where calls are not sold one by one; else one of the other two says who settles. */
  readonly payments: {
    readonly payTo: Address | null;
    readonly facilitatorUrl: string | null;
    readonly facilitatorAddress: Address | null;
  };
  /** Null where no model is configured. */
  readonly panel: PanelSettings | null;
  /** Days that texts of specifications and outputs are kept. */
  readonly retentionDays: number;
  /** Seeds of Ed25519 keys; current is null where no receipts are signed. */
  readonly receiptKeys: { readonly current: Hex | null; readonly previous: readonly Hex[] };
  readonly apiKey: string | null;
  readonly allowRawKeys: boolean;
  readonly probeLoopback: boolean;
  readonly ipfsGateway: string;
  readonly dailyGas: bigint | null;
  /** Limits of the cost of payments and verdicts; null for the chain's default share. */
  readonly spending: {
    readonly x402Percent: number | null;
    readonly verdictPercent: number | null;
    readonly dailyGas: { readonly x402: bigint; readonly verdicts: bigint };
    readonly nativeCoinUsd: number;
  };
  readonly history: {
    /** Null where nothing is said: then the chain decides. */
    readonly source: (typeof HISTORY_SOURCES)[number] | null;
    readonly url: string | null;
    readonly apiKey: string | null;
    readonly pageSize: number;
  };
  /** url is null where no third party is asked for labels. */
  readonly labels: { readonly url: string | null; readonly apiKey: string | null };
  readonly enrolment: { readonly perDay: number; readonly maxFeeWei: bigint };
};

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
    ...historyFaults(present),
    ...labelsFaults(present),
    ...paymentFaults(present),
    ...panelFaults(present),
    ...keyFaults(present),
  ];
  if (!parsed.success || faults.length > 0)
    throw new Error(`settings that do not fit:\n${faults.join("\n")}`);
  return configOf(parsed.data, knownSecrets(present));
}

/** The parsed variables, whatever does not fit together having been refused before. */
function configOf(data: z.infer<typeof environment>, secrets: readonly string[]): Config {
  return {
    databaseUrl: data.DATABASE_URL ?? null,
    rpcUrl: data.RPC_URL ?? null,
    deploymentFile: data.AHS_DEPLOYMENT === undefined ? null : resolve(data.AHS_DEPLOYMENT),
    dataDir: resolve(data.AHS_DATA_DIR),
    interfaces: data.INTERFACES,
    host: data.HOST,
    port: data.PORT,
    indexPort: data.INDEX_PORT,
    metricsPort: data.METRICS_PORT ?? null,
    metricsHost: data.METRICS_HOST,
    publicUrl: data.PUBLIC_URL ?? null,
    securityContact: data.SECURITY_CONTACT ?? null,
    ipRatePerMinute: data.IP_RATE_PER_MINUTE,
    trustedProxies: data.TRUSTED_PROXIES ?? [],
    logLevel: data.LOG_LEVEL,
    secrets,
    pollingIntervalMs: data.POLLING_INTERVAL_MS,
    maxIndexAgeSeconds: data.MAX_INDEX_AGE_SECONDS,
    rescoreIntervalSeconds: data.RESCORE_INTERVAL_SECONDS,
    keys: keySettings(data),
    payments: {
      payTo: data.X402_PAY_TO ?? null,
      facilitatorUrl: data.X402_FACILITATOR_URL ?? null,
      facilitatorAddress: data.X402_FACILITATOR_ADDRESS ?? null,
    },
    panel: panelSettings(data),
    retentionDays: data.RETENTION_DAYS,
    receiptKeys: { current: data.RECEIPT_PRIVATE_KEY ?? null, previous: data.RECEIPT_PREVIOUS_KEYS ?? [] },
    apiKey: data.AHS_API_KEY ?? null,
    allowRawKeys: data.ALLOW_RAW_KEYS === "1",
    probeLoopback: data.PROBE_LOOPBACK === "1",
    ipfsGateway: data.IPFS_GATEWAY_URL,
    dailyGas: data.DAILY_GAS ?? null,
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
      source: data.HISTORY_SOURCE ?? null,
      url: data.HISTORY_URL ?? null,
      apiKey: data.HISTORY_API_KEY ?? null,
      pageSize: data.HISTORY_PAGE_SIZE,
    },
    labels: { url: data.LABELS_URL ?? null, apiKey: data.LABELS_API_KEY ?? null },
    enrolment: { perDay: data.ENROLMENTS_PER_DAY, maxFeeWei: data.ENROLMENT_MAX_FEE_WEI },
  };
}

/** Contradictions in the settings of the history source. */
function historyFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const { HISTORY_SOURCE: source, HISTORY_URL: url, HISTORY_API_KEY: key, RPC_URL: node } = present;
  const isUsed = source === "otterscan" || source === "explorer";
  const faults: string[] = [];
  if (url !== undefined && !isUsed) faults.push("HISTORY_URL: needs HISTORY_SOURCE=otterscan or explorer");
  if (key !== undefined && source !== "explorer")
    faults.push("HISTORY_API_KEY: needs HISTORY_SOURCE=explorer");
  if (source === "explorer" && url === undefined)
    faults.push("HISTORY_SOURCE: explorer needs HISTORY_URL, the explorer's API");
  if (source === "otterscan" && url === undefined && node === undefined)
    faults.push("HISTORY_SOURCE: otterscan needs HISTORY_URL or RPC_URL, a node with the ots_ methods");
  return faults.map((fault) => `  ${fault}`);
}

/** A key without an address to send it to. */
function labelsFaults({
  LABELS_URL: url,
  LABELS_API_KEY: key,
}: Readonly<Record<string, string | undefined>>): string[] {
  return key !== undefined && url === undefined ? ["  LABELS_API_KEY: needs LABELS_URL"] : [];
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
  const { databaseUrl, deploymentFile } = config;
  if (databaseUrl === null || deploymentFile === null) throw missingSettings({ databaseUrl, deploymentFile });
  return { databaseUrl, deploymentFile };
}

/** Settings of a command that uses the node and no database; throws with the names of all missing ones. */
export function requireNodeSettings(config: Config) {
  const { rpcUrl, deploymentFile } = config;
  if (rpcUrl === null || deploymentFile === null) throw missingSettings({ rpcUrl, deploymentFile });
  return { rpcUrl, deploymentFile };
}

/** Settings of a command that also uses the node; throws with the names of all missing ones. */
export function requireChainSettings(config: Config) {
  const { databaseUrl, rpcUrl, deploymentFile } = config;
  if (databaseUrl === null || rpcUrl === null || deploymentFile === null) {
    throw missingSettings({ databaseUrl, rpcUrl, deploymentFile });
  }
  return { databaseUrl, rpcUrl, deploymentFile };
}

const SETTING_NAMES = {
  databaseUrl: "DATABASE_URL (or --database-url)",
  rpcUrl: "RPC_URL (or --rpc-url)",
  deploymentFile: "AHS_DEPLOYMENT (or --deployment)",
} as const;

function missingSettings(settings: { readonly [name in keyof typeof SETTING_NAMES]?: string | null }): Error {
  const names = Object.keys(SETTING_NAMES) as (keyof typeof SETTING_NAMES)[];
  const missing = names.filter((name) => settings[name] === null).map((name) => SETTING_NAMES[name]);
  return new Error(`missing settings: ${missing.join(", ")}`);
}

const KEY_FORM = /^0x[0-9a-fA-F]{64}$/;

/** Contradictions in the settings of payments. Keys are compared and never shown. */
function paymentFaults(present: Readonly<Record<string, string | undefined>>): string[] {
  const { X402_PAY_TO: payTo, X402_FACILITATOR_URL: url, X402_FACILITATOR_ADDRESS: address } = present;
  const { FACILITATOR_PRIVATE_KEY: key, PUBLISHER_PRIVATE_KEY: publisherKey } = present;
  const faults: string[] = [];
  if (payTo !== undefined && url === undefined && address === undefined)
    faults.push(
      "X402_PAY_TO: needs X402_FACILITATOR_URL, or X402_FACILITATOR_ADDRESS for a facilitator of our own",
    );
  if (url !== undefined && address !== undefined)
    faults.push("X402_FACILITATOR_URL: excludes X402_FACILITATOR_ADDRESS; one of them settles");
  if (payTo === undefined && url !== undefined) faults.push("X402_FACILITATOR_URL: needs X402_PAY_TO");
  if (payTo === undefined && address !== undefined)
    faults.push("X402_FACILITATOR_ADDRESS: needs X402_PAY_TO");
  if (key !== undefined && KEY_FORM.test(key) && address !== undefined && !isAddressOf(address, key))
    faults.push("X402_FACILITATOR_ADDRESS: is not the address of FACILITATOR_PRIVATE_KEY");
  if (key !== undefined && key.toLowerCase() === publisherKey?.toLowerCase())
    faults.push("FACILITATOR_PRIVATE_KEY: must be another key than PUBLISHER_PRIVATE_KEY");
  return faults.map((fault) => `  ${fault}`);
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
