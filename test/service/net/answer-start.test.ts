import type { RequestListener } from "node:http";
import { expect, test } from "vitest";
import { createGuardedFetch } from "../../../service/net/guarded-fetch.ts";
import { serveHttp, serveTcp, started, type TestServer } from "./hostile-server.ts";

const fetch = createGuardedFetch({ resolve: async () => [], loopback: "allowed", deadlineMs: 1_000 });

async function startOf(server: Promise<TestServer>) {
  return fetch({ url: `http://127.0.0.1:${await started(server)}/`, part: "start" });
}

const http = (listener: RequestListener) => startOf(serveHttp(listener));

test("a small answer is whole", async () => {
  const answer = await http((_request, response) => response.end("hello"));
  expect(answer).toMatchObject({ kind: "answered", status: 200, body: Buffer.from("hello") });
});

test("of a large one, and of one without end, the first 64 KiB are answer enough", async () => {
  const large = await http((_request, response) => response.end("x".repeat(1_000_000)));
  const endless = await http((_request, response) => {
    const timer = setInterval(() => response.write("x".repeat(10_000)), 1);
    response.on("close", () => clearInterval(timer));
  });
  for (const answer of [large, endless]) {
    expect(answer.kind === "answered" && [answer.status, answer.body.length]).toEqual([200, 65_536]);
  }
});

test("an event stream is answered by its first event with data, however it comes in pieces", async () => {
  const answer = await http((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const pieces = [": hello\n\n", "event: x\nda", "ta: 1\nid: 2\n", "\n"];
    const timer = setInterval(() => response.write(pieces.shift() ?? ""), 10);
    response.on("close", () => clearInterval(timer));
  });
  expect(answer.kind === "answered" && Buffer.from(answer.body).toString()).toBe(
    ": hello\n\nevent: x\ndata: 1\nid: 2\n\n",
  );
});

test("times out on an event stream without events", async () => {
  const answer = await http((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": waiting\n\n");
  });
  expect(answer).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("times out on a slow answer of another kind, however complete it looks", async () => {
  const answer = await startOf(
    serveTcp((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 50);
      socket.on("close", () => clearInterval(timer));
    }),
  );
  expect(answer).toMatchObject({ kind: "failed", reason: "timeout" });
});

test("a connection that breaks gives no answer", async () => {
  const answer = await startOf(
    serveTcp((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf", () => socket.destroy());
    }),
  );
  expect(answer).toMatchObject({ kind: "failed", reason: "connection" });
});
