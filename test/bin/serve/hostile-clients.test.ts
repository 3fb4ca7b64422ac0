import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import type { ServerLimits } from "../../../bin/serve/http-server.ts";

const MIB = 1024 * 1024;
/** Most memory that the server may gain under each attack. Without its limit, each attack takes several times as much. */
const GROWTH_BYTES = 200 * MIB;
/** Most CPU time before the server answers other clients. Without the limits it is 11 s and more. */
const BEFORE_ANSWERS_CPU_MS = 5_000;
const DOCUMENT = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";

type Usage = { readonly rssBytes: number; readonly cpuMs: number; readonly dropped: readonly string[] };

const children: ChildProcess[] = [];
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const child of children.splice(0)) child.kill();
});

async function start(limits: Partial<ServerLimits> = {}) {
  const child = fork(new URL("served-app.ts", import.meta.url).pathname, [JSON.stringify(limits)]);
  children.push(child);
  const [{ port }] = (await once(child, "message")) as [{ readonly port: number }];
  const usage = async () => {
    child.send("memory");
    return ((await once(child, "message")) as [Usage])[0];
  };
  // A document that is made on demand is made before anything is measured.
  await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).text();
  return { port, url: `http://127.0.0.1:${port}`, usage };
}

/** A connection that has sent these bytes and reads nothing. */
async function sendUnread(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.pause();
  await once(socket, "connect");
  socket.write(bytes);
  return socket;
}

/** Another client asks 20 times, one after another. */
async function othersAnswered(url: string): Promise<void> {
  for (let asked = 0; asked < 20; asked += 1) expect((await fetch(`${url}/livez`)).status).toBe(200);
}

it.each([
  ["2,900 requests of one connection", 1, 2_900],
  ["30 requests of each of 100 connections", 100, 30],
  ["2,000 requests of each of 50 connections", 50, 2_000],
])("answers others within memory while %s are unread", async (_what, connections, requests) => {
  const { port, url, usage } = await start();
  const before = await usage();
  const bytes = DOCUMENT.repeat(requests);
  await Promise.all(Array.from({ length: connections }, () => sendUnread(port, bytes)));
  await othersAnswered(url);
  const after = await usage();
  expect(after.cpuMs - before.cpuMs).toBeLessThan(BEFORE_ANSWERS_CPU_MS);
  expect(after.rssBytes - before.rssBytes).toBeLessThan(GROWTH_BYTES);
});

it("keeps one copy of a list that many clients are slow to read", async () => {
  const { port, url, usage } = await start();
  const before = await usage();
  const bytes = "GET /epochs/1 HTTP/1.1\r\nHost: x\r\n\r\n";
  await Promise.all(Array.from({ length: 60 }, () => sendUnread(port, bytes)));
  await othersAnswered(url);
  const after = await usage();
  expect(after.cpuMs - before.cpuMs).toBeLessThan(BEFORE_ANSWERS_CPU_MS);
  expect(after.rssBytes - before.rssBytes).toBeLessThan(GROWTH_BYTES);
});

it("drops a connection that reads nothing of its answer", async () => {
  const { port, usage } = await start({ unreadMs: 200 });
  const socket = await sendUnread(port, "GET /epochs/1 HTTP/1.1\r\nHost: x\r\n\r\n");
  await expect.poll(async () => (await usage()).dropped).toEqual(["unread"]);
  socket.resume();
  await once(socket, "close");
  expect(socket.bytesRead).toBeLessThan(9 * MIB);
});

it("drops a connection that takes too long over its answer, however steadily it reads", async () => {
  const { port, usage } = await start({ unreadMs: 2_000, answerMs: 500 });
  const socket = await sendUnread(port, "GET /epochs/1 HTTP/1.1\r\nHost: x\r\n\r\n");
  const sips = setInterval(() => socket.read(1_024), 20);
  await expect.poll(async () => (await usage()).dropped).toEqual(["slow"]);
  clearInterval(sips);
});

it("serves a client that reads slowly but steadily", async () => {
  const { url } = await start({ unreadMs: 500 });
  const answer = await fetch(`${url}/epochs/1`);
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes < 4 * MIB) await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(bytes).toBeGreaterThan(10_000_000);
});

it("keeps connections of requests that take longer than a client may take to read", async () => {
  const { port } = await start({ unreadMs: 100 });
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.write(
    "POST /keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n",
  );
  await new Promise((resolve) => setTimeout(resolve, 700));
  socket.write('{"a": 1}  ');
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 4/);
});

it("answers requests of one connection in their order, and those beyond its bound with one 503", async () => {
  const { port, usage } = await start({ waiting: 3 });
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.write(
    ["/livez", "/robots.txt", "/livez", "/livez", "/livez", "/livez"]
      .map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      .join(""),
  );
  await once(socket, "close");
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(
    [200, 200, 200, 200, 503].map((status) => `HTTP/1.1 ${status}`),
  );
  expect(received).toContain("/docs#problem-connection-crowded");
  expect((await usage()).dropped).toEqual(["crowded"]);
});

it("refuses connections beyond those of one address, and takes new ones once they have ended", async () => {
  const { port, url, usage } = await start({ connectionsPerAddress: 20 });
  const idle = Array.from({ length: 40 }, () =>
    connect(port, "127.0.0.1")
      .on("error", () => undefined)
      .resume(),
  );
  sockets.push(...idle);
  await expect.poll(() => idle.filter((socket) => socket.destroyed).length).toBeGreaterThanOrEqual(20);
  expect(new Set((await usage()).dropped)).toEqual(new Set(["connections"]));
  for (const socket of idle) socket.destroy();
  await expect.poll(async () => (await fetch(`${url}/livez`).catch(() => null))?.status).toBe(200);
});
