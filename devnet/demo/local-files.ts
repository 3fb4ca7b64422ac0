import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, bytesToHex, type Hex } from "viem";
import type { Config } from "../../bin/config.ts";
import { apiKeyFinder, createApiKey, hashApiKey } from "../../service/access/api-keys.ts";
import type { Database } from "../../service/db/database.ts";

/** Everything that a caller of the running service needs; local chain only. */
export type UpFile = {
  readonly rpc_url: string;
  readonly chain_id: number;
  readonly contracts: Readonly<Record<string, Address>>;
  readonly base_url: string;
  readonly verify_base_url: string | null;
  readonly database_url: string;
  readonly api_key: string;
  readonly payer: { readonly address: Address; readonly private_key: Hex };
  /** An agent with a good score that takes jobs; no other process sends for it. */
  readonly provider: { readonly address: Address; readonly private_key: Hex };
  readonly samples: Readonly<Record<string, Address>>;
  /** Where the scripted model is that verdicts come from; null where another is configured. */
  readonly scripted_model_url: string | null;
};

/** Everything that a data directory holds, by what it is. */
const ENTRIES = {
  upFile: "up.json",
  demoKeyFile: "demo-key",
  receiptKeyFile: "receipt-key",
  textKeyFile: "text-key",
  demoJobsFile: "demo-jobs.json",
  databaseUsersFile: "database-users.json",
  deploymentFile: "deployment.json",
  pidFile: "up.pid",
  postgresDir: "postgres",
  chainDir: "chain",
  logDir: "logs",
} as const;

/** Where one data directory keeps what; the directories are made. */
export function localFiles(dataDir: string) {
  const logs = join(dataDir, ENTRIES.logDir);
  mkdirSync(logs, { recursive: true });
  return {
    dataDir,
    upFile: join(dataDir, ENTRIES.upFile),
    demoKeyFile: join(dataDir, ENTRIES.demoKeyFile),
    receiptKeyFile: join(dataDir, ENTRIES.receiptKeyFile),
    textKeyFile: join(dataDir, ENTRIES.textKeyFile),
    demoJobsFile: join(dataDir, ENTRIES.demoJobsFile),
    databaseUsersFile: join(dataDir, ENTRIES.databaseUsersFile),
    deploymentFile: join(dataDir, ENTRIES.deploymentFile),
    pidFile: join(dataDir, ENTRIES.pidFile),
    postgresDir: join(dataDir, ENTRIES.postgresDir),
    chainDir: join(dataDir, ENTRIES.chainDir),
    logFile: (name: string) => join(logs, `${name}.log`),
  };
}

export type LocalFiles = ReturnType<typeof localFiles>;

/** Writes a file that only its owner may read. */
export function writeSecret(file: string, content: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, content, { mode: 0o600 });
}

/**
 * Removes a data directory; false without one. Throws, and removes nothing, when a living process has it or when it
 * holds anything that no command of ours made: a wrong --data-dir must not delete a foreign folder.
 */
export function removeDataDir(dataDir: string): boolean {
  if (!existsSync(dataDir)) return false;
  const ours = new Set<string>(Object.values(ENTRIES));
  const foreign = readdirSync(dataDir).filter((entry) => !ours.has(entry));
  if (foreign.length > 0) {
    throw new Error(
      `${dataDir} is no data directory of ours, it holds ${foreign.slice(0, 5).join(", ")}: nothing removed`,
    );
  }
  claimDataDir(localFiles(dataDir));
  rmSync(dataDir, { recursive: true });
  return true;
}

/** Claims a data directory for this process; throws when a living process has it. */
export function claimDataDir(files: LocalFiles): void {
  if (existsSync(files.pidFile)) {
    const pid = Number(readFileSync(files.pidFile, "utf8"));
    if (pid !== process.pid && isAlive(pid)) {
      throw new Error(`${files.dataDir} is in use by process ${pid}: stop it, or choose another --data-dir`);
    }
  }
  writeFileSync(files.pidFile, String(process.pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("ahs.ts");
  } catch {
    return false;
  }
}

/** Play credits of the demo key: 1,000 USD in thousandths, charged as bought ones are. */
const DEMO_UNITS = 1_000_000;

/** The demo key of this data directory; a new one if it is missing or unknown to the database. */
export async function keepDemoKey(db: Database, files: LocalFiles): Promise<string> {
  if (existsSync(files.demoKeyFile)) {
    const stored = readFileSync(files.demoKeyFile, "utf8");
    const known = await apiKeyFinder(db)(hashApiKey(stored));
    if (known !== null && known.revokedAt === null) return stored;
  }
  const wanted = { name: "demo", partner: false, balanceUnits: DEMO_UNITS, expiresAt: null };
  const { secret } = await createApiKey(db, wanted, { randomBytes, randomUuid: randomUUID });
  writeSecret(files.demoKeyFile, secret);
  return secret;
}

/** The variables of the keys that sign receipts: those configured, else a seed kept in the data directory. */
export function receiptKeys(
  { receiptKeys: { current, previous } }: Config,
  files: LocalFiles,
): Record<string, string> {
  const older: Record<string, string> =
    previous.length === 0 ? {} : { RECEIPT_PREVIOUS_KEYS: previous.join(",") };
  return { RECEIPT_PRIVATE_KEY: current ?? storedSecret(files.receiptKeyFile), ...older };
}

/** The variables of the keys that encrypt stored texts: those configured, else one kept in the data directory. */
export function textKeys(
  { textKeys: { current, old } }: Pick<Config, "textKeys">,
  files: LocalFiles,
): Record<string, string> {
  const older: Record<string, string> =
    old.length === 0 ? {} : { TEXT_ENCRYPTION_OLD_KEYS: old.map((key) => bytesToHex(key)).join(",") };
  const key = current === null ? storedSecret(files.textKeyFile) : bytesToHex(current);
  return { TEXT_ENCRYPTION_KEY: key, ...older };
}

function storedSecret(file: string): string {
  if (!existsSync(file)) writeSecret(file, bytesToHex(randomBytes(32)));
  return readFileSync(file, "utf8");
}
