import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { readDueAgents } from "../../../service/store/agent-documents.ts";
import { pruneProbes, readDueEndpoints, readProbeLag, storeProbe } from "../../../service/store/probes.ts";
import { createScanWorld, type ScanWorld } from "../scan/scan-world.ts";

const NOW = new Date("2026-11-20T10:00:00Z");

let world: ScanWorld;

beforeAll(async () => {
  world = await createScanWorld();
});
afterEach(() => world.clear());
afterAll(() => world.close());

const schedule = (endpoint: string, secondsAgo: number) =>
  world.db.$client.query(
    "insert into ahs.probe_schedule (chain_id, endpoint, kind, next_at) values (31337, $1, 'other', $2)",
    [endpoint, new Date(NOW.getTime() - 1000 * secondsAgo)],
  );

test("hosts take turns, however many endpoints one has and however long they wait", async () => {
  for (let i = 0; i < 5; i++) await schedule(`https://crowd.example/${i}`, 900 - i);
  await schedule("https://Crowd.example:8443/other-port", 880);
  await schedule("https://single.example/", 1);
  await schedule("https://later.example/", -1);
  const due = await readDueEndpoints(world.db, { chainId: 31337, now: NOW, perHost: 2, limit: 10 });
  expect(due.map(({ endpoint }) => endpoint)).toEqual([
    "https://crowd.example/0",
    "https://Crowd.example:8443/other-port",
    "https://single.example/",
    "https://crowd.example/1",
  ]);
});

test("the lag is that of the most overdue endpoint, and none while none is due", async () => {
  expect(await readProbeLag(world.db, 31337, NOW)).toBe(0);
  await schedule("https://later.example/", -60);
  expect(await readProbeLag(world.db, 31337, NOW)).toBe(0);
  await schedule("https://a.example/", 90);
  expect(await readProbeLag(world.db, 31337, NOW)).toBe(90);
});

test("a visit to an endpoint that left the schedule is kept and brings it not back", async () => {
  await storeProbe(world.db, {
    chainId: 31337,
    endpoint: "https://gone.example/",
    at: NOW,
    outcome: "ok",
    status: 200,
    latencyMs: 3,
    valid: null,
    detail: null,
    nextAt: NOW,
  });
  expect([(await world.probes()).length, await world.schedule()]).toEqual([1, []]);
});

test("old visits are pruned in batches, others and other chains' are kept", async () => {
  await world.db.$client.query(
    `insert into ahs.probe (chain_id, endpoint, at, outcome)
     select chain, 'https://a.example/', $1::timestamptz - make_interval(hours => n), 'ok'
     from generate_series(12000, 1, -1) as n, unnest(array[31337, 1]) as chain`,
    [NOW],
  );
  const before = new Date(NOW.getTime() - 3_600_000 * 1_000);
  expect(await pruneProbes(world.db, 31337, before)).toBe(11_000);
  const { rows } = await world.db.$client.query(
    "select chain_id, count(*)::int as left from ahs.probe group by 1 order by 1",
  );
  expect(rows).toEqual([
    { chain_id: 1, left: 12_000 },
    { chain_id: 31_337, left: 1_000 },
  ]);
});

test("agents are due by turns of their documents' hosts; those whose URI holds the document come all", async () => {
  for (let id = 0; id < 4; id++) await world.register(id, `https://crowd.example/${id}`);
  for (let id = 4; id < 7; id++) await world.register(id, `data:,${id}`);
  const query = { chainId: 31337, now: NOW, sinceBlock: 0, perHost: 2, limit: 10 };
  const { agents, changed } = await readDueAgents(world.db, query);
  expect([agents.map(({ agentId }) => Number(agentId)), changed]).toEqual([[0, 4, 5, 6, 1], true]);
  // They were registered in block 10.
  expect(await readDueAgents(world.db, { ...query, sinceBlock: 11 })).toEqual({ agents: [], changed: false });
});
