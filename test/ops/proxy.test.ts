import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { PROBLEMS } from "../../service/access/problems.ts";
import { HAS_CADDY, startCaddy } from "../support/caddy.ts";
import { useFolder } from "../support/use-folder.ts";

/** Two servers that answer their readiness and `/answered`, and break the connection of every other request. */
const folder = useFolder();
const reached: IncomingMessage[] = [];
const servers: Server[] = [];
let proxy: Awaited<ReturnType<typeof startCaddy>>;

beforeAll(async () => {
  if (!HAS_CADDY) return;
  for (let place = 0; place < 2; place += 1) {
    const server = createServer((request, response) => {
      if (request.url === "/readyz") return void response.end();
      reached.push(request);
      if (request.url === "/answered") return void response.end();
      request.socket.destroy();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
  }
  proxy = await startCaddy({
    folder,
    ports: servers.map((server) => (server.address() as AddressInfo).port),
  });
});
afterAll(async () => {
  await proxy?.stop();
  for (const server of servers) server.close();
});
beforeEach(() => {
  reached.length = 0;
});

describe.skipIf(!HAS_CADDY)("a server that breaks off after it was asked", () => {
  test.each([
    "x-api-key",
    "authorization",
    "payment-signature",
    "x-payment-claim",
    "sign-in-with-x",
    "cookie",
  ])("is asked once where the request has %s, and the proxy answers", async (header) => {
    // Connections that were used before are repeated on by Go itself, where the proxy keeps them.
    for (let request = 0; request < 4; request += 1) await fetch(`${proxy.url}/answered`);
    reached.length = 0;
    const response = await fetch(`${proxy.url}/broken`, { headers: { [header]: "a" } });
    expect(reached).toHaveLength(1);
    expect(await response.json()).toMatchObject({
      type: "/docs#problem-no-server",
      ...PROBLEMS["no-server"],
      request_id: response.headers.get("x-request-id"),
    });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/problem+json",
      "retry-after": "5",
      "access-control-allow-origin": "*",
    });
  });

  test("is asked once by a POST", async () => {
    expect((await fetch(`${proxy.url}/broken`, { method: "POST", body: "{}" })).status).toBe(503);
    expect(reached).toHaveLength(1);
  });

  test("is followed by another try where nothing can be charged", async () => {
    expect((await fetch(`${proxy.url}/broken`)).status).toBe(503);
    expect(reached.length).toBeGreaterThan(1);
  });
});
