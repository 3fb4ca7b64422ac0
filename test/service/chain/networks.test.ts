import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { getAddress, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { addressesIn } from "../../../service/chain/deployments.ts";
import { type CodeReader, findFirstBlock, loadNetwork } from "../../../service/chain/networks.ts";
import { useFolder } from "../../support/use-folder.ts";

const FOLDER = new URL("../../../networks", import.meta.url).pathname;
const FILES = readdirSync(FOLDER);
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

const folder = useFolder();

/** Every address in a file, in the file's spelling. */
function spelledIn(value: unknown): string[] {
  if (typeof value === "string") return ADDRESS.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(spelledIn) : [];
}

test("the networks are Base and its test network", () => {
  const chains = FILES.map((file) => [file, loadNetwork(join(FOLDER, file)).chainId]);
  expect(Object.fromEntries(chains)).toEqual({ "base.json": 8453, "base-sepolia.json": 84_532 });
});

describe.each(FILES)("%s", (file) => {
  const network = loadNetwork(join(FOLDER, file));

  test("has every address with its checksum", () => {
    const addresses = spelledIn(JSON.parse(readFileSync(join(FOLDER, file), "utf8")));
    expect(addresses.length).toBeGreaterThan(10);
    expect(addresses).toEqual(addresses.map((address) => getAddress(address)));
  });

  test("names each token and account once, and the token that calls are paid in", () => {
    const { tokens } = network.market;
    for (const list of [tokens.map(({ address }) => address), tokens.map(({ symbol }) => symbol)])
      expect(new Set(list).size).toBe(list.length);
    expect(tokens).toContainEqual(
      expect.objectContaining({ address: network.usdc, symbol: "USDC", decimals: 6 }),
    );
    const { entryPoints, publicFunders, mixers, popularContracts } = network.accounts;
    const known = [...entryPoints, ...publicFunders, ...mixers, ...(popularContracts ?? [])];
    expect(addressesIn(known).size).toBe(known.length);
  });

  test("says of each funder, mixer and popular contract who names it, and when that was read", () => {
    const { publicFunders, mixers, popularContracts } = network.accounts;
    for (const known of [...publicFunders, ...mixers, ...(popularContracts ?? [])])
      expect(known).toEqual({
        address: expect.any(String),
        name: expect.any(String),
        source: expect.any(String),
        date: expect.any(String),
      });
  });

  test("prices the coin and what is the same as the coin alike, and nothing else by one feed but what USDC backs", () => {
    const { native, wrappedNative, tokens } = network.market;
    expect(tokens).toContainEqual({ ...native, symbol: "WETH", address: wrappedNative });
    const own = tokens.filter(({ feed, symbol }) => feed !== null && !["WETH", "USDbC"].includes(symbol));
    const feeds = [native.feed, ...own.map(({ feed }) => feed)];
    expect(feeds).not.toContain(null);
    expect(new Set(feeds).size).toBe(feeds.length);
  });
});

test("a file with a wrong checksum or without a member is refused with every fault", () => {
  const good = JSON.parse(readFileSync(join(FOLDER, "base.json"), "utf8"));
  const { usdc: _usdc, ...without } = good;
  const wrong = { ...good.identityRegistry, address: good.identityRegistry.address.replace("A", "a") };
  const path = join(folder, "bad.json");
  writeFileSync(path, JSON.stringify({ ...without, identityRegistry: wrong }));
  expect(() => loadNetwork(path)).toThrow(/is not a network[\s\S]*identityRegistry/);
  expect(() => loadNetwork(path)).toThrow("usdc");
});

/** A chain of which a contract has code from a block on, with a node that keeps states from another block on. */
function nodeWith(chain: { first: number | null; head: number; statesFrom?: number }) {
  let asked = 0;
  const node: CodeReader = {
    getBlockNumber: async () => BigInt(chain.head),
    getCode: async ({ blockNumber }) => {
      asked += 1;
      const block = Number(blockNumber);
      if (block < (chain.statesFrom ?? 0)) throw new Error("missing trie node");
      return chain.first !== null && block >= chain.first ? "0x6000" : "0x";
    },
  };
  return { node, asked: () => asked };
}

test("finds the first block of any contract on any chain, in few questions", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(60_000_000), fc.nat(60_000_000), async (a, b) => {
      const [first, head] = a < b ? [a, b] : [b, a];
      const { node, asked } = nodeWith({ first, head });
      expect(await findFirstBlock(node, zeroAddress)).toBe(first);
      expect(asked()).toBeLessThanOrEqual(28);
    }),
  );
});

test("an address without code has no first block", async () => {
  const { node } = nodeWith({ first: null, head: 1_000 });
  await expect(findFirstBlock(node, zeroAddress)).rejects.toThrow(`there is no contract at ${zeroAddress}`);
});

test("a node without an archive is no reason to guess", async () => {
  const { node } = nodeWith({ first: 10, head: 1_000, statesFrom: 900 });
  await expect(findFirstBlock(node, zeroAddress)).rejects.toThrow(/block 499: ask an archive node, or give/);
});
