import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createPublicClient, HttpRequestError, InternalRpcError, TimeoutError } from "viem";
import { afterEach, expect, test } from "vitest";
import { nodeFailureOf } from "../../../../service/chain/node/failure.ts";
import {
  createNodeClient,
  type NodeOptions,
  nodeTransport,
} from "../../../../service/chain/node/json-rpc.ts";

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A node whose URL holds a key and that answers each request with the next status and body; null is silence. */
async function nodeWith(
  replies: readonly (readonly [number, string] | null)[],
  options: Partial<NodeOptions> = {},
) {
  let asked = 0;
  const server = createServer((_request, response) => {
    const reply = replies[Math.min(asked, replies.length - 1)];
    asked += 1;
    if (reply != null) response.writeHead(reply[0], { "content-type": "application/json" }).end(reply[1]);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/secret-key`;
  return { asked: () => asked, options: { url, timeoutMs: 500, retries: 2, retryMs: 1, ...options } };
}

const rpcError = (code: number, message: string, data?: string): readonly [number, string] => [
  200,
  JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message, data } }),
];
const GOOD: readonly [number, string] = [200, '{"jsonrpc":"2.0","id":1,"result":"0x7"}'];

test.each<[string, readonly [number, string] | null, string, number]>([
  ["is silent", null, "timeout", 3],
  ["asks for fewer requests", [429, "no"], "rate_limited", 3],
  ["breaks", [500, "no"], "unreachable", 3],
  ["has trouble of its own", rpcError(-32603, "internal error"), "unreachable", 3],
  ["refuses a transaction", rpcError(-32000, "exceeds block gas limit"), "refused", 1],
  ["reverts a call", rpcError(3, "execution reverted", "0x1234"), "reverted", 1],
  ["sends too much", [200, `{"result":"${"f".repeat(300)}"}`], "too_many_results", 1],
  ["sends no answer", [200, "{}"], "garbage", 1],
])(
  "a node that %s is %s: retried while that may pass, and never named with its key",
  async (_, reply, kind, asked) => {
    const node = await nodeWith([reply], { maxBytes: 200 });
    const failure = await createNodeClient(node.options)
      .request("eth_call", [])
      .catch((error: unknown) => nodeFailureOf(error));
    expect(failure).toMatchObject({ kind, mayPass: asked > 1 });
    expect(node.asked()).toBe(asked);
    for (let cause: unknown = failure; cause instanceof Error; cause = cause.cause)
      expect(`${cause.message} ${"url" in cause ? cause.url : ""}`).not.toContain("secret-key");
  },
);

test("returns the answer that follows failures", async () => {
  const node = await nodeWith([[502, "no"], null, GOOD]);
  expect(await createNodeClient(node.options).request("eth_blockNumber", [])).toBe("0x7");
});

test.each<[string, readonly [number, string] | null, new (...args: never[]) => Error]>([
  ["silent", null, TimeoutError],
  ["broken", [500, "no"], HttpRequestError],
  ["in trouble", rpcError(-32603, "internal error"), InternalRpcError],
])("gives viem its own error for a %s node", async (_, reply, kind) => {
  const { options } = await nodeWith([reply]);
  const client = createPublicClient({ transport: nodeTransport({ ...options, retries: 0 }) });
  await expect(client.request({ method: "eth_chainId" })).rejects.toBeInstanceOf(kind);
});
