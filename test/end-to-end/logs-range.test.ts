import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** Without the bundle of the tests' processes: Ponder loads `src/` through Vite, as it does for an operator. */
const UNBUNDLED = { NODE_OPTIONS: "" };

test("an index that is given its provider's range reaches the head of the chain, whatever words refuse more, and watches no files", async () => {
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
  const env = { ...UNBUNDLED, RPC_LOGS_BLOCKS: String(LIMIT) };
  const { pid } = await kit.startIndexer({ rpcUrl: origin, env });
  expect(Math.max(...ranges)).toBe(LIMIT);
  // Of the files below its root, the database of `ahs up` writes many.
  expect(inotifyWatchesOf(pid)).toEqual([]);
}, 180_000);

function inotifyWatchesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fdinfo`;
  // A file may be closed between the two readings.
  const files = readdirSync(folder).filter((file) => existsSync(join(folder, file)));
  return files.flatMap((file) => readFileSync(join(folder, file), "utf8").match(/^inotify wd.*$/gm) ?? []);
}
