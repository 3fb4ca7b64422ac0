import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { freePort } from "../../bin/up/free-port.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
  }
}

/** One PostgreSQL for the whole run, or the one named by AHS_TEST_DATABASE_URL; each test makes its own database in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.AHS_TEST_DATABASE_URL;
  if (given !== undefined) {
    project.provide("postgresUrl", given);
    return async () => undefined;
  }
  const dataDir = mkdtempSync(join(tmpdir(), "ahs-test-postgres-"));
  // Run as root, the server is another user, who must be able to reach its directory.
  chmodSync(dataDir, 0o755);
  const host = fork(
    new URL("../../bin/local/postgres-host.ts", import.meta.url).pathname,
    ["--data-dir", dataDir, "--port", String(await freePort())],
    { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] },
  );
  project.provide("postgresUrl", await urlOf(host));
  return async () => {
    host.kill("SIGINT");
    await once(host, "exit");
    rmSync(dataDir, { recursive: true, force: true });
  };
}

async function urlOf(host: ChildProcess): Promise<string> {
  const [message] = (await once(host, "message")) as [{ databaseUrl?: string; error?: string }];
  if (message.databaseUrl === undefined) throw new Error(message.error);
  return message.databaseUrl;
}
