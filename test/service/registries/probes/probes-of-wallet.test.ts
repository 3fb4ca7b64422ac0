import { getAddress } from "viem";
import { afterEach, describe, expect, test } from "vitest";
import { createInfrastructureReader } from "../../../../service/registries/probes/probes-of-wallet.ts";
import { forFile } from "../../../support/test-database.ts";
import { createScanWorld, OWNER, openWallet, registerAgent, service } from "./scan-world.ts";

const STRANGER = `0x${"b2".repeat(20)}` as const;
const HOT = `0x${"c3".repeat(20)}` as const;

const BAZAAR = {
  name: "Agent Bazaar",
  kind: "erc8004",
  address: getAddress(`0x${"ba".repeat(20)}`),
  startBlock: 1,
} as const;

const world = await forFile(createScanWorld);
const reader = createInfrastructureReader(world.db, { chainId: 31337, registries: [BAZAAR] });
afterEach(() => world.clear());

const idsOf = async (wallet: `0x${string}`) => (await reader.agents(wallet)).map(({ agentId }) => agentId);

describe("the agents of a wallet", () => {
  test("are those whose wallet it is, by rising id, 0 among them", async () => {
    for (const agentId of [7, 0, 10]) {
      await registerAgent(world.db, { agentId, uri: "", owner: STRANGER, wallet: OWNER });
    }
    expect(await idsOf(OWNER)).toEqual(["0", "7", "10"]);
  });

  test("are its own too that act through another wallet, once they acted through it", async () => {
    await registerAgent(world.db, { agentId: 1, uri: "", owner: OWNER, wallet: OWNER });
    await registerAgent(world.db, { agentId: 1, uri: "", owner: OWNER, wallet: HOT });
    expect([await idsOf(OWNER), await idsOf(HOT)]).toEqual([["1"], ["1"]]);
  });

  test("are not those that a stranger handed over", async () => {
    await registerAgent(world.db, { agentId: 1, uri: "", owner: STRANGER, wallet: STRANGER });
    // A transfer clears the wallet.
    await registerAgent(world.db, { agentId: 1, uri: "", owner: OWNER, wallet: null });
    expect([await idsOf(OWNER), await idsOf(STRANGER)]).toEqual([[], []]);
  });

  test("are not those that it once acted for", async () => {
    await registerAgent(world.db, { agentId: 1, uri: "", owner: STRANGER, wallet: HOT });
    await openWallet(world.db, 1, OWNER);
    expect(await idsOf(OWNER)).toEqual([]);
  });

  test("have no state until their document was asked for", async () => {
    await registerAgent(world.db, { agentId: 1, uri: "data:,", owner: OWNER, wallet: OWNER });
    expect(await reader.agents(OWNER)).toEqual([
      { agentId: "1", registry: null, state: null, detail: null, fetchedAt: null, services: [] },
    ]);
  });
});

test("the agents of a wallet are those of further registries as well, of a registry that is not read any more none", async () => {
  await registerAgent(world.db, { agentId: 9, uri: "", owner: OWNER, wallet: OWNER });
  const services = [service("https://a.example/")];
  for (const registry of [BAZAAR.address.toLowerCase(), STRANGER]) {
    await world.db.$client.query(
      `insert into ahs.registry_agent (chain_id, registry, agent_id, wallet, services, document_state, registered_block, updated_block)
       values (31337, $1, 3, $2, $3, 'current', 1, 1)`,
      [registry, OWNER, JSON.stringify(services)],
    );
  }
  expect((await reader.agents(OWNER)).map(({ agentId, registry }) => [agentId, registry])).toEqual([
    ["9", null],
    ["3", BAZAAR.address.toLowerCase()],
  ]);
  expect((await reader.agents(OWNER))[1]).toMatchObject({ state: "current", services });
});

describe("probes", () => {
  const endpoint = "https://a.example/";
  const declared = { endpoint, kind: "mcp" } as const;
  const insert = (at: string, outcome: string, latencyMs: number | null, url = endpoint) =>
    world.db.$client.query(
      "insert into ahs.probe (chain_id, endpoint, at, outcome, status, latency_ms) values (31337, $1, $2, $3, 200, $4)",
      [url, at, outcome, latencyMs],
    );

  test("are those of the endpoints from a moment on, oldest first", async () => {
    await insert("2026-11-20T09:00:00Z", "error", 5);
    await insert("2026-11-20T08:00:00Z", "ok", 7);
    await insert("2026-11-20T07:59:59Z", "ok", 8);
    await insert("2026-11-20T09:00:00Z", "ok", 9, "https://b.example/");
    const found = await reader.probes([declared], new Date("2026-11-20T08:00:00Z"));
    const visit = { endpoint, status: 200, valid: null, detail: null, quarters: 1 };
    expect(found).toEqual([
      { ...visit, at: new Date("2026-11-20T08:00:00Z"), outcome: "ok", latencyMs: 7 },
      { ...visit, at: new Date("2026-11-20T09:00:00Z"), outcome: "error", latencyMs: 5 },
    ]);
  });

  test("of an endpoint are those of the kind that it is declared as, and those from before kinds were noted", async () => {
    for (const outcome of ["ok", "error", "timeout"]) await insert("2026-11-20T09:00:00Z", outcome, 5);
    await world.db.$client.query(
      "update ahs.probe set kind = case outcome when 'ok' then 'mcp' when 'error' then 'other' end",
    );
    const found = await reader.probes([declared], new Date(0));
    expect(found.map(({ outcome }) => outcome).toSorted()).toEqual(["ok", "timeout"]);
    const [day] = await reader.days([declared], new Date(0), 10_000);
    expect(day).toMatchObject({ probes: 2, alive: 1 });
  });

  test("of an endpoint that is visited hourly count for all quarter hours of their day", async () => {
    await insert("2026-11-20T01:00:00Z", "ok", 100);
    await insert("2026-11-20T02:00:00Z", "timeout", null);
    await world.db.$client.query("update ahs.probe set quarters = 4 where outcome = 'timeout'");
    expect(await reader.days([declared], new Date("2026-11-01T00:00:00Z"), 10_000)).toEqual([
      { endpoint, day: "2026-11-20", probes: 5, alive: 1, latencyP50Ms: 10_000, latencyP95Ms: 10_000 },
    ]);
    expect((await reader.probes([declared], new Date(0))).map(({ quarters }) => quarters)).toEqual([1, 4]);
  });

  test("are reported as regular or in turns, and not at all for an endpoint that is not scheduled", async () => {
    const urls = ["https://kept.example/", "https://turn.example/", "https://none.example/"];
    for (const [i, place] of ["kept", "turn", "none"].entries()) {
      await world.db.$client.query(
        `insert into ahs.probe_schedule (chain_id, endpoint, kind, account, next_at, place)
         values (31337, $1, 'mcp', 'a', now(), $2)`,
        [urls[i], place],
      );
    }
    const asked = [...urls, endpoint].map((url) => ({ endpoint: url, kind: "mcp" }) as const);
    expect(await reader.probing(asked)).toEqual(
      new Map([
        ["https://kept.example/", "regular"],
        ["https://turn.example/", "in_turns"],
        ["https://none.example/", "in_turns"],
      ]),
    );
    expect(await reader.probing([{ endpoint: "https://kept.example/", kind: "other" }])).toEqual(new Map());
  });

  test("are summed up by UTC day, newest first, a failure as the longest wait", async () => {
    await insert("2026-11-19T23:59:59Z", "ok", 100);
    await insert("2026-11-20T00:00:00Z", "ok", 300);
    await insert("2026-11-20T12:00:00Z", "ok", 200);
    await insert("2026-11-20T13:00:00Z", "timeout", null);
    expect(await reader.days([declared], new Date("2026-11-01T00:00:00Z"), 10_000)).toEqual([
      { endpoint, day: "2026-11-20", probes: 3, alive: 2, latencyP50Ms: 300, latencyP95Ms: 10_000 },
      { endpoint, day: "2026-11-19", probes: 1, alive: 1, latencyP50Ms: 100, latencyP95Ms: 100 },
    ]);
  });
});
