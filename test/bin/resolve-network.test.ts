import { getAddress } from "viem";
import { describe, expect, test } from "vitest";
import { type OracleOptions, resolveNetwork } from "../../bin/deploy-options.ts";
import { loadNetwork } from "../../service/chain/networks.ts";

const A = getAddress("0x52908400098527886E0F7030069857D2E4169EE7");
const B = getAddress("0xde709f2102306220921060314715629080e2fb77");
const BASE = loadNetwork(new URL("../../networks/base.json", import.meta.url).pathname);

const resolve = (options: Partial<OracleOptions>, chainId = 8453) =>
  resolveNetwork({ out: "new.json", ...options }, chainId);

describe("a named network", () => {
  test("is taken as its file says", () => {
    expect(resolve({ network: "base" })).toEqual(BASE);
    expect(resolve({ network: "networks/base.json" })).toEqual(BASE);
    expect(resolve({ network: "base-sepolia" }, 84_532).sanctionsList).toBeNull();
  });

  test("is refused on another chain, and where there is no such file", () => {
    expect(() => resolve({ network: "base" }, 1)).toThrow(
      "the network base is chain 8453, and the node's is chain 1",
    );
    expect(() => resolve({ network: "bose" })).toThrow("bose");
  });

  test.each<[string, Partial<OracleOptions>, object]>([
    ["a name", { name: "mine" }, { name: "mine" }],
    ["finality", { finality: 5 }, { finalityBlocks: 5 }],
    [
      "a registry, whose first block is to be found",
      { registry: A },
      { identityRegistry: { address: A, startBlock: null } },
    ],
    [
      "a first block of the same registry",
      { "registry-block": 7 },
      { identityRegistry: { ...BASE.identityRegistry, startBlock: 7 } },
    ],
    ["no sanctions contract", { sanctions: "none" }, { sanctionsList: null }],
    [
      "another sanctions contract",
      { sanctions: B, "sanctions-block": 9 },
      { sanctionsList: { address: B, startBlock: 9 } },
    ],
    [
      "a first block of the same one",
      { "sanctions-block": 9 },
      { sanctionsList: { ...BASE.sanctionsList, startBlock: 9 } },
    ],
    [
      "another token to be paid in, recognised from then on",
      { usdc: A },
      {
        usdc: A,
        market: {
          ...BASE.market,
          tokens: [...BASE.market.tokens, { address: A, symbol: "USDC", decimals: 6, feed: null }],
        },
      },
    ],
  ])("yields to %s", (_what, options, changed) => {
    expect(resolve({ network: "base", ...options })).toEqual({ ...BASE, ...changed });
  });
});

test("a chain of which nothing is known is what the options say", () => {
  expect(resolve({ registry: A, sanctions: B, "sanctions-block": 4, usdc: A }, 5)).toMatchObject({
    chainId: 5,
    name: "chain-5",
    finalityBlocks: 30,
    identityRegistry: { address: A, startBlock: null },
    sanctionsList: { address: B, startBlock: 4 },
    registries: [],
    usdc: A,
    market: { wrappedNative: null, tokens: [{ address: A, symbol: "USDC", decimals: 6, feed: null }] },
  });
});
