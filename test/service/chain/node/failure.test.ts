import { expect, test } from "vitest";
import { failureOfRpcError } from "../../../../service/chain/node/failure.ts";

test.each([
  ["geth", -32005, "query returned more than 10000 results", "too_many_results"],
  [
    "alchemy",
    -32602,
    "Log response size exceeded. this block range should work: [0x1, 0x2]",
    "too_many_results",
  ],
  ["base", -32614, "eth_getLogs is limited to a 10,000 range", "too_many_results"],
  ["erigon", -32000, "block range is too wide", "too_many_results"],
  ["infura", -32005, "daily request count exceeded, request rate limited", "rate_limited"],
  ["quicknode", -32007, "50/second request limit reached - reduce calls per second", "rate_limited"],
  ["alchemy", 429, "Your app has exceeded its compute units per second capacity", "rate_limited"],
  ["geth", -32601, "the method eth_getBlockReceipts does not exist/is not available", "method_missing"],
  ["nethermind", -32601, "Method not found", "method_missing"],
  ["provider", -32000, "method eth_getBlockReceipts is not supported", "method_missing"],
  ["cloudflare", -32000, "query timed out", "timeout"],
  ["geth", -32000, "unknown block", "node_behind"],
  ["reth", -32602, "block range extends beyond current head block", "node_behind"],
  ["besu", -32603, "Internal error", "unreachable"],
  ["geth", 3, "execution reverted: not a feed", "reverted"],
  ["nethermind", -32015, "VM execution error. Reverted 0x", "reverted"],
  ["anvil", -32602, "BlockOutOfRangeError: block height is 3305 but requested was 256", "refused"],
  ["any", -32602, "invalid argument 0: hex string has length 2", "refused"],
])("%s says %i %s: %s", (_node, code, message, kind) => {
  expect(failureOfRpcError("eth_getLogs", { code, message })).toMatchObject({ kind });
});
