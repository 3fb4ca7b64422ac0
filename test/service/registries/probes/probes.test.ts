import type { Address } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { registrableDomain } from "../../../../service/net/registrable-domain.ts";
import {
  readDueAgents,
  readSpentAccounts,
  storeDocument,
} from "../../../../service/registries/documents/agent-documents.ts";
import { readDueEndpoints } from "../../../../service/registries/probes/probes.sql.ts";
import {
  pruneProbes,
  readProbeLag,
  storeProbe,
  syncSchedule,
} from "../../../../service/registries/probes/probes.ts";
import { forFile } from "../../../support/test-database.ts";
import { createScanWorld, OWNER, openWallet, registerAgent } from "./scan-world.ts";

const NOW = new Date("2026-11-20T10:00:00Z");
const CHAIN = { chainId: 31337, registries: [] };

const world = await forFile(createScanWorld);
afterEach(() => world.clear());

const schedule = (endpoint: string, secondsAgo: number, account = endpoint) =>
  world.db.$client.query(
    `insert into ahs.probe_schedule (chain_id, endpoint, kind, account, domain, next_at)
     values (31337, $1, 'other', $2, $3, $4)`,
    [endpoint, account, registrableDomain(endpoint), new Date(NOW.getTime() - 1000 * secondsAgo)],
  );
const LIMITS = { chainId: 31337, now: NOW, perAccount: 100, perDomain: 2, unproven: 10, limit: 10 };
const DUE_AGENTS = { ...LIMITS, perHost: 2, perAccountDay: 100, sinceBlock: 0 };
const dueEndpoints = async (limits: Partial<typeof LIMITS> = {}) =>
  (await readDueEndpoints(world.db, { ...LIMITS, ...limits })).map(({ endpoint }) => endpoint);

const register = (agentId: number, account: Address, uri = "data:,") =>
  registerAgent(world.db, { agentId, uri, owner: account, wallet: account });

async function declare(
  agentId: number,
  account: Address,
  endpoints: readonly string[],
  name = "web",
): Promise<void> {
  await register(agentId, account);
  await storeDocument(world.db, {
    ...{
      chainId: 31337,
      agentId: BigInt(agentId),
      uri: "data:,",
      state: "current",
      name: null,
      description: null,
    },
    ...{ contentHash: "0x", fetchedAt: NOW, notBefore: NOW, account, readAt: NOW },
    services: endpoints.map((endpoint) => ({ name, endpoint, version: null })),
  });
}

const accountOf = (id: number): Address => `0x${String(id).padStart(40, "0")}`;

describe("of more endpoints than are visited", () => {
  const BOUNDS = { perDomain: 4, fixedPerDomain: 2, perAccount: 100, perChain: 1_000 };
  const QUARTER_MS = 900_000;
  const at = (quarter: number) => new Date(NOW.getTime() + quarter * QUARTER_MS);
  const sync = (quarter: number, bounds: Partial<typeof BOUNDS> = {}) =>
    syncSchedule(world.db, CHAIN, at(quarter), { ...BOUNDS, ...bounds });

  /** Endpoints visited in one quarter of an hour: three passes over due endpoints, each after a synchronization. */
  async function visitsOf(quarter: number, answers: (endpoint: string) => boolean = () => true) {
    const visited: string[] = [];
    for (const _ of [1, 2, 3]) {
      await sync(quarter);
      const limits = { perAccount: 100, perDomain: 100, unproven: 100, limit: 100 };
      for (const due of await readDueEndpoints(world.db, { chainId: 31337, now: at(quarter), ...limits })) {
        visited.push(due.endpoint);
        const isAlive = answers(due.endpoint);
        await storeProbe(world.db, {
          ...{ chainId: 31337, endpoint: due.endpoint, kind: due.kind, at: at(quarter) },
          ...{ outcome: isAlive ? "ok" : "error", status: null, latencyMs: 3, valid: null, detail: null },
          quarters: 1,
          next: {
            nextAt: at(quarter + 1),
            failingSince: isAlive ? null : (due.failingSince ?? at(quarter)),
            quarters: 1,
          },
        });
      }
    }
    return visited;
  }

  test("one domain has so many visits in a quarter of an hour, and each of its endpoints comes to its turn", async () => {
    for (let id = 0; id < 12; id++) {
      await declare(id, accountOf(id), [`https://${id}.crowd.example:${8000 + id}/`]);
    }
    await declare(99, accountOf(99), ["https://single.example/"]);
    const seen = new Set<string>();
    // An endpoint is missed in 120 quarters with two places for ten: one in 10^11.
    for (let quarter = 0; quarter < 120; quarter++) {
      const visited = await visitsOf(quarter);
      const crowd = visited.filter((endpoint) => endpoint.includes("crowd"));
      expect(crowd.length).toBeLessThanOrEqual(4);
      expect(visited.filter((endpoint) => endpoint.includes("single"))).toHaveLength(1);
      for (const endpoint of crowd) seen.add(endpoint);
    }
    expect(seen.size).toBe(12);
    expect(await sync(120)).toMatchObject({ crowdedDomains: ["crowd.example"] });
    // No endpoint failed because it was not visited.
    expect((await world.probes()).every(({ outcome }) => outcome === "ok")).toBe(true);
  });

  test("those of a domain that answer keep their places, however many strangers name it", async () => {
    const own = ["https://agent.example/a", "https://agent.example/b"];
    await declare(1, OWNER, own);
    expect((await visitsOf(0)).toSorted()).toEqual(own);
    for (let id = 2; id < 40; id++) await declare(id, accountOf(id), [`https://agent.example/${id}`]);
    for (let quarter = 1; quarter < 6; quarter++) {
      const visited = await visitsOf(quarter, (endpoint) => own.includes(endpoint));
      expect(visited.length).toBeLessThanOrEqual(4);
      expect(visited.filter((endpoint) => own.includes(endpoint)).toSorted()).toEqual(own);
    }
    expect(await sync(6)).toMatchObject({ leftOut: { account: 0, chain: 0 } });
    for (let id = 2; id < 40; id++) await declare(id, accountOf(id), []);
    expect(await sync(7)).toEqual({
      visited: 2,
      leftOut: { domain: 0, account: 0, chain: 0 },
      crowdedDomains: [],
    });
  });

  test("of one account, and of all, those that answered come first, then one of each account", async () => {
    await declare(1, OWNER, ["https://answers.example/1", "https://answers.example/2"]);
    await visitsOf(0);
    const flood = (from: number) =>
      Array.from({ length: 10 }, (_, i) => `https://${from + i}.flood.example/`);
    await declare(2, accountOf(2), flood(0));
    await declare(3, accountOf(2), flood(10));
    await declare(4, accountOf(4), ["https://late.example/"]);
    expect(await sync(1, { perAccount: 5, perChain: 5, perDomain: 100 })).toEqual({
      visited: 5,
      leftOut: { domain: 0, account: 15, chain: 3 },
      crowdedDomains: [],
    });
    expect((await world.schedule()).map(({ endpoint }) => endpoint)).toEqual([
      "https://0.flood.example/",
      "https://1.flood.example/",
      "https://answers.example/1",
      "https://answers.example/2",
      "https://late.example/",
    ]);
  });
});

test("endpoints that failed last, or never answered, leave room for those that answer", async () => {
  for (let i = 0; i < 30; i++) await schedule(`https://hanging-${i}.example/`, 900);
  for (let i = 0; i < 6; i++) await schedule(`https://sound-${i}.example/`, 1);
  await world.db.$client.query(
    "update ahs.probe_schedule set answered = true, failing_since = case when endpoint ~ 'hanging' then now() end",
  );
  const due = await dueEndpoints({ unproven: 4 });
  expect(due.filter((endpoint) => endpoint.includes("sound"))).toHaveLength(6);
  expect(due.filter((endpoint) => endpoint.includes("hanging"))).toHaveLength(4);
});

test("domains take turns, however many endpoints and hosts one has and however long they wait", async () => {
  for (let i = 0; i < 5; i++) await schedule(`https://crowd.example/${i}`, 900 - i);
  await schedule("https://sub.crowd.example:8443/", 899);
  await schedule("https://single.example/", 1);
  await schedule("https://later.example/", -1);
  const due = await dueEndpoints();
  expect(due).toHaveLength(3);
  expect(due.filter((endpoint) => endpoint.includes("crowd"))).toHaveLength(2);
  expect(due.slice(0, 2)).toContain("https://single.example/");
});

test("accounts take turns, however many hosts one names and however long they wait", async () => {
  await world.db.$client.query(
    `insert into ahs.probe_schedule (chain_id, endpoint, kind, account, domain, next_at)
     select 31337, 'https://' || n || '.wild.example/', 'other', 'wild', 'wild.example', $1::timestamptz - make_interval(hours => 5, secs => n)
     from generate_series(1, 3000) as n`,
    [NOW],
  );
  for (let i = 0; i < 3; i++) await schedule(`https://agent.example/${i}`, 3 - i, "agent");
  const due = await dueEndpoints({ perAccount: 4, perDomain: 64 });
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

test("at one host the accounts take turns as well: no account crowds out another", async () => {
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
  const STRANGER = `0x${"5a".repeat(20)}` as const;
  const accounts = async () => {
    await syncSchedule(world.db, CHAIN, NOW);
    const { rows } = await world.db.$client.query("select endpoint, account from ahs.probe_schedule");
    return Object.fromEntries(rows.map(({ endpoint, account }) => [endpoint, account]));
  };

  test("each kind that it is declared as by itself: a stranger changes no visit of another", async () => {
    await declare(1, OWNER, ["https://a.example/mcp"], "MCP");
    await declare(2, STRANGER, ["https://a.example/mcp"]);
    await syncSchedule(world.db, CHAIN, NOW);
    const { rows } = await world.db.$client.query(
      "select kind, account from ahs.probe_schedule order by kind",
    );
    expect(rows).toEqual([
      { kind: "mcp", account: OWNER },
      { kind: "other", account: STRANGER },
    ]);
  });

  test("the account that declares the fewest, among all that declare it", async () => {
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

test("a visit to an endpoint that left the schedule is stored and does not bring it back", async () => {
  await storeProbe(world.db, {
    ...{ chainId: 31337, endpoint: "https://gone.example/", kind: "other", at: NOW, outcome: "ok" },
    ...{ status: 200, latencyMs: 3, valid: null, detail: null, quarters: 1 },
    next: { nextAt: NOW, failingSince: null, quarters: 1 },
  });
  expect([(await world.probes()).length, await world.schedule()]).toEqual([1, []]);
});

test("prunes old visits in batches, and leaves others and other chains'", async () => {
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

test("agents are due by turns of their documents' domains, and those whose URI holds the document come all", async () => {
  for (let id = 0; id < 4; id++) await register(id, accountOf(id), `https://${id}.crowd.example/`);
  for (let id = 4; id < 7; id++) await register(id, accountOf(id), `data:,${id}`);
  const { agents, changed } = await readDueAgents(world.db, DUE_AGENTS);
  const ids = agents.map(({ agentId }) => Number(agentId));
  const [remote, inline] = [ids.filter((id) => id < 4), ids.filter((id) => id >= 4)];
  expect([remote.length, inline.toSorted(), changed]).toEqual([2, [4, 5, 6], true]);
  // They were registered in block 10.
  expect(await readDueAgents(world.db, { ...DUE_AGENTS, sinceBlock: 11 })).toEqual({
    agents: [],
    changed: false,
  });
});

test("a flood of registrations by one account delays neither new agents of others nor what is read again", async () => {
  for (let id = 0; id < 300; id++) await world.register(id, `data:,${id}`);
  for (let id = 300; id < 310; id++) await declare(id, accountOf(id), []);
  await register(999, accountOf(999));
  const { agents } = await readDueAgents(world.db, { ...DUE_AGENTS, unproven: 5, limit: 15 });
  const ids = agents.map(({ agentId }) => Number(agentId));
  expect(ids).toContain(999);
  expect(ids.filter((id) => id >= 300 && id < 310)).toHaveLength(10);
});

test("a flood of registrations by as many accounts leaves room for what is read again", async () => {
  for (let id = 0; id < 300; id++) await register(id, accountOf(id));
  for (let id = 300; id < 310; id++) await declare(id, accountOf(id), []);
  const { agents } = await readDueAgents(world.db, { ...DUE_AGENTS, unproven: 5, limit: 15 });
  expect(agents.filter(({ isProven }) => isProven)).toHaveLength(10);
});

test("an account has so many documents read in a UTC day, and its others on the next", async () => {
  for (let id = 0; id < 8; id++) await world.register(id, `data:,${id}`);
  const next = new Date(NOW.getTime() + 86_400_000);
  const read = async (now: Date) => {
    const due = await readDueAgents(world.db, { ...DUE_AGENTS, now, perAccountDay: 5 });
    for (const { agentId, uri, account } of due.agents) {
      await storeDocument(world.db, {
        ...{ chainId: 31337, agentId, uri, account, readAt: now },
        notBefore: new Date(now.getTime() + 2 * 86_400_000),
        ...{
          state: "current",
          name: null,
          description: null,
          services: [],
          contentHash: "0x",
          fetchedAt: now,
        },
      });
    }
    return due;
  };
  const spent = (now: Date) => readSpentAccounts(world.db, { chainId: 31337, now, perAccountDay: 5 });
  expect((await read(NOW)).agents).toHaveLength(5);
  expect(await spent(NOW)).toEqual({ count: 1, first: [OWNER] });
  // The other documents remain due on the next day.
  expect(await read(NOW)).toEqual({ agents: [], changed: true });
  expect((await read(next)).agents).toHaveLength(3);
  expect(await spent(next)).toEqual({ count: 0, first: [] });
});

test("agents are due by turns of their accounts, however many hosts one names", async () => {
  for (let id = 0; id < 40; id++) await world.register(id, `https://${id}.wild.example/`);
  await register(99, accountOf(99), "https://a.example/");
  const { agents } = await readDueAgents(world.db, { ...DUE_AGENTS, perHost: 100, perAccount: 4 });
  const ids = agents.map(({ agentId }) => Number(agentId));
  expect([ids.slice(0, 2).toSorted(), ids.slice(2)]).toEqual([
    [0, 99],
    [1, 2, 3],
  ]);
});
