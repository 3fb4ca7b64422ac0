import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../../../service/db/database.ts";
import { fetchFailure } from "../../../../service/net/exchange.ts";
import { createGuardedFetch, type GuardedFetch } from "../../../../service/net/guarded-fetch.ts";
import { until } from "../../../support/until.ts";
import { serveHttp, serveHttps, serveTcp, type TestServer } from "../../net/hostile-server.ts";
import { createAuthority, createIdentity } from "../../net/test-certificates.ts";
import { createScanWorld, dataUri, registerAgent, rowsOf, type ScanWorld, service } from "./scan-world.ts";

const authority = createAuthority();
const identity = createIdentity(authority, { names: ["agent.test"] });

let world: ScanWorld;
const servers: TestServer[] = [];

beforeAll(async () => {
  world = await createScanWorld({ ca: authority.certificate });
});
afterAll(() => world.close());
afterEach(async () => {
  await world.clear();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function started(server: Promise<TestServer>): Promise<number> {
  const running = await server;
  servers.push(running);
  return running.port;
}

type Document = Awaited<ReturnType<ScanWorld["documents"]>>[number];

async function documentIn(state: string, id = 1): Promise<Document> {
  return until({ what: `document ${id} is ${state}`, timeoutMs: 170_000 }, async () => {
    const found = (await world.documents()).find((row) => row.id === id);
    return found?.state === state ? found : null;
  });
}

describe("documents", () => {
  test("are fetched over https and from data: URIs, once each", async () => {
    let asked = 0;
    const port = await started(
      serveHttps(identity, (_request, response) => {
        asked++;
        response.end(JSON.stringify({ name: "remote", services: [service("ens.eth", "ENS")] }));
      }),
    );
    await world.register(0, dataUri({ name: "inline", services: [service("x.eth", "ENS")] }));
    await world.register(1, `https://agent.test:${port}/agent.json`);
    world.start();
    expect(await documentIn("current", 0)).toMatchObject({
      name: "inline",
      detail: null,
      attempts: 0,
      services: [service("x.eth", "ENS")],
    });
    expect(await documentIn("current", 1)).toMatchObject({
      name: "remote",
      services: [service("ens.eth", "ENS")],
      content_hash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      fetched_at: new Date("2026-11-20T10:00:00Z"),
      not_before: new Date("2026-11-21T04:00:00Z"),
    });
    await sleep(150);
    expect(asked).toBe(1);
  });

  test("are fetched again when the URI changes, and in the next night", async () => {
    await world.register(1, dataUri({ name: "first" }));
    world.start();
    await documentIn("current");
    await world.register(1, dataUri({ name: "second" }));
    await until({ what: "the new document", timeoutMs: 5_000 }, async () =>
      (await documentIn("current")).name === "second" ? true : null,
    );
    world.clock.ms = Date.parse("2026-11-21T04:00:00Z");
    await until({ what: "the nightly fetch", timeoutMs: 5_000 }, async () =>
      (await documentIn("current")).fetched_at.getTime() === world.clock.ms ? true : null,
    );
  });

  test("that vanish leave the services of the last good one, say so, and are tried ever less often", async () => {
    let status = 200;
    const port = await started(
      serveHttp((_request, response) =>
        response.writeHead(status).end(JSON.stringify({ name: "n", services: [service("x.eth", "ENS")] })),
      ),
    );
    await world.register(1, `http://127.0.0.1:${port}/`);
    world.start();
    await documentIn("current");
    status = 404;
    world.clock.ms = Date.parse("2026-11-21T04:00:00Z");
    const vanished = await documentIn("unreachable");
    expect(vanished).toMatchObject({
      services: [service("x.eth", "ENS")],
      name: "n",
      detail:
        "The host answered 404; redirects are not followed. The services are those of the last good document.",
      fetched_at: new Date("2026-11-20T10:00:00Z"),
      attempts: 1,
      not_before: new Date("2026-11-21T04:01:00Z"),
    });
    world.clock.ms += 60_000;
    await until({ what: "the second try", timeoutMs: 5_000 }, async () => {
      const [row] = await world.documents();
      return row?.attempts === 2 ? row : null;
    }).then((row) => expect(row.not_before.getTime() - world.clock.ms).toBe(120_000));
    status = 200;
    world.clock.ms += 120_000;
    expect(await documentIn("current")).toMatchObject({ attempts: 0, detail: null });
  });

  test("are taken back by emptying the URI", async () => {
    await world.register(1, dataUri({ name: "n", services: [service("x.eth", "ENS")] }));
    world.start();
    await documentIn("current");
    await world.register(1, "");
    expect(await documentIn("malformed")).toMatchObject({
      services: [],
      detail: "The registry holds no URI.",
    });
  });

  test("that are no https or data: URI, or lead where nobody is sent, are refused, and broken ones malformed", async () => {
    const uris: Record<string, string> = {
      "ipfs://bafy/agent.json": "refused",
      "agent-registration.json": "refused",
      "https://10.0.0.1/agent.json": "refused",
      "https://169.254.169.254/latest/meta-data": "refused",
      "data:application/json;base64,~~~~": "malformed",
      "data:application/json,[]": "malformed",
    };
    for (const [id, uri] of Object.keys(uris).entries()) await world.register(id, uri);
    world.start();
    const documents = await rowsOf(world.documents, 6);
    expect(Object.fromEntries(documents.map(({ uri, state }) => [uri, state]))).toEqual(uris);
    expect(documents.every(({ services, attempts }) => services.length === 0 && attempts === 1)).toBe(true);
  });

  test("of ipfs are read from the gateway, and one that hangs keeps nobody else waiting", async () => {
    let [open, most, hangs] = [0, 0, true];
    const gateway = await started(
      serveHttp((_request, response) => {
        most = Math.max(most, ++open);
        response.on("close", () => open--);
        if (!hangs) response.end(JSON.stringify({ name: "on ipfs" }));
      }),
    );
    const cid = (id: number) => `f01701220${String(id).padStart(64, "0")}`;
    const account = (id: number) => `0x${String(id).padStart(40, "0")}`;
    for (let id = 0; id < 20; id += 1) await world.register(id, `ipfs://${cid(id)}/a.json`, account(id));
    world.start({ ipfsGateway: `http://127.0.0.1:${gateway}` });
    await documentIn("unreachable", 0);
    await world.register(100, dataUri({ name: "elsewhere" }), account(100));
    await documentIn("current", 100);
    expect(most).toBeLessThanOrEqual(4);
    hangs = false;
    await world.register(101, `ipfs://${cid(101)}`, account(101));
    expect(await documentIn("current", 101)).toMatchObject({ name: "on ipfs" });
  });

  test("of hostile hosts keep nobody waiting", async () => {
    const silent = await started(serveTcp(() => undefined));
    const endless = await started(
      serveHttp((_request, response) => {
        const timer = setInterval(() => response.write("x".repeat(30_000)), 1);
        response.on("close", () => clearInterval(timer));
      }),
    );
    for (let id = 0; id < 40; id++) await world.register(id, `http://127.0.0.1:${silent}/${id}`);
    for (let id = 40; id < 60; id++) await world.register(id, `http://127.0.0.1:${endless}/${id}`);
    await world.register(99, dataUri({ name: "honest" }), `0x${"99".repeat(20)}`);
    const before = performance.now();
    world.start();
    await documentIn("current", 99);
    // Two at once of the silent host, each until its deadline: forty of them take eight seconds.
    expect(performance.now() - before).toBeLessThan(5_000);
    expect(await documentIn("malformed", 40)).toMatchObject({
      detail: "The answer was larger than allowed.",
    });
    expect(await documentIn("unreachable", 0)).toMatchObject({
      detail: "The answer was not complete within the time allowed.",
    });
  });

  test("are counted by state", async () => {
    await world.register(1, dataUri({ name: "n" }));
    await world.register(2, "ipfs://x");
    world.start();
    await rowsOf(world.documents, 2);
    await until({ what: "the gauge", timeoutMs: 5_000 }, async () => {
      const text = await world.registry.metrics();
      return text.includes('ahs_scan_documents{state="current"} 1') &&
        text.includes('ahs_scan_documents{state="refused"} 1')
        ? true
        : null;
    });
  });
});

describe("probes", () => {
  test("visit every http(s) endpoint once a quarter of an hour, each URL once however many declare it", async () => {
    const visited: string[] = [];
    const port = await started(
      serveHttp((request, response) => {
        visited.push(request.url ?? "");
        response.writeHead(request.url === "/paid" ? 402 : 200).end("hello");
      }),
    );
    const base = `http://127.0.0.1:${port}`;
    const services = [service(`${base}/a`), service(`${base}/paid`), service("x.eth", "ENS")];
    await world.register(1, dataUri({ name: "one", services }));
    await world.register(2, dataUri({ name: "two", services: [service(`${base}/a#part`)] }));
    world.start();
    const probes = await rowsOf(world.probes, 2);
    expect(probes.toSorted((a, b) => a.endpoint.localeCompare(b.endpoint))).toEqual([
      {
        endpoint: `${base}/a`,
        kind: "other",
        outcome: "ok",
        status: 200,
        latency_ms: expect.any(Number),
        valid: null,
        detail: null,
        quarters: 1,
        at: new Date(world.clock.ms),
      },
      {
        endpoint: `${base}/paid`,
        kind: "other",
        outcome: "ok",
        status: 402,
        latency_ms: expect.any(Number),
        valid: null,
        detail: null,
        quarters: 1,
        at: new Date(world.clock.ms),
      },
    ]);
    expect(await world.schedule()).toEqual([
      { endpoint: `${base}/a`, kind: "other", next_at: new Date("2026-11-20T10:15:00Z") },
      { endpoint: `${base}/paid`, kind: "other", next_at: new Date("2026-11-20T10:15:00Z") },
    ]);
    await sleep(150);
    expect(visited.toSorted()).toEqual(["/a", "/paid"]);
    world.clock.ms += 15 * 60_000;
    await rowsOf(world.probes, 4);
    expect(visited.toSorted()).toEqual(["/a", "/a", "/paid", "/paid"]);
  });

  test("tell every way in which an endpoint fails", async () => {
    const web = await started(
      serveHttp((request, response) => {
        if (request.url === "/huge") response.writeHead(200).end("x".repeat(200_000));
        else if (request.url === "/reset") request.socket.resetAndDestroy();
        else if (request.url !== "/silent") response.writeHead(Number(request.url?.slice(1))).end();
      }),
    );
    const closed = await started(serveHttp(() => undefined));
    await servers.pop()?.close();
    const base = `http://127.0.0.1:${web}`;
    const expected: Record<string, readonly [string, number | null]> = {
      [`${base}/200`]: ["ok", 200],
      [`${base}/huge`]: ["ok", 200],
      [`${base}/401`]: ["ok", 401],
      [`${base}/404`]: ["error", 404],
      [`${base}/503`]: ["error", 503],
      [`${base}/silent`]: ["timeout", null],
      [`${base}/reset`]: ["unreachable", null],
      [`http://127.0.0.1:${closed}/`]: ["unreachable", null],
      "https://10.1.2.3/": ["refused", null],
      "http://public.test/": ["refused", null],
      "https://user:secret@agent.test/": ["refused", null],
    };
    await world.register(
      1,
      dataUri({ name: "n", services: Object.keys(expected).map((endpoint) => service(endpoint)) }),
    );
    world.start({ fetch: fetchByName });
    const probes = await rowsOf(world.probes, 11);
    expect(Object.fromEntries(probes.map((row) => [row.endpoint, [row.outcome, row.status]]))).toEqual(
      expected,
    );
    expect(probes.find((row) => row.outcome === "timeout")).toMatchObject({ latency_ms: null, valid: null });
    const text = await world.registry.metrics();
    expect(text).toContain('ahs_scan_probes_total{outcome="refused"} 3');
  });

  test("speak to an MCP server in its own language, and judge an agent card", async () => {
    const port = await started(
      serveHttp((request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          if (request.method === "GET") return response.end('{"name":"card","skills":[],"url":"u"}');
          const { method, id } = JSON.parse(Buffer.concat(chunks).toString());
          const result = { protocolVersion: "2025-06-18", serverInfo: { name: method } };
          // The stream is left open, as some servers do.
          response.writeHead(200, { "content-type": "text/event-stream" });
          return response.write(
            `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`,
          );
        });
      }),
    );
    const base = `http://127.0.0.1:${port}`;
    const services = [
      service(`${base}/mcp`, "MCP"),
      service(`${base}/card`, "A2A"),
      // Called by two names, as a stranger's word for another's endpoint may do, it is judged by each.
      service(`${base}/both`, "MCP"),
      service(`${base}/both`, "A2A"),
    ];
    await world.register(1, dataUri({ name: "n", services }));
    world.start();
    const probes = await rowsOf(world.probes, 4);
    expect(probes.map((row) => [row.endpoint, row.kind, row.outcome, row.valid]).toSorted()).toEqual([
      [`${base}/both`, "a2a", "ok", true],
      [`${base}/both`, "mcp", "ok", true],
      [`${base}/card`, "a2a", "ok", true],
      [`${base}/mcp`, "mcp", "ok", true],
    ]);
  });

  test("of a slow host with many URLs keep no other waiting", async () => {
    const slow = await started(serveTcp(() => undefined));
    const quick = await started(serveHttp((_request, response) => response.end("ok")));
    for (let id = 0; id < 10; id++) {
      const services = Array.from({ length: 32 }, (_, i) => service(`http://127.0.0.1:${slow}/${id}/${i}`));
      await world.register(id, dataUri({ name: "slow", services }));
    }
    const services = [service(`http://127.0.0.1:${quick}/`)];
    await world.register(99, dataUri({ name: "quick", services }), `0x${"99".repeat(20)}`);
    world.start();
    await until({ what: "320 slow endpoints are scheduled" }, async () =>
      (await world.schedule()).length === 321 ? true : null,
    );
    const endpoint = `http://127.0.0.1:${quick}/`;
    await until({ what: "the quick one is probed", timeoutMs: 5_000 }, async () =>
      (await world.probes()).some((row) => row.endpoint === endpoint) ? true : null,
    );
  });

  test("of one domain are few at once, however many hosts and accounts name it", async () => {
    let [open, most] = [0, 0];
    const counting: GuardedFetch = async () => {
      most = Math.max(most, ++open);
      await sleep(10);
      open--;
      return { kind: "answered", status: 200, headers: new Map(), body: Buffer.of() };
    };
    for (let id = 0; id < 60; id++) {
      const uri = dataUri({
        name: "crowd",
        services: [service(`https://${id}.crowd.example:${8000 + id}/`)],
      });
      const wallet = `0x${String(id).padStart(40, "0")}`;
      await registerAgent(world.db, { agentId: id, uri, owner: wallet, wallet });
    }
    world.start({ fetch: counting });
    await rowsOf(world.probes, 60);
    expect(most).toBeLessThanOrEqual(4);
  });

  test("of an account with many hosts that never answer keep no other waiting", async () => {
    const silent: GuardedFetch = async ({ url, signal }) => {
      if (!url.includes("wild"))
        return { kind: "answered", status: 200, headers: new Map(), body: Buffer.of() };
      await sleep(60_000, undefined, { signal }).catch(() => undefined);
      return fetchFailure("timeout");
    };
    for (let id = 0; id < 10; id++) {
      const services = Array.from({ length: 32 }, (_, i) => service(`https://${id}-${i}.wild.example/`));
      await world.register(id, dataUri({ name: "wild", services }));
    }
    world.start({ fetch: silent });
    await until({ what: "320 endpoints are scheduled" }, async () =>
      (await world.schedule()).length === 320 ? true : null,
    );
    const other = `0x${"b2".repeat(20)}`;
    const uri = dataUri({ name: "quick", services: [service("https://agent.example/")] });
    await registerAgent(world.db, { agentId: 99, uri, owner: other, wallet: other });
    const [first] = await rowsOf(world.probes, 1);
    expect(first).toMatchObject({ endpoint: "https://agent.example/", outcome: "ok" });
  });

  test("of an endpoint that failed for a day follow hourly, count as many, and quicken with one answer", async () => {
    let status = 503;
    const port = await started(serveHttp((_request, response) => response.writeHead(status).end()));
    await world.register(1, dataUri({ name: "n", services: [service(`http://127.0.0.1:${port}/`)] }));
    world.start();
    const visitAfter = async (minutes: number, visits: number) => {
      world.clock.ms += minutes * 60_000;
      return (await rowsOf(world.probes, visits)).at(-1);
    };
    const minutesToNext = async () => {
      const [row] = await world.schedule();
      return (row.next_at.getTime() - world.clock.ms) / 60_000;
    };
    expect(await visitAfter(0, 1)).toMatchObject({ outcome: "error", quarters: 1 });
    expect(await minutesToNext()).toBe(15);
    expect(await visitAfter(24 * 60, 2)).toMatchObject({ outcome: "error", quarters: 1 });
    expect(await minutesToNext()).toBe(60);
    expect(await visitAfter(60, 3)).toMatchObject({ outcome: "error", quarters: 4 });
    expect(await minutesToNext()).toBe(60);
    status = 200;
    expect(await visitAfter(60, 4)).toMatchObject({ outcome: "ok", quarters: 1 });
    expect(await minutesToNext()).toBe(15);
    status = 503;
    expect(await visitAfter(15, 5)).toMatchObject({ outcome: "error", quarters: 1 });
    expect(await minutesToNext()).toBe(15);
  });

  test("go on after a restart where they were: nothing twice, and what fell due meanwhile at once", async () => {
    let visits = 0;
    const port = await started(
      serveHttp((_request, response) => {
        visits++;
        response.end("ok");
      }),
    );
    await world.register(1, dataUri({ name: "n", services: [service(`http://127.0.0.1:${port}/`)] }));
    world.start();
    await rowsOf(world.probes, 1);
    await world.stop();
    world.start();
    await sleep(200);
    expect(visits).toBe(1);
    await world.stop();
    world.clock.ms += 3_600_000;
    world.start();
    await rowsOf(world.probes, 2);
    await sleep(100);
    expect(visits).toBe(2);
  });

  test("that the end of the process cuts short are not held against the endpoint", async () => {
    const port = await started(serveTcp(() => undefined));
    await world.register(1, dataUri({ name: "n", services: [service(`http://127.0.0.1:${port}/`)] }));
    world.start();
    await rowsOf(world.schedule, 1);
    await sleep(100);
    await world.stop();
    expect(await world.probes()).toEqual([]);
  });

  test("end for an endpoint that is declared no more, and are kept for thirty days", async () => {
    const port = await started(serveHttp((_request, response) => response.end("ok")));
    const endpoint = `http://127.0.0.1:${port}/`;
    const old = (id: number, days: number) =>
      insertProbe(world.db, endpoint, world.clock.ms - days * 86_400_000 + id);
    await old(1, 31);
    await old(2, 29);
    await world.register(1, dataUri({ name: "n", services: [service(endpoint)] }));
    world.start();
    await until({ what: "one old and one new probe", timeoutMs: 5_000 }, async () => {
      const rows = await world.probes();
      return rows.length === 2 && rows.every((row) => row.at.getTime() > world.clock.ms - 30 * 86_400_000)
        ? true
        : null;
    });
    await world.register(1, dataUri({ name: "n", services: [] }));
    await until({ what: "the schedule is empty", timeoutMs: 5_000 }, async () =>
      (await world.schedule()).length === 0 ? true : null,
    );
  });

  test("outlive a database that refuses for a while", async () => {
    const port = await started(serveHttp((_request, response) => response.end("ok")));
    await world.register(1, dataUri({ name: "n", services: [service(`http://127.0.0.1:${port}/`)] }));
    await world.db.$client.query("alter table ahs.probe rename to probe_away");
    world.start();
    await rowsOf(world.schedule, 1);
    await until({ what: "a failure is logged", timeoutMs: 5_000 }, async () =>
      world.log.some((line) => line.includes("probing an endpoint failed")) ? true : null,
    );
    await world.db.$client.query("alter table ahs.probe_away rename to probe");
    expect(await rowsOf(world.probes, 1)).toHaveLength(1);
  });
});

/** A public name has a public address; every other one is on this machine. */
const fetchByName = createGuardedFetch({
  resolve: async (name) => (name === "public.test" ? ["93.184.215.14"] : ["127.0.0.1"]),
  loopback: "allowed",
  deadlineMs: 400,
});

async function insertProbe(db: Database, endpoint: string, at: number): Promise<void> {
  await db.$client.query(
    "insert into ahs.probe (chain_id, endpoint, at, outcome) values (31337, $1, $2, 'ok')",
    [endpoint, new Date(at)],
  );
}
