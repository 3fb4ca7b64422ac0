import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSenderRpc } from "../../../service/sender/send-rpc.ts";
import { startLoopbackServer } from "../../support/loopback-server.ts";
import { createSenderWorld, type SenderWorld } from "./sender-world.ts";

const receiver = "0x00000000000000000000000000000000000a11ce";
let world: SenderWorld;
const ends: (() => Promise<void>)[] = [];

beforeEach(async () => {
  world = await createSenderWorld();
  await world.automine(true);
});

afterEach(async () => {
  await world.destroy();
  for (const end of ends.splice(0)) await end();
});

type Trouble = { readonly status: number; readonly code: number; readonly message: string };

const UNHEALTHY = { status: 503, code: -32011, message: "no backend is currently healthy to serve traffic" };
const TROUBLES: readonly Trouble[] = [
  UNHEALTHY,
  { status: 200, code: -32011, message: UNHEALTHY.message },
  { status: 200, code: -32012, message: "credits limited to 6000/sec" },
  { status: 500, code: -32013, message: "backend returned an invalid response" },
  { status: 503, code: -32018, message: "backend is currently not healthy to serve traffic" },
  { status: 400, code: -32019, message: "block is out of range" },
  { status: 500, code: -32020, message: "backend response too large" },
  { status: 429, code: -32016, message: "over rate limit" },
  { status: 503, code: 3, message: "execution reverted" },
  { status: 200, code: -32000, message: "not today" },
  { status: 200, code: -32000, message: "missing trie node 12 (path )" },
];

/** A proxy before the chain that answers the first calls of a method with these troubles; each reaches the sender. */
async function proxyWith(method: string, troubles: readonly Trouble[]) {
  const left = [...troubles];
  const { origin, close } = await startLoopbackServer((request, response) => {
    void text(request).then(async (body) => {
      const call = JSON.parse(body) as { readonly id: number; readonly method: string };
      const trouble = call.method === method ? left.shift() : undefined;
      const headers = { "content-type": "application/json" };
      if (trouble === undefined) {
        const answer = await fetch(world.rpcUrl, { method: "POST", headers, body });
        response.writeHead(answer.status, headers).end(await answer.text());
        return;
      }
      const { status, ...error } = trouble;
      response.writeHead(status, headers).end(JSON.stringify({ jsonrpc: "2.0", id: call.id, error }));
    });
  });
  ends.push(close);
  return { rpc: createSenderRpc({ url: origin, timeoutMs: 5_000, retries: 0 }), left };
}

const QUICK = { retryMs: { first: 5, longest: 10 } };

test.each(["eth_estimateGas", "eth_sendRawTransaction", "eth_getTransactionReceipt", "eth_getBlockByNumber"])(
  "a transaction is mined once although every trouble of a node comes twice for %s",
  async (method) => {
    const proxy = await proxyWith(
      method,
      TROUBLES.flatMap((trouble) => [trouble, trouble]),
    );
    world.startSender({ rpc: () => proxy.rpc, policy: QUICK });
    const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
    await world.reach(id, "mined");
    expect(proxy.left).toEqual([]);
    expect(await world.client.getBalance({ address: receiver })).toBe(7n);
  },
);

test("a revert that one simulation shows, and the next does not, ends nothing", async () => {
  const proxy = await proxyWith("eth_estimateGas", [{ status: 200, code: 3, message: "execution reverted" }]);
  world.startSender({ rpc: () => proxy.rpc });
  const id = await world.enqueue("pay-1", { to: receiver, value: 7n });
  expect(await world.reach(id, (row) => row.failure !== null)).toMatchObject({
    state: "queued",
    failure: "reverted_in_simulation",
  });
  await world.reach(id, "mined");
});

test("an offer that a node refuses in unknown words for ever gives the nonce back, and says so", async () => {
  const refusals = Array.from({ length: 41 }, () => ({ status: 200, code: 7, message: "not today" }));
  const proxy = await proxyWith("eth_sendRawTransaction", refusals);
  world.startSender({ rpc: () => proxy.rpc, policy: QUICK });
  const refused = await world.enqueue("refused", { to: receiver, value: 7n });
  const next = await world.enqueue("next", { to: receiver, value: 1n });
  expect(await world.reach(refused, "failed")).toMatchObject({ failure: "given_up", nonce: null });
  expect(await world.reach(next, "mined")).toMatchObject({ nonce: 0 });
});
