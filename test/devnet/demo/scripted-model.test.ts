import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { freePort } from "../../../bin/supervisor/child-process.ts";

const SCRIPT = new URL("../../../devnet/demo/scripted-model.ts", import.meta.url).pathname;

let node: Server | undefined;
afterEach(() => {
  node?.close();
  node?.closeAllConnections();
});

test("refuses to start for any chain but the local one", async () => {
  const args = ["--rpc-url", await startNode("0x2105"), "--port", String(await freePort())];
  const { code, stderr } = await run(args);
  expect(code).toBe(1);
  expect(stderr).toContain("for chain 31337 alone, this is chain 8453");
});

test("reports a faulty URL of its node without the key in it", async () => {
  const { code, stderr } = await run(["--rpc-url", "http://127.0.0.1:x/v2/aLcHeMyKeY_0123", "--port", "1"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("Failed to parse URL from [Redacted]")]);
  expect(stderr).not.toContain("aLcHeMyKeY");
});

test("serves on the local chain until it is asked to stop, even with a parent that stays", async () => {
  const child = await startOnLocalChain();
  const ended = once(child, "exit");
  child.kill("SIGINT");
  expect(await ended).toEqual([0, null]);
});

test("ends when its parent is gone", async () => {
  const child = await startOnLocalChain();
  const ended = once(child, "exit");
  child.disconnect();
  expect(await ended).toEqual([0, null]);
});

function run(args: readonly string[]) {
  return new Promise<{ code: number | null; stderr: string }>((resolve) => {
    const child = execFile(process.execPath, [SCRIPT, ...args], (_, __, text) =>
      resolve({ code: child.exitCode, stderr: text }),
    );
  });
}

/** The process as `ahs up` starts it, once it answers. */
async function startOnLocalChain() {
  const port = await freePort();
  const child = fork(SCRIPT, ["--rpc-url", await startNode("0x7a69"), "--port", String(port)], {
    silent: true,
  });
  const models = () => fetch(`http://127.0.0.1:${port}/v1/models`).then((response) => response.json());
  await expect.poll(models).toMatchObject({ data: [{ id: "scripted" }, { id: "scripted-appeal" }] });
  return child;
}

/** A node that knows its chain id and nothing else. */
async function startNode(chainId: string): Promise<string> {
  node = createServer((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify([{ jsonrpc: "2.0", id: 0, result: chainId }]));
  }).listen(0, "127.0.0.1");
  await once(node, "listening");
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
}
