import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadNetwork } from "../../../service/chain/networks.ts";

const FOLDER = new URL("../../../networks", import.meta.url).pathname;
const FILES = readdirSync(FOLDER);
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ahs-networks-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every address that stands anywhere in a file, as it stands there. */
function addressesIn(value: unknown): string[] {
  if (typeof value === "string") return ADDRESS.test(value) ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(addressesIn) : [];
}

test("the networks are Base and its test network", () => {
  const chains = FILES.map((file) => [file, loadNetwork(join(FOLDER, file)).chainId]);
  expect(Object.fromEntries(chains)).toEqual({ "base.json": 8453, "base-sepolia.json": 84_532 });
});

describe.each(FILES)("%s", (file) => {
  const network = loadNetwork(join(FOLDER, file));

  test("has every address with its checksum", () => {
    const addresses = addressesIn(JSON.parse(readFileSync(join(FOLDER, file), "utf8")));
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
    const { entryPoints, publicFunders } = network.accounts;
    expect(new Set([...entryPoints, ...publicFunders]).size).toBe(entryPoints.length + publicFunders.length);
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
