import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "vitest";
import { createChainReader } from "../../../../service/chain/node/chain-reader.ts";

const HASH = `0x${"ab".repeat(32)}`;
const HEADER = {
  number: "0x7",
  hash: HASH.toUpperCase().replace("0X", "0x"),
  timestamp: "0x9",
  transactions: [],
};

type Reply = (response: ServerResponse, id: number) => void;

const result =
  (value: unknown): Reply =>
  (response, id) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: value }));
  };
const refusal =
  (code: number, message: string): Reply =>
  (response, id) =>
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
const status =
  (code: number, headers: Record<string, string> = {}): Reply =>
  (response) =>
    response.writeHead(code, headers).end("no");
const raw =
  (body: string): Reply =>
  (response) =>
    response.end(body);
const silence: Reply = () => undefined;
const endless: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" }).write('{"result":');
};
const hangUp: Reply = (response) => response.destroy();

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A reader of a node that gives these replies, the last one for ever. */
async function readerOf(replies: readonly Reply[], signal: AbortSignal = new AbortController().signal) {
  const asked: string[] = [];
  const node = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body);
      asked.push(method);
      (replies[Math.min(asked.length, replies.length) - 1] ?? silence)(response, id);
    });
  });
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  ends.push(() => {
    node.close();
    node.closeAllConnections();
  });
  const requests: string[] = [];
  const reader = createChainReader({
    url: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    timeoutMs: 1_000,
    retries: 2,
    retryMs: 5,
    signal,
    onRequest: (method) => requests.push(method),
  });
  return { reader, asked, requests };
}

describe("a node that answers", () => {
  test("is asked once, and hex is lower-case", async () => {
    const { reader, asked, requests } = await readerOf([result(HEADER)]);
    expect(await reader.header(7)).toMatchObject({ number: 7, hash: HASH });
    expect([asked, requests]).toEqual([["eth_getBlockByNumber"], ["eth_getBlockByNumber"]]);
  });

  test("without the block", async () => {
    const { reader } = await readerOf([result(null)]);
    expect(await reader.header(7)).toBeNull();
  });

  test.each([
    ["after a 429", status(429)],
    ["after a 429 that says when to come again", status(429, { "retry-after": "0" })],
    ["after a limit told as an error", refusal(-32005, "request rate limited")],
    ["after a 502", status(502)],
    ["after a lost connection", hangUp],
    ["after trouble of its own", refusal(-32603, "internal error")],
  ])("%s is heard, and every request is counted", async (_name, trouble) => {
    const { reader, requests } = await readerOf([trouble, trouble, result(HEADER)]);
    expect(await reader.header(7)).toMatchObject({ number: 7, hash: HASH });
    expect(requests).toHaveLength(3);
  });
});

describe("a node that does not", () => {
  test.each([
    ["is silent", "timeout", [silence], 1],
    ["never ends its answer", "timeout", [endless], 1],
    ["hangs up", "unreachable", [hangUp], 3],
    ["wants fewer requests", "rate_limited", [status(429)], 3],
    ["wants an hour of peace", "rate_limited", [status(429, { "retry-after": "3600" })], 1],
    [
      "has too many results",
      "too_many_results",
      [refusal(-32005, "query returned more than 10000 results")],
      1,
    ],
    ["says so by its status", "too_many_results", [status(413)], 1],
    ["lacks the method", "method_missing", [refusal(-32601, "Method not found")], 1],
    ["forbids", "refused", [status(403)], 1],
    ["answers a page", "garbage", [raw("<html>hello</html>")], 1],
    ["answers an empty object", "garbage", [raw("{}")], 1],
    ["answers a list", "garbage", [raw("[1]")], 1],
    ["answers a block without a hash", "garbage", [result({ number: "0x7" })], 1],
    ["answers a number in decimal", "garbage", [result({ ...HEADER, number: 7 })], 1],
    ["answers an endless number", "garbage", [result({ ...HEADER, number: `0x${"f".repeat(64)}` })], 1],
  ])("and %s: %s", async (_name, kind, replies, asked) => {
    const world = await readerOf(replies);
    await expect(world.reader.header(7)).rejects.toMatchObject({ name: "NodeFailure", kind });
    expect(world.asked).toHaveLength(asked);
  });

  test("logs that a reorg removed, or without a block, are no logs", async () => {
    const log = {
      address: `0x${"11".repeat(20)}`,
      topics: [HASH],
      data: "0x",
      blockNumber: "0x7",
      blockHash: HASH,
      transactionHash: HASH,
      logIndex: "0x0",
    };
    const filter = { from: 7, to: 7, topics: [] };
    for (const bad of [
      { ...log, removed: true },
      { ...log, blockNumber: null },
      { ...log, topics: ["0x01"] },
    ]) {
      const { reader } = await readerOf([result([log, bad])]);
      await expect(reader.logs(filter)).rejects.toMatchObject({ kind: "garbage" });
    }
    const { reader } = await readerOf([result([{ ...log, removed: false }])]);
    expect(await reader.logs(filter)).toMatchObject([{ blockNumber: 7, logIndex: 0, data: "0x" }]);
  });
});

test("a stop ends a request under way with the signal's reason, not with a failure", async () => {
  const stop = new AbortController();
  const { reader } = await readerOf([silence], stop.signal);
  const answer = reader.header(7);
  stop.abort(new Error("stopping"));
  await expect(answer).rejects.toThrow("stopping");
});
