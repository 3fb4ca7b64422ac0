import { type Address, createPublicClient, http, type PublicClient } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGasPrice } from "../../../service/chain/gas-price.ts";
import { startTestChain, type TestChain } from "../../support/anvil-testkit/chain.ts";

let chain: TestChain;
let client: PublicClient;
let feed: Address;

beforeAll(async () => {
  chain = await startTestChain(600);
  await chain.toWallClock();
  client = createPublicClient({ transport: http(chain.rpcUrl) });
  feed = chain.contracts.ethUsdFeed;
});
afterAll(() => chain.stop());

const FALLBACK_USD = 10_000;

function gasPrice(of: Address | null, now = () => new Date()) {
  return createGasPrice({ client, feed: of, decimals: 18, fallbackUsd: FALLBACK_USD, now });
}

async function costOf(gas: bigint, coinUsd: number): Promise<number> {
  const price = await client.getGasPrice();
  return (Number(gas * price) / 1e18) * coinUsd * 1e6;
}

describe("the price of gas", () => {
  it("follows the fees of the node and the coin's price by the feed", async () => {
    const [, answer] = (await client.readContract({
      address: feed,
      abi: [
        {
          type: "function",
          name: "latestRoundData",
          stateMutability: "view",
          inputs: [],
          outputs: ["uint80", "int256", "uint256", "uint256", "uint80"].map((type) => ({ type })),
        },
      ] as const,
      functionName: "latestRoundData",
    })) as readonly [bigint, bigint];
    const cost = Number(await gasPrice(feed).microUsd(1_000_000n));
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBeCloseTo(await costOf(1_000_000n, Number(answer) / 1e8), -1);
  });

  it.each<[string, () => Address | null, (() => Date) | undefined]>([
    ["no feed", () => null, undefined],
    ["a feed that is no contract", () => "0x00000000000000000000000000000000000000ff", undefined],
    ["a feed of another kind", () => chain.contracts.usdc, undefined],
    ["a feed silent for more than two days", () => feed, () => new Date(Date.now() + 3 * 86_400_000)],
  ])("takes the coin for a dear one with %s, never for a free one", async (_name, of, now) => {
    const cost = Number(await gasPrice(of(), now).microUsd(1_000_000n));
    expect(cost).toBeCloseTo(await costOf(1_000_000n, FALLBACK_USD), -1);
  });

  it("is not known while the node does not answer", async () => {
    const silent = createPublicClient({ transport: http("http://127.0.0.1:9", { retryCount: 0 }) });
    const price = createGasPrice({
      client: silent,
      feed: null,
      decimals: 18,
      fallbackUsd: FALLBACK_USD,
      now: () => new Date(),
    });
    await expect(price.microUsd(1n)).rejects.toThrow();
  });
});
