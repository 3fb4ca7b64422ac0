import fc from "fast-check";
import pino from "pino";
import { Registry } from "prom-client";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "../../../service/db/database.ts";
import { createFreshness, createReads } from "../../../service/db/read-replica.ts";
import { startReplicatedServer } from "../../support/streaming-replica.ts";
import { forFile, openMigrated } from "../../support/test-database.ts";
import { until } from "../../support/until.ts";

const MAX_LAG_MS = 30_000;

const servers = await forFile(async () => {
  const server = await startReplicatedServer();
  return { ...server, close: server.stop };
});
const primary = openMigrated(servers.primaryUrl);
afterAll(() => primary.$client.end());
let replica: Database;
let lines: { level: number; msg: string; lagSeconds: number | null }[];
let registry: Registry;
let stop: AbortController;
let watched: Promise<void>;
let reads: Database;

beforeEach(async () => {
  await primary.$client.query("drop table if exists public.note; create table public.note (text text)");
  start(servers.replicaUrl);
});
afterEach(async () => {
  stop.abort();
  await watched;
  await replica.$client.end();
});

/** Reads of a process whose clock runs ahead by as much as the test has it skip. */
function start(replicaUrl: string): void {
  lines = [];
  registry = new Registry();
  stop = new AbortController();
  replica = openMigrated(replicaUrl);
  let skipped = 0;
  skip = (ms) => {
    skipped += ms;
  };
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const options = { primary, replica, maxLagMs: MAX_LAG_MS, registry, logger };
  const made = createReads({ ...options, monotonicMs: () => performance.now() + skipped });
  reads = made.db;
  watched = made.watch(stop.signal);
}
let skip: (ms: number) => void;

/** Which server a read of the process goes to. */
async function source(): Promise<"primary" | "replica"> {
  const { rows } = await reads.$client.query("select pg_is_in_recovery() as standby");
  return rows[0].standby ? "replica" : "primary";
}

const readFrom = (wanted: "primary" | "replica") =>
  until({ what: `reads go to the ${wanted}` }, async () => ((await source()) === wanted ? wanted : null));

const notes = async () =>
  (await reads.$client.query<{ text: string }>("select text from public.note order by 1")).rows.map(
    ({ text }) => text,
  );

const gauge = async (name: string) =>
  (await registry.getSingleMetric(name)?.get())?.values.map(({ value }) => value);

test("reads go to the replica once it is known to be fresh, and an idle primary makes no lag", async () => {
  expect(await source()).toBe("primary");
  await readFrom("replica");
  expect(await gauge("ahs_read_replica_used")).toEqual([1]);
  await primary.$client.query("insert into public.note values ('one')");
  await until({ what: "the write is shown" }, async () => ((await notes()).length === 1 ? true : null));
  skip(3_600_000);
  await readFrom("replica");
  expect(Math.max(...((await gauge("ahs_read_replica_lag_seconds")) ?? []))).toBeLessThan(30);
});

test("a replica that is behind the bound is not read, and is read again once it has caught up; each change is logged once", async () => {
  await readFrom("replica");
  await replica.$client.query("select pg_wal_replay_pause()");
  await primary.$client.query("insert into public.note values ('listed')");
  await until({ what: "the lag is seen" }, async () => {
    const [lag = 0] = (await gauge("ahs_read_replica_lag_seconds")) ?? [];
    return lag > 1 ? lag : null;
  });
  expect([await source(), await notes()]).toEqual(["replica", []]);
  skip(MAX_LAG_MS);
  // Not a moment longer: no comparison is needed to see that time passes.
  expect([await source(), await notes()]).toEqual(["primary", ["listed"]]);
  await replica.$client.query("select pg_wal_replay_resume()");
  await readFrom("replica");
  expect(await notes()).toEqual(["listed"]);
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [30, "reads go to the replica"],
    [40, "reads go to the primary: the replica is down or behind"],
    [30, "reads go to the replica"],
  ]);
});

test("a replica that is killed fails no read, statements and snapshots alike, and is used again when it is back", async () => {
  await primary.$client.query("insert into public.note values ('one')");
  await readFrom("replica");
  const client = await reads.$client.connect();
  await servers.killReplica();
  expect(await Promise.all([notes(), notes()])).toEqual([["one"], ["one"]]);
  expect(await source()).toBe("primary");
  client.release(true);
  const other = await reads.$client.connect();
  expect((await other.query("select text from public.note")).rows).toEqual([{ text: "one" }]);
  other.release();
  await servers.restartReplica();
  await readFrom("replica");
});

test("a server that replays nothing, and a database of another server, are not read, and the log says so", async () => {
  for (const [url, why] of [
    [servers.primaryUrl, "expected a replica that replays the write-ahead log, got a server that does not"],
    [servers.replicaUrl.replace("/agent_health", "/postgres"), "expected a replica of "],
  ] as const) {
    stop.abort();
    await watched;
    await replica.$client.end();
    start(url);
    const [line] = await until({ what: "it is compared" }, () => (lines.length > 0 ? lines : null));
    expect(line).toMatchObject({ level: 40, err: { message: expect.stringContaining(why) } });
    expect(await source()).toBe("primary");
  }
  await expect(reads.transaction(async () => undefined)).rejects.toThrow("no writes");
});

test("the data of a replica is never reported as newer than it is", () => {
  // At each moment the primary writes some bytes, and the replica has replayed up to a moment before.
  const moments = fc.array(fc.record({ written: fc.nat(3), behind: fc.nat(5) }), { minLength: 1 });
  fc.assert(
    fc.property(moments, (steps) => {
      const freshness = createFreshness();
      const positions: bigint[] = [];
      let shown = 0;
      for (const [at, { written, behind }] of steps.entries()) {
        positions.push((positions.at(-1) ?? 0n) + BigInt(written));
        freshness.note({ atMs: at, position: positions.at(-1) ?? 0n });
        shown = Math.max(shown, at - behind);
        freshness.reach(positions[shown] ?? 0n);
        const fresh = freshness.freshMs();
        if (fresh === null) throw new Error("the first moment is reached at once");
        expect(positions[fresh]).toBeLessThanOrEqual(positions[shown] ?? 0n);
        expect(fresh).toBeGreaterThanOrEqual(shown);
      }
    }),
  );
});
