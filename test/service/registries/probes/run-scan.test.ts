import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { probe } from "../../../../service/db/tables/infrastructure.ts";
import { fetchFailure } from "../../../../service/net/exchange.ts";
import { createGuardedFetch, type GuardedFetch } from "../../../../service/net/guarded-fetch.ts";
import { forFile } from "../../../support/test-database.ts";
import { until } from "../../../support/until.ts";
import { serveHttp, serveHttps, serveTcp, type TestServer } from "../../net/hostile-server.ts";
import { createAuthority, createIdentity } from "../../net/test-certificates.ts";
import {
  createScanWorld,
  dataUri,
  FURTHER,
  holds,
  OWNER,
  rowsOf,
  type ScanWorld,
  service,
} from "./scan-world.ts";

const authority = createAuthority();
const identity = createIdentity(authority, { names: ["agent.test"] });

const servers: TestServer[] = [];

const world = await forFile(() => createScanWorld({ ca: authority.certificate }));
afterEach(async () => {
  await world.clear();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** The URL of a server with this handler. */
async function served(handler: Parameters<typeof serveHttp>[0]): Promise<string> {
  return `http://127.0.0.1:${await started(serveHttp(handler))}/`;
}

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
      contentHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      fetchedAt: new Date("2026-11-20T10:00:00Z"),
      notBefore: new Date("2026-11-21T04:00:00Z"),
    });
    await sleep(150);
    expect(asked).toBe(1);
  });

  test("are fetched again when the URI changes, and in the next night", async () => {
    await world.register(1, dataUri({ name: "first" }));
    world.start();
    await documentIn("current");
    await world.register(1, dataUri({ name: "second" }));
    await holds("the new document", async () => (await documentIn("current")).name === "second");
    world.clock.ms = Date.parse("2026-11-21T04:00:00Z");
    await holds(
      "the nightly fetch",
      async () => (await documentIn("current")).fetchedAt?.getTime() === world.clock.ms,
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
      fetchedAt: new Date("2026-11-20T10:00:00Z"),
      attempts: 1,
      notBefore: new Date("2026-11-21T04:01:00Z"),
    });
    world.clock.ms += 60_000;
    await holds("the second try", async () => (await world.documents())[0]?.attempts === 2);
    expect((await world.documents())[0]?.notBefore).toEqual(new Date(world.clock.ms + 120_000));
    status = 200;
    world.clock.ms += 120_000;
    expect(await documentIn("current")).toMatchObject({ attempts: 0, detail: null });
  });

  test("are taken back by emptying the URI", async () => {
    await world.declare(1, [service("x.eth", "ENS")]);
    world.start();
    await documentIn("current");
    await world.register(1, "");
    expect(await documentIn("malformed")).toMatchObject({
      services: [],
      detail: "The registry holds no URI.",
    });
  });

  test("that are no https or data: URI, or lead to a forbidden host, are refused, and broken ones malformed", async () => {
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

  test("of ipfs are read from the gateway, and one that hangs delays no other", async () => {
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

  test("of hostile hosts delay no other", async () => {
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
    world.start();
    await documentIn("current", 99);
    const given = (await world.documents()).filter(({ state }) => state === "unreachable");
    // Two of the silent host's forty at once, each until its deadline.
    expect(given.length).toBeLessThan(20);
    expect(await documentIn("malformed", 40)).toMatchObject({
      detail: "The answer was larger than allowed.",
    });
    expect(await documentIn("unreachable", 0)).toMatchObject({
      detail: "The answer was not complete within the time allowed.",
    });
  });

  test("of further registries name their agents, declare endpoints, and are read again after a failure and each night", async () => {
    const asked: string[] = [];
    let document: object = { name: "Trader service", description: "Trades.", services: [] };
    const gateway = await served((request, response) => {
      asked.push(request.url ?? "");
      if (asked.length === 1) response.writeHead(500);
      response.end(JSON.stringify(document));
    });
    const endpoint = await served((_request, response) => response.end("{}"));
    await world.db.$client.query(
      `insert into ahs.registry_agent (chain_id, registry, agent_id, wallet, uri, not_before, registered_block, updated_block)
       values (31337, $1, 7, $2, $3, 'epoch', 1, 1), (31337, $4, 7, $2, $3, 'epoch', 1, 1)`,
      [FURTHER, OWNER, `ipfs://f01701220${"12".repeat(32)}`, OWNER],
    );
    const agent = async () => {
      const { rows } = await world.db.$client.query(
        `select name, description, document_state as state, attempts from ahs.registry_agent where registry = $1`,
        [FURTHER],
      );
      return rows[0];
    };
    world.start({ ipfsGateway: gateway });
    await holds("the failure", async () => (await agent()).state === "unreachable");
    expect(await agent()).toMatchObject({ name: null, attempts: 1 });
    world.clock.ms += 120_000;
    await holds("the document", async () => (await agent()).state === "current");
    expect(await agent()).toEqual({
      ...{ name: "Trader service", description: "Trades." },
      ...{ state: "current", attempts: 0 },
    });
    document = { name: "Trader service", services: [service(endpoint)] };
    world.clock.ms = Date.parse("2026-11-21T05:59:59Z");
    await holds("a visit of its endpoint", async () => (await world.probes()).length > 0);
    expect((await world.probes())[0]).toMatchObject({ endpoint, outcome: "ok" });
    expect(new Set(asked)).toEqual(new Set([`/ipfs/f01701220${"12".repeat(32)}`]));
    expect(asked.length).toBe(3);
  });

  test("are counted by state", async () => {
    await world.register(1, dataUri({ name: "n" }));
    await world.register(2, "ipfs://x");
    world.start();
    await rowsOf(world.documents, 2);
    await holds("the gauge", async () => {
      const text = await world.registry.metrics();
      return ["current", "refused"].every((state) => text.includes(`ahs_scan_documents{state="${state}"} 1`));
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
    const visit = { kind: "other", outcome: "ok", latencyMs: expect.any(Number), valid: null, detail: null };
    const own = { ...visit, quarters: 1, at: new Date(world.clock.ms) };
    expect(probes.toSorted((a, b) => a.endpoint.localeCompare(b.endpoint))).toEqual([
      { ...own, endpoint: `${base}/a`, status: 200 },
      { ...own, endpoint: `${base}/paid`, status: 402 },
    ]);
    const next = { kind: "other", nextAt: new Date("2026-11-20T10:15:00Z") };
    expect(await world.schedule()).toEqual([
      { ...next, endpoint: `${base}/a` },
      { ...next, endpoint: `${base}/paid` },
    ]);
    await sleep(150);
    expect(visited.toSorted()).toEqual(["/a", "/paid"]);
    world.clock.ms += 15 * 60_000;
    await rowsOf(world.probes, 4);
    expect(visited.toSorted()).toEqual(["/a", "/a", "/paid", "/paid"]);
  });

  test("name every way in which an endpoint fails", async () => {
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
    await world.declare(
      1,
      Object.keys(expected).map((endpoint) => service(endpoint)),
    );
    world.start({ fetch: fetchByName });
    const probes = await rowsOf(world.probes, 11);
    expect(Object.fromEntries(probes.map((row) => [row.endpoint, [row.outcome, row.status]]))).toEqual(
      expected,
    );
    expect(probes.find((row) => row.outcome === "timeout")).toMatchObject({ latencyMs: null, valid: null });
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
    await world.declare(1, services);
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
      await world.declare(id, services);
    }
    await world.declare(99, [service(`http://127.0.0.1:${quick}/`)], `0x${"99".repeat(20)}`);
    world.start();
    await holds("320 slow endpoints are scheduled", async () => (await world.schedule()).length === 321);
    const endpoint = `http://127.0.0.1:${quick}/`;
    await holds("the quick one is probed", async () =>
      (await world.probes()).some((row) => row.endpoint === endpoint),
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
      const services = [service(`https://${id}.crowd.example:${8000 + id}/`)];
      await world.declare(id, services, `0x${String(id).padStart(40, "0")}`);
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
      await world.declare(id, services);
    }
    world.start({ fetch: silent });
    await holds("320 endpoints are scheduled", async () => (await world.schedule()).length === 320);
    await world.declare(99, [service("https://agent.example/")], `0x${"b2".repeat(20)}`);
    const [first] = await rowsOf(world.probes, 1);
    expect(first).toMatchObject({ endpoint: "https://agent.example/", outcome: "ok" });
  });

  test("of an endpoint that failed for a day follow hourly, count as many, and quicken with one answer", async () => {
    let status = 503;
    const port = await started(serveHttp((_request, response) => response.writeHead(status).end()));
    await world.declare(1, [service(`http://127.0.0.1:${port}/`)]);
    world.start();
    const visitAfter = async (minutes: number, visits: number) => {
      world.clock.ms += minutes * 60_000;
      return (await rowsOf(world.probes, visits)).at(-1);
    };
    const minutesToNext = async () => {
      const [row] = await world.schedule();
      return row === undefined ? null : (row.nextAt.getTime() - world.clock.ms) / 60_000;
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
    await world.declare(1, [service(`http://127.0.0.1:${port}/`)]);
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
    await world.declare(1, [service(`http://127.0.0.1:${port}/`)]);
    world.start();
    await rowsOf(world.schedule, 1);
    await sleep(100);
    await world.stop();
    expect(await world.probes()).toEqual([]);
  });

  test("end for an endpoint that is declared no more, and are stored for thirty days", async () => {
    const endpoint = await served((_request, response) => response.end("ok"));
    for (const days of [31, 29]) {
      const at = new Date(world.clock.ms - days * 86_400_000 + 1);
      await world.db.insert(probe).values({ chainId: 31337, endpoint, at, outcome: "ok" });
    }
    await world.declare(1, [service(endpoint)]);
    world.start();
    await holds("one old and one new probe", async () => {
      const rows = await world.probes();
      return rows.length === 2 && rows.every((row) => row.at.getTime() > world.clock.ms - 30 * 86_400_000);
    });
    await world.declare(1, []);
    await holds("the schedule is empty", async () => (await world.schedule()).length === 0);
  });

  test("outlive a database that refuses for a while", async () => {
    const port = await started(serveHttp((_request, response) => response.end("ok")));
    await world.declare(1, [service(`http://127.0.0.1:${port}/`)]);
    await world.db.$client.query("alter table ahs.probe rename to probe_away");
    world.start();
    await rowsOf(world.schedule, 1);
    await holds("a failure is logged", async () =>
      world.log.some((line) => line.includes("probing an endpoint failed")),
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
