import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../../bin/supervisor/child-process.ts";
import { type Anvil, startAnvil } from "../../devnet/anvil-process.ts";
import { type AttachOptions, attachDevnet } from "../../devnet/attach-devnet.ts";
import { DAY } from "../../devnet/population/rhythm.ts";

describe("attachDevnet", () => {
  let node: Anvil;

  beforeEach(async () => {
    node = await startAnvil({ port: await freePort(), chainId: 31_337, stateFile: null, genesisTime: null });
  });

  afterEach(() => node.stop());

  test("brings contracts and population to a fresh node, finds them there again, and leaves the node running", async () => {
    const before = Math.floor(Date.now() / 1_000);
    const built = await attachDevnet(options());
    const head = (await node.rpc.request("eth_getBlockByNumber", "latest", false)) as { timestamp: string };
    expect(built.isReused).toBe(false);
    expect(Number(head.timestamp)).toBeGreaterThanOrEqual(before);
    expect(Number(head.timestamp)).toBeLessThanOrEqual(Date.now() / 1_000);

    await built.stop();
    const found = await attachDevnet(options());
    expect(found.isReused).toBe(true);
    expect(found.deployment).toEqual(built.deployment);
    expect(found.samples).toEqual(built.samples);
    expect(await node.rpc.request("eth_chainId")).toBe("0x7a69");
  });

  test("says when the population of the chain is another", async () => {
    await attachDevnet(options());
    await expect(attachDevnet({ ...options(), seed: "other" })).rejects.toThrow(
      `the chain at ${node.rpcUrl} has the contracts, but not the population of seed other`,
    );
  });

  test("says when the chain is too young for a history", async () => {
    await node.rpc.request("evm_mine");
    await expect(attachDevnet(options())).rejects.toThrow(
      /has no room for a history: its newest block, 1, is \d+ s old/,
    );
  });

  test("starts the history at the newest block of a chain that has been at rest for a while", async () => {
    const rested = Math.floor(Date.now() / 1_000) - 3 * DAY;
    await node.rpc.request("evm_setTime", rested);
    await node.rpc.request("evm_mine");
    const devnet = await attachDevnet(options());
    const first = (await node.rpc.request("eth_getBlockByNumber", "0x2", false)) as { timestamp: string };
    expect(devnet.deployment.startBlock).toBeGreaterThan(1);
    expect(Number(first.timestamp)).toBeGreaterThanOrEqual(rested);
    expect(Number(first.timestamp)).toBeLessThan(rested + 60);
  });

  test("refuses a chain with another id", async () => {
    const other = await startAnvil({
      port: await freePort(),
      chainId: 8_453,
      stateFile: null,
      genesisTime: null,
    });
    await expect(attachDevnet({ ...options(), rpcUrl: other.rpcUrl })).rejects.toThrow(
      "has id 8453, expected 31337",
    );
    await other.stop();
  });

  test("breaks off when it is aborted", async () => {
    const controller = new AbortController();
    const stopping = attachDevnet({
      ...options(),
      signal: controller.signal,
      onProgress: ({ stage, done }) => {
        if (stage === "history" && done > 0) controller.abort(new Error("enough"));
      },
    });
    await expect(stopping).rejects.toThrow("enough");
  });

  function options(): AttachOptions {
    return {
      rpcUrl: node.rpcUrl,
      dataDir: null,
      seed: "attach",
      wallets: 24,
      days: 4,
      now: () => Date.now() / 1_000,
      onProgress: () => undefined,
      logger: { info: () => undefined, warn: () => undefined },
    };
  }
});
