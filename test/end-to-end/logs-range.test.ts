import { text } from "node:stream/consumers";
import { beforeAll, expect, test } from "vitest";
import { useTestkit } from "../support/anvil-testkit/testkit.ts";
import { startLoopbackServer } from "../support/loopback-server.ts";

const LIMIT = 20;
const BLOCKS = 300;
const kit = useTestkit({ ageSeconds: 2 * BLOCKS });

beforeAll(() => kit.chain.mine(BLOCKS, 1));

type Call = {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly [{ readonly fromBlock?: string; readonly toBlock?: string }];
};

test("an index that is given its provider's range reaches the head of the chain, whatever words refuse more", async () => {
  const ranges: number[] = [];
  const { origin, close } = await startLoopbackServer((request, response) => {
    void text(request).then(async (body) => {
      const { id, method, params }: Call = JSON.parse(body);
      const { fromBlock, toBlock } = (method === "eth_getLogs" ? params?.[0] : undefined) ?? {};
      const blocks = fromBlock === undefined ? 0 : Number(toBlock) - Number(fromBlock) + 1;
      if (blocks > 0) ranges.push(blocks);
      response.setHeader("content-type", "application/json");
      if (blocks > LIMIT) {
        const error = { code: -32602, message: `range ${blocks} exceeds limit of ${LIMIT}` };
        response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
        return;
      }
      const headers = { "content-type": "application/json" };
      response.end(await (await fetch(kit.rpcUrl, { method: "POST", headers, body })).text());
    });
  });
  kit.onClose(close);
  await kit.startIndexer({ rpcUrl: origin, env: { RPC_LOGS_BLOCKS: String(LIMIT) } });
  expect(Math.max(...ranges)).toBe(LIMIT);
}, 180_000);
