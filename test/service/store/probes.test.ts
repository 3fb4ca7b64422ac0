import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { readDueAgents, storeDocument } from "../../../service/store/agent-documents.ts";
import {
  pruneProbes,
  readDueEndpoints,
  readProbeLag,
  storeProbe,
  syncSchedule,
} from "../../../service/store/probes.ts";
import { createScanWorld, OWNER, openWallet, registerAgent, type ScanWorld } from "../scan/scan-world.ts";

const NOW = new Date("2026-11-20T10:00:00Z");

let world: ScanWorld;

beforeAll(async () => {
  world = await createScanWorld();
});
afterEach(() => world.clear());
afterAll(() => world.close());

const schedule = (endpoint: string, secondsAgo: number, account = endpoint) =>
  world.db.$client.query(
    `insert into ahs.probe_schedule (chain_id, endpoint, kind, account, next_at)
     values (31337, $1, 'other', $2, $3)`,
    [endpoint, account, new Date(NOW.getTime() - 1000 * secondsAgo)],
  );
const LIMITS = { chainId: 31337, now: NOW, perAccount: 100, perHost: 2, unproven: 10, limit: 10 };
const dueEndpoints = async (limits: Partial<typeof LIMITS> = {}) =>
  (await readDueEndpoints(world.db, { ...LIMITS, ...limits })).map(({ endpoint }) => endpoint);

test("endpoints that failed last, or never answered, leave room for those that answer", async () => {
  for (let i = 0; i < 30; i++) await schedule(`https://${i}.hanging.example/`, 900);
  for (let i = 0; i < 6; i++) await schedule(`https://${i}.sound.example/`, 1);
  await world.db.$client.query(
    "update ahs.probe_schedule set answered = true, failing_since = case when endpoint ~ 'hanging' then now() end",
  );
  const due = await dueEndpoints({ unproven: 4 });
  expect(due.filter((endpoint) => endpoint.includes("sound"))).toHaveLength(6);
  expect(due.filter((endpoint) => endpoint.includes("hanging"))).toHaveLength(4);
});

test("hosts take turns, however many endpoints one has and however long they wait", async () => {
  for (let i = 0; i < 5; i++) await schedule(`https://crowd.example/${i}`, 900 - i);
  await schedule("https://Crowd.example:8443/other-port", 880);
  await schedule("https://single.example/", 1);
  await schedule("https://later.example/", -1);
  const due = await dueEndpoints();
  expect(due).toHaveLength(4);
  expect(
    due
      .slice(0, 3)
      .map((endpoint) => new URL(endpoint).host)
      .toSorted(),
  ).toEqual(["crowd.example", "crowd.example:8443", "single.example"]);
});

test("accounts take turns, however many hosts one names and however long they wait", async () => {
  await world.db.$client.query(
    `insert into ahs.probe_schedule (chain_id, endpoint, kind, account, next_at)
     select 31337, 'https://' || n || '.wild.example/', 'other', 'wild', $1::timestamptz - make_interval(hours => 5, secs => n)
     from generate_series(1, 3000) as n`,
    [NOW],
  );
  for (let i = 0; i < 3; i++) await schedule(`https://agent.example/${i}`, 3 - i, "agent");
  const due = await dueEndpoints({ perAccount: 4, perHost: 64 });
  expect(due.map((endpoint) => new URL(endpoint).host.split(".").at(-2)).toSorted()).toEqual([
    ...["agent", "agent", "agent"],
    ...["wild", "wild", "wild", "wild"],
  ]);
  const turns = ["https://3000.wild.example/", "https://2999.wild.example/", "https://2998.wild.example/"];
  for (const turn of [0, 1, 2]) {
    const ofTurn = due.slice(2 * turn, 2 * turn + 2);
    expect(ofTurn.toSorted()).toEqual([turns[turn], `https://agent.example/${turn}`].toSorted());
  }
});

test("at one host the accounts take turns as well: nobody crowds another's host", async () => {
  for (let i = 0; i < 9; i++) await schedule(`https://agent.example/x${i}`, 900, "stranger");
  await schedule("https://agent.example/own", 1, "agent");
  expect(await dueEndpoints()).toContain("https://agent.example/own");
});

test("when more accounts wait than can be served, those that wait for longest do not always come first", async () => {
  for (let i = 0; i < 30; i++) await schedule(`https://${i}.example/`, 90_000, `account-${i}`);
  await schedule("https://late.example/", 1, "late");
  const seen = new Set<string>();
  // Left out a hundred times with 20 places for 31: one in 10^45.
  for (let round = 0; round < 100; round++) {
    for (const endpoint of await dueEndpoints({ limit: 20 })) seen.add(endpoint);
  }
  expect(seen.has("https://late.example/")).toBe(true);
});

describe("an endpoint takes the turns of", () => {
  const STRANGER = `0x${"5a".repeat(20)}`;
  const accounts = async () => {
    await syncSchedule(world.db, 31337, NOW);
    const { rows } = await world.db.$client.query("select endpoint, account from ahs.probe_schedule");
    return Object.fromEntries(rows.map(({ endpoint, account }) => [endpoint, account]));
  };
  const declare = async (agentId: number, account: string, endpoints: readonly string[]) => {
    await registerAgent(world.db, { agentId, uri: "data:,", owner: account, wallet: account });
    await storeDocument(world.db, {
      ...{ chainId: 31337, agentId: BigInt(agentId), uri: "data:,", state: "current", name: null },
      ...{ contentHash: "0x", fetchedAt: NOW, notBefore: NOW },
      services: endpoints.map((endpoint) => ({ name: "web", endpoint, version: null })),
    });
  };

  test("each kind that it is declared as by itself: a stranger changes no visit of another", async () => {
    const declareAs = async (agentId: number, account: string, name: string) => {
      await registerAgent(world.db, { agentId, uri: "data:,", owner: account, wallet: account });
      await storeDocument(world.db, {
        ...{ chainId: 31337, agentId: BigInt(agentId), uri: "data:,", state: "current", name: null },
        ...{ contentHash: "0x", fetchedAt: NOW, notBefore: NOW },
        services: [{ name, endpoint: "https://a.example/mcp", version: null }],
      });
    };
    await declareAs(1, OWNER, "MCP");
    await declareAs(2, STRANGER, "web");
    await syncSchedule(world.db, 31337, NOW);
    const { rows } = await world.db.$client.query(
      "select kind, account from ahs.probe_schedule order by kind",
    );
    expect(rows).toEqual([
      { kind: "mcp", account: OWNER },
      { kind: "other", account: STRANGER },
    ]);
  });

  test("whoever of those who declare it declares the fewest", async () => {
    await declare(1, STRANGER, ["https://a.example/", "https://x.example/1", "https://x.example/2"]);
    await declare(2, OWNER, ["https://a.example/", "https://b.example/"]);
    expect(await accounts()).toEqual({
      "https://a.example/": OWNER,
      "https://b.example/": OWNER,
      "https://x.example/1": STRANGER,
      "https://x.example/2": STRANGER,
    });
    await declare(2, OWNER, []);
    expect((await accounts())["https://a.example/"]).toBe(STRANGER);
  });

  test("the owner that has acted for the agent, not of one that it was handed to", async () => {
    await declare(1, STRANGER, ["https://a.example/"]);
    await registerAgent(world.db, { agentId: 1, uri: "data:,", owner: OWNER, wallet: null });
    expect(await accounts()).toEqual({ "https://a.example/": STRANGER });
    await openWallet(world.db, 1, OWNER);
    expect(await accounts()).toEqual({ "https://a.example/": OWNER });
  });
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
    kind: "other",
    at: NOW,
    outcome: "ok",
    status: 200,
    latencyMs: 3,
    valid: null,
    detail: null,
    quarters: 1,
    next: { nextAt: NOW, failingSince: null, quarters: 1 },
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
  const query = { ...LIMITS, sinceBlock: 0 };
  const { agents, changed } = await readDueAgents(world.db, query);
  const ids = agents.map(({ agentId }) => Number(agentId));
  expect([ids.slice(0, 4).toSorted(), ids.slice(4), changed]).toEqual([[0, 4, 5, 6], [1], true]);
  // They were registered in block 10.
  expect(await readDueAgents(world.db, { ...query, sinceBlock: 11 })).toEqual({ agents: [], changed: false });
});

test("agents are due by turns of their accounts, however many hosts one names", async () => {
  const other = `0x${"b2".repeat(20)}`;
  for (let id = 0; id < 40; id++) await world.register(id, `https://${id}.wild.example/`);
  await registerAgent(world.db, { agentId: 99, uri: "https://a.example/", owner: other, wallet: other });
  const { agents } = await readDueAgents(world.db, { ...LIMITS, sinceBlock: 0, perAccount: 4 });
  const ids = agents.map(({ agentId }) => Number(agentId));
  expect([ids.slice(0, 2).toSorted(), ids.slice(2)]).toEqual([
    [0, 99],
    [1, 2, 3],
  ]);
});
