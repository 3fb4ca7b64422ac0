import { fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { freePort } from "../../bin/supervisor/child-process.ts";

const POSTGRES_HOST = new URL("../../devnet/demo/postgres-host.ts", import.meta.url).pathname;
const STATEMENT_OPTIONS = ["alter system set fsync = off", "select pg_reload_conf()"];

export type DatabaseServer = Awaited<ReturnType<typeof startDatabaseServer>>;

/** An embedded PostgreSQL in a new folder below the system's temporary one, which is removed with it. */
export async function startDatabaseServer() {
  const dataDir = mkdtempSync(join(tmpdir(), "ahs-torture-postgres-"));
  // Run as root, the server is another user, who must be able to reach its directory.
  chmodSync(dataDir, 0o755);
  const host = fork(POSTGRES_HOST, ["--data-dir", dataDir, "--port", String(await freePort())], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: [],
    detached: true,
  });
  const [{ databaseUrl, error }] = (await once(host, "message")) as [
    { databaseUrl?: string; error?: string },
  ];
  if (databaseUrl === undefined) throw new Error(error);
  // The machine stays on: what processes survive is what is asked here.
  for (const statement of STATEMENT_OPTIONS) await run(databaseUrl, statement);
  return {
    /** Makes an empty database and answers its URL. */
    createDatabase: async (name: string) => {
      await run(databaseUrl, `create database ${name}`);
      const url = new URL(databaseUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
    stop: async () => {
      const ended = once(host, "exit");
      host.kill("SIGINT");
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
