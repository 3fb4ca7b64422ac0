import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, BlockList, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  drainServer,
  SERVER_LIMITS,
  type ServerLimits,
  startHttpServer,
} from "../../../bin/serve/http-server.ts";
import { createServerLife } from "../../../service/api/kit/server-life.ts";

const LIMITS: ServerLimits = {
  ...SERVER_LIMITS,
  headersMs: 300,
  requestMs: 600,
  keepAliveMs: 5_000,
  checkMs: 50,
  headerBytes: 2_048,
  targetBytes: 1_000,
};

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.closeAllConnections();
});

type Fetch = Parameters<typeof startHttpServer>[0];

async function start(fetch: Fetch = async (request) => new Response(await request.text())) {
  const server = await startHttpServer(fetch, {
    ...{ host: "127.0.0.1", port: 0, limits: LIMITS },
    trustedProxies: { list: new BlockList(), none: true },
    onDrop: () => undefined,
  });
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}` };
}

/** Returns the server's answer to these bytes, read until the server closes the connection. */
async function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.on("error", () => undefined);
  socket.write(bytes);
  await once(socket, "close");
  return received;
}

describe("a malformed request", () => {
  const many = `x-long: ${"x".repeat(4_000)}\r\n`;
  it.each([
    ["is no HTTP", "hello\r\n\r\n", 400, "request-malformed"],
    ["names no host", "GET / HTTP/1.0\r\n\r\n", 200, ""],
    [
      "names a host that is none",
      "GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
      400,
      "request-malformed",
    ],
    ["names no host in HTTP/1.1", "GET / HTTP/1.1\r\n\r\n", 400, "request-malformed"],
    ["names two hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "request-malformed"],
    [
      "has too long a target",
      `GET /${"x".repeat(1_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      414,
      "target-too-long",
    ],
    ["has too long a header", `GET / HTTP/1.1\r\nHost: a\r\n${many}\r\n`, 431, "headers-too-large"],
    ["never ends its header", "GET / HTTP/1.1\r\nHost: a\r\nx-slow: ", 408, "request-timeout"],
    [
      "never ends its body",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc",
      408,
      "request-timeout",
    ],
  ])("that %s is answered as everything else is", async (_what, bytes, status, code) => {
    const { port } = await start();
    const answer = await sendRaw(port, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    if (code === "") return;
    expect(answer).toContain(`/docs#problem-${code}`);
    for (const header of [
      "access-control-allow-origin: *",
      "x-content-type-options: nosniff",
      "application/problem+json",
    ])
      expect(answer.toLowerCase()).toContain(header);
  });

  it.each(
    [
      ["1.2.3.4.5", "256.256.256.256", "127.0..1:4420", "1270.0.1:4420", "127.0w0.1:4420", "1..2"],
      ["1.2.3.08", "09", "4294967296", "0x100000000", "xn--", "a%", "[::1", "a:99999"],
    ].flat(),
  )("that names the impossible host %s is answered before anything reads it", async (host) => {
    const { port } = await start(() => Promise.reject(new Error("reached")));
    for (const method of ["GET", "POST"]) {
      const answer = await sendRaw(
        port,
        `${method} / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 0\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 400 /);
      expect(answer).toContain("/docs#problem-request-malformed");
    }
  });

  it("delays no other", async () => {
    const { port, url } = await start();
    const slow = Array.from({ length: 50 }, () => sendRaw(port, "GET / HTTP/1.1\r\nHost: a\r\n"));
    const answer = await fetch(url, { method: "POST", body: "quick" });
    expect(await answer.text()).toBe("quick");
    await Promise.all(slow);
  });
});

describe("a server that is asked to stop", () => {
  it("answers what is under way, and refuses new connections at once", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const life = createServerLife();
    const { server, url } = await start(async () => {
      const leave = life.enter();
      await promise;
      leave();
      return new Response("done");
    });
    const asked = fetch(url);
    await once(server, "request");
    const drained = drainServer(server, life, { finishMs: 5_000, settleMs: 5_000 });
    await expect(fetch(url)).rejects.toThrow();
    expect([life.draining, life.stopping.aborted]).toEqual([true, false]);
    resolve();
    expect(await (await asked).text()).toBe("done");
    await drained;
  });

  it("gives up what is not finished in time, and waits for what is being settled", async () => {
    const life = createServerLife();
    const settling = Promise.withResolvers<void>();
    const { server, url } = await start(async (request) => {
      const leave = life.enter();
      if (request.url.endsWith("/settling")) await settling.promise;
      else await once(life.stopping, "abort");
      leave();
      return new Response(request.url.endsWith("/settling") ? "settled" : "given up");
    });
    const asked = [fetch(`${url}/work`), fetch(`${url}/settling`)] as const;
    await new Promise((resolve) => setTimeout(resolve, 100));
    const drained = drainServer(server, life, { finishMs: 100, settleMs: 5_000 });
    expect(await (await asked[0]).text()).toBe("given up");
    settling.resolve();
    expect(await (await asked[1]).text()).toBe("settled");
    await drained;
  });

  it("cuts what does not end at all", async () => {
    const life = createServerLife();
    const { server, url, port } = await start(() => new Promise<never>(() => undefined));
    const asked = fetch(url).catch(() => "cut");
    // A cut connection ends in an error or in no answer, as its packets arrive.
    const idle = sendRaw(port, "GET / HTTP/1.1\r\n").catch(() => "cut");
    await new Promise((resolve) => setTimeout(resolve, 50));
    await drainServer(server, life, { finishMs: 100, settleMs: 200 });
    expect(await asked).toBe("cut");
    await idle;
  });
});
