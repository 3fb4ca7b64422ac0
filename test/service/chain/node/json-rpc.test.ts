import { createPublicClient, HttpRequestError, InternalRpcError, TimeoutError } from "viem";
import { expect, test } from "vitest";
import { nodeFailureOf } from "../../../../service/chain/node/failure.ts";
import { createNodeClient, nodeTransport } from "../../../../service/chain/node/json-rpc.ts";
import {
  endless,
  hangUp,
  nodeWith,
  type Reply,
  raw,
  refusal,
  result,
  silence,
  status,
} from "./node-stand-in.ts";

test.each<[string, Reply, string, number]>([
  ["is silent", silence, "timeout", 3],
  ["never ends its answer", endless, "timeout", 3],
  ["hangs up", hangUp, "unreachable", 3],
  ["wants fewer requests", status(429), "rate_limited", 3],
  ["wants an hour of peace", status(429, { "retry-after": "3600" }), "rate_limited", 1],
  [
    "refuses with a page that claims to be JSON",
    status(502, { "content-type": "application/json" }),
    "unreachable",
    3,
  ],
  ["has trouble of its own", refusal(-32603, "internal error"), "unreachable", 3],
  ["has too many results", refusal(-32005, "query returned more than 10000 results"), "too_many_results", 1],
  ["says so by its status", status(413), "too_many_results", 1],
  ["sends too much", result("f".repeat(300)), "too_many_results", 1],
  ["lacks the method", refusal(-32601, "Method not found"), "method_missing", 1],
  ["forbids", status(403), "refused", 1],
  ["refuses a transaction", refusal(-32000, "exceeds block gas limit"), "refused", 1],
  ["reverts a call", refusal(3, "execution reverted", "0x1234"), "reverted", 1],
  ["answers a page", raw("<html>hello</html>"), "garbage", 1],
  ["answers an empty object", raw("{}"), "garbage", 1],
  ["answers a list", raw("[1]"), "garbage", 1],
])(
  "a node that %s: %s, retried while that may pass, and not named with its key",
  async (_, reply, kind, asked) => {
    const node = await nodeWith([reply]);
    const failure = await createNodeClient({ ...node.options, timeoutMs: 500, maxBytes: 200 })
      .request("eth_call", [])
      .catch((error: unknown) => nodeFailureOf(error));
    expect(failure).toMatchObject({ kind });
    expect([node.asked.length, node.requests.length]).toEqual([asked, asked]);
    for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause)
      expect(`${cause.message} ${"url" in cause ? cause.url : ""}`).not.toContain("secret-key");
  },
);

test.each<[string, Reply]>([
  ["a 429", status(429)],
  ["a 429 that says when to come again", status(429, { "retry-after": "0" })],
  ["a limit told as an error", refusal(-32005, "request rate limited")],
  ["a 502", status(502)],
  ["a lost connection", hangUp],
])("returns the answer after %s", async (_, trouble) => {
  const node = await nodeWith([trouble, trouble, result("0x7")]);
  expect(await createNodeClient(node.options).request("eth_blockNumber", [])).toBe("0x7");
});

test("a stop ends a request under way with the signal's reason, not with a failure", async () => {
  const stop = new AbortController();
  const { options } = await nodeWith([silence]);
  const answer = createNodeClient({ ...options, signal: stop.signal }).request("eth_blockNumber", []);
  stop.abort(new Error("stopping"));
  await expect(answer).rejects.toThrow("stopping");
});

test.each<[string, Reply, new (...args: never[]) => Error]>([
  ["silent", silence, TimeoutError],
  ["broken", status(500), HttpRequestError],
  ["in trouble", refusal(-32603, "internal error"), InternalRpcError],
])("gives viem its own error for a %s node", async (_, reply, kind) => {
  const { options } = await nodeWith([reply]);
  const client = createPublicClient({ transport: nodeTransport({ ...options, retries: 0 }) });
  await expect(client.request({ method: "eth_chainId" })).rejects.toBeInstanceOf(kind);
});
