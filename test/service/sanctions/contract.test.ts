import { createPublicClient, getAddress, http } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSanctionsContract } from "../../../service/sanctions/ask-contract.ts";
import { startTestChain, type TestChain } from "../../support/anvil-testkit/chain.ts";

const WALLET = getAddress("0x00000000000000000000000000000000000a9e01");

let chain: TestChain;
beforeAll(async () => {
  chain = await startTestChain();
});
afterAll(async () => {
  await chain.stop();
});

const clientOf = (url: string) =>
  createPublicClient({ transport: http(url, { retryCount: 0 }), cacheTime: 0 });

test("the contract answers as of a block, and as of now", async () => {
  const contract = createSanctionsContract(clientOf(chain.rpcUrl), chain.contracts.sanctionsList);
  const before = await chain.head();
  const { blockNumber } = await chain.sanction([WALLET]);
  const at = (block: number | "latest") => contract.isSanctioned(WALLET, block);
  expect([await at(before), await at(blockNumber), await at("latest")]).toEqual([false, true, true]);
  await chain.unsanction([WALLET]);
  expect(await at("latest")).toBe(false);
  const block = await clientOf(chain.rpcUrl).getBlock({ blockNumber: BigInt(blockNumber) });
  expect([await contract.blockHash(blockNumber), await contract.blockHash(1_000_000)]).toEqual([
    block.hash,
    null,
  ]);
});

test("an address without code, another contract and a node that is gone are failures, never a no", async () => {
  const client = clientOf(chain.rpcUrl);
  const places = [
    createSanctionsContract(client, WALLET),
    createSanctionsContract(client, chain.contracts.keeperTarget1),
    createSanctionsContract(clientOf("http://127.0.0.1:1"), chain.contracts.sanctionsList),
  ];
  for (const contract of places) await expect(contract.isSanctioned(WALLET, "latest")).rejects.toThrow();
});
