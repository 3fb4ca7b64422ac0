import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { concatHex, createTestClient, encodeErrorResult, http, numberToHex, parseAbi, size } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openChainClient } from "../../bin/process.ts";
import { startTestChain, type TestChain } from "../support/anvil-testkit/chain.ts";

const CONTRACT = `0x${"c3".repeat(20)}` as const;
const OFFCHAIN_LOOKUP = parseAbi([
  "error OffchainLookup(address sender, string[] urls, bytes callData, bytes4 callbackFunction, bytes extraData)",
]);

let chain: TestChain;
let asked = 0;
const elsewhere = createServer((_request, response) => {
  asked += 1;
  response.end(JSON.stringify({ data: "0x" }));
});

beforeAll(async () => {
  chain = await startTestChain();
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  elsewhere.close();
  await chain.stop();
});

it("asks no URL that a called contract names", async () => {
  const { port } = elsewhere.address() as AddressInfo;
  const revert = encodeErrorResult({
    abi: OFFCHAIN_LOOKUP,
    errorName: "OffchainLookup",
    args: [CONTRACT, [`http://127.0.0.1:${port}/`], "0x", "0x00000000", "0x"],
  });
  const node = createTestClient({ mode: "anvil", transport: http(chain.rpcUrl) });
  // Copies what follows itself into memory, and reverts with it.
  const code = concatHex(["0x61", numberToHex(size(revert), { size: 2 }), "0x80600c6000396000fd", revert]);
  await node.setCode({ address: CONTRACT, bytecode: code });
  await expect(openChainClient(chain.rpcUrl).call({ to: CONTRACT, data: "0x01020304" })).rejects.toThrow(
    "reverted",
  );
  expect(asked).toBe(0);
});
