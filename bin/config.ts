import { resolve } from "node:path";
import type { Hex } from "viem";
import { z } from "zod";

const LOCAL_DATA_DIR = ".ahs";

const privateKey = z
  .templateLiteral(["0x", z.string().regex(/^[0-9a-fA-F]{64}$/)])
  .transform((value) => value as Hex);

const seconds = (fallback: number) => z.coerce.number().int().positive().default(fallback);

const environment = z.object({
  DATABASE_URL: z.string().startsWith("postgres").optional(),
  RPC_URL: z.url({ protocol: /^https?$/ }).optional(),
  AHS_DEPLOYMENT: z.string().min(1).optional(),
  AHS_DATA_DIR: z.string().min(1).default(LOCAL_DATA_DIR),
  HOST: z.string().min(1).default("127.0.0.1"),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4020),
  INDEX_PORT: z.coerce.number().int().min(1).max(65_535).default(42_069),
  METRICS_PORT: z.coerce.number().int().min(1).max(65_535).optional(),
  PUBLIC_URL: z.url({ protocol: /^https?$/ }).optional(),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace"]).default("info"),
  POLLING_INTERVAL_MS: z.coerce.number().int().min(100).max(60_000).default(1_000),
  /** An index whose newest block is older than this answers nothing that needs to be fresh. */
  MAX_INDEX_AGE_SECONDS: seconds(120),
  RESCORE_INTERVAL_SECONDS: seconds(600),
  PUBLISHER_PRIVATE_KEY: privateKey.optional(),
  SIGNER_PRIVATE_KEY: privateKey.optional(),
  /** Allows keys in the environment on a chain other than the local one. */
  ALLOW_RAW_KEYS: z.enum(["0", "1"]).default("0"),
  /** Gas that publishing may use per UTC day; sanctions flags are never held back. */
  DAILY_GAS: z.coerce.bigint().positive().optional(),
});

/** Everything that the environment decides, parsed once; a variable that is not set is null or its default. */
export type Config = {
  readonly databaseUrl: string | null;
  readonly rpcUrl: string | null;
  readonly deploymentFile: string | null;
  readonly dataDir: string;
  readonly host: string;
  readonly port: number;
  readonly indexPort: number;
  readonly metricsPort: number | null;
  readonly publicUrl: string | null;
  readonly logLevel: string;
  readonly pollingIntervalMs: number;
  readonly maxIndexAgeSeconds: number;
  readonly rescoreIntervalSeconds: number;
  readonly publisherKey: Hex | null;
  readonly signerKey: Hex | null;
  readonly allowRawKeys: boolean;
  readonly dailyGas: bigint | null;
};

/** Parses the environment; throws one error that lists every faulty variable. */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = environment.safeParse(present);
  if (!parsed.success) throw new Error(`the environment is not usable:\n${z.prettifyError(parsed.error)}`);
  const { data } = parsed;
  return {
    databaseUrl: data.DATABASE_URL ?? null,
    rpcUrl: data.RPC_URL ?? null,
    deploymentFile: data.AHS_DEPLOYMENT === undefined ? null : resolve(data.AHS_DEPLOYMENT),
    dataDir: resolve(data.AHS_DATA_DIR),
    host: data.HOST,
    port: data.PORT,
    indexPort: data.INDEX_PORT,
    metricsPort: data.METRICS_PORT ?? null,
    publicUrl: data.PUBLIC_URL ?? null,
    logLevel: data.LOG_LEVEL,
    pollingIntervalMs: data.POLLING_INTERVAL_MS,
    maxIndexAgeSeconds: data.MAX_INDEX_AGE_SECONDS,
    rescoreIntervalSeconds: data.RESCORE_INTERVAL_SECONDS,
    publisherKey: data.PUBLISHER_PRIVATE_KEY ?? null,
    signerKey: data.SIGNER_PRIVATE_KEY ?? null,
    allowRawKeys: data.ALLOW_RAW_KEYS === "1",
    dailyGas: data.DAILY_GAS ?? null,
  };
}

/** The settings that every process on a given chain needs; throws with the names of all that are missing. */
export function requireChainSettings(config: Config) {
  const { databaseUrl, rpcUrl, deploymentFile } = config;
  const missing = [
    databaseUrl === null ? "DATABASE_URL (or --database-url)" : null,
    rpcUrl === null ? "RPC_URL (or --rpc-url)" : null,
    deploymentFile === null ? "AHS_DEPLOYMENT (or --deployment)" : null,
  ].filter((name) => name !== null);
  if (databaseUrl === null || rpcUrl === null || deploymentFile === null) {
    throw new Error(`missing settings: ${missing.join(", ")}`);
  }
  return { databaseUrl, rpcUrl, deploymentFile };
}
