import { type ChildProcess, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { migrateDatabase, openDatabase } from "../../service/db/database.ts";
import { ROLES } from "../../service/db/role-rights.ts";
import { createRoles, putLogin } from "../../service/db/roles.ts";
import { fingerprintOf } from "./empty-database.ts";

declare module "vitest" {
  interface ProvidedContext {
    postgresUrl: string;
    /** Name of a migrated, empty database on it, which takes no connections: databases are copied from it. */
    migratedDatabase: string;
    migratedFingerprint: string;
    /** Of the names of all databases of the run. */
    databasePrefix: string;
    /** Password of the users `ahs_…_test`, who log in for our roles. */
    rolePassword: string;
  }
}

/** One PostgreSQL for the whole run, or the one named by AHS_TEST_DATABASE_URL; each test file has its own database in it. None for unit tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const wanted = project.vitest.config.project;
  if (wanted.length > 0 && wanted.every((name) => name === "unit")) return async () => undefined;
  const given = process.env.AHS_TEST_DATABASE_URL;
  const server = given === undefined ? await startServer() : { url: given, stop: async () => undefined };
  const rolePassword = randomBytes(12).toString("hex");
  const prefix = `test_${randomBytes(3).toString("hex")}_`;
  const fingerprint = await createMigrated(server.url, { name: `${prefix}migrated`, password: rolePassword });
  project.provide("rolePassword", rolePassword);
  project.provide("postgresUrl", server.url);
  project.provide("databasePrefix", prefix);
  project.provide("migratedDatabase", `${prefix}migrated`);
  project.provide("migratedFingerprint", fingerprint);
  return async () => {
    if (given !== undefined) await dropAll(given, prefix);
    await server.stop();
  };
}

/** A PostgreSQL of its own; `clusterDir` is its data directory. */
export async function startServer(): Promise<{
  readonly url: string;
  readonly clusterDir: string;
  readonly stop: () => Promise<void>;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), "ahs-test-postgres-"));
  // Run as root, the server is another user, who must be able to reach its directory.
  chmodSync(dataDir, 0o755);
  const host = fork(
    new URL("../../devnet/demo/postgres-host.ts", import.meta.url).pathname,
    ["--data-dir", dataDir, "--port", String(await freePort())],
    { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] },
  );
  const url = await urlOf(host);
  // Its files are deleted at the end of the run, so that they need not outlive the machine.
  await run(url, "alter system set fsync = off");
  // It would work on hundreds of databases, whenever it gets to it.
  await run(url, "alter system set autovacuum = off");
  // Its users' passwords are random, and thousands of connections present them.
  await run(url, "alter system set scram_iterations = 1");
  await run(url, "select pg_reload_conf()");
  const { username, password } = new URL(url);
  await run(url, `alter user ${username} password '${password}'`);
  const stop = async () => {
    host.kill("SIGINT");
    await once(host, "exit");
    rmSync(dataDir, { recursive: true, force: true });
  };
  return { url, clusterDir: join(dataDir, "cluster"), stop };
}

async function dropAll(server: string, prefix: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  const { rows } = await client.query<{ name: string }>(
    "select datname as name from pg_database where starts_with(datname, $1)",
    [prefix],
  );
  for (const { name } of rows) await client.query(`drop database ${name} with (force)`);
  await client.end();
}

/**
 * Migrating a database takes ten times as long as copying one. A database that is copied may have no connection. Returns the
 * fingerprint of its copies.
 */
async function createMigrated(
  server: string,
  { name, password }: { readonly name: string; readonly password: string },
): Promise<string> {
  await run(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const db = openDatabase({
    url: url.href,
    applicationName: "ahs-test",
    maxConnections: 2,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  const client = await db.$client.connect();
  await createRoles(client);
  for (const role of ROLES) await putLogin(client, { name: `${role}_test`, role, password });
  await migrateDatabase(db);
  const fingerprint = await fingerprintOf(client);
  client.release();
  await db.$client.end();
  await run(server, `alter database ${name} allow_connections false`);
  return fingerprint;
}

async function run(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function urlOf(host: ChildProcess): Promise<string> {
  const [message] = (await once(host, "message")) as [{ databaseUrl?: string; error?: string }];
  if (message.databaseUrl === undefined) throw new Error(message.error);
  return message.databaseUrl;
}
