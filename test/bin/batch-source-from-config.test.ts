import { expect, test } from "vitest";
import { parseConfig } from "../../bin/config.ts";
import { batchSourceFromConfig } from "../../bin/from-config.ts";

const BASE = 8_453;
const OTHER = 42_161;
const TOKEN = { HISTORY_BATCH_API_KEY: "11111111-2222-3333-4444-555555555555" };

test.each([
  ["none without a word", {}, BASE, undefined],
  ["the public portal of Base", { HISTORY_BATCH_SOURCE: "sqd" }, BASE, "sqd"],
  [
    "a portal",
    { HISTORY_BATCH_SOURCE: "sqd", HISTORY_BATCH_URL: "https://portal.example/datasets/x" },
    OTHER,
    "sqd",
  ],
  ["the vendor's server of any chain", { HISTORY_BATCH_SOURCE: "hypersync", ...TOKEN }, OTHER, "hypersync"],
  ["the node", { HISTORY_BATCH_SOURCE: "rpc", RPC_URL: "http://127.0.0.1:1" }, OTHER, "rpc"],
])("the source of batches is %s", (_title, env, chainId, name) => {
  expect(batchSourceFromConfig(parseConfig(env), chainId)?.name).toBe(name);
});

test("a portal of a chain without a public dataset needs a URL", () => {
  const config = parseConfig({ HISTORY_BATCH_SOURCE: "sqd" });
  expect(() => batchSourceFromConfig(config, OTHER)).toThrow("HISTORY_BATCH_URL, a dataset of chain 42161");
});

test.each([
  [
    { HISTORY_BATCH_URL: "https://x.example" },
    "HISTORY_BATCH_URL: needs HISTORY_BATCH_SOURCE=sqd, hypersync or rpc",
  ],
  [{ HISTORY_BATCH_SOURCE: "rpc", RPC_URL: "http://127.0.0.1:1", ...TOKEN }, "HISTORY_BATCH_API_KEY: needs"],
  [{ HISTORY_BATCH_SOURCE: "hypersync" }, "hypersync needs HISTORY_BATCH_API_KEY"],
  [{ HISTORY_BATCH_SOURCE: "rpc" }, "rpc needs HISTORY_BATCH_URL or RPC_URL"],
])("settings that contradict each other are refused", (env, fault) => {
  expect(() => parseConfig(env)).toThrow(fault);
});
