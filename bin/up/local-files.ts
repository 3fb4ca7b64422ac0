import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Address, Hex } from "viem";

/** Everything that somebody needs who wants to call the running service; local chain only. */
export type UpFile = {
  readonly rpc_url: string;
  readonly chain_id: number;
  readonly contracts: Readonly<Record<string, Address>>;
  readonly base_url: string;
  readonly verify_base_url: string | null;
  readonly database_url: string;
  readonly api_key: string;
  readonly payer: { readonly address: Address; readonly private_key: Hex };
  readonly samples: Readonly<Record<string, Address>>;
};

/** Where one data directory keeps what; the directories are made. */
export function localFiles(dataDir: string) {
  const logs = join(dataDir, "logs");
  mkdirSync(logs, { recursive: true });
  return {
    dataDir,
    upFile: join(dataDir, "up.json"),
    demoKeyFile: join(dataDir, "demo-key"),
    deploymentFile: join(dataDir, "deployment.json"),
    pidFile: join(dataDir, "up.pid"),
    postgresDir: join(dataDir, "postgres"),
    chainDir: join(dataDir, "chain"),
    logFile: (name: string) => join(logs, `${name}.log`),
  };
}

export type LocalFiles = ReturnType<typeof localFiles>;

/** Writes a file that only its owner may read. */
export function writeSecret(file: string, content: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, content, { mode: 0o600 });
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
