import { createPublicClient } from "viem";
import { expect, test } from "vitest";
import { failureOfRpcError, nodeFailureOf } from "../../../../service/chain/node/failure.ts";
import { createNodeClient, nodeTransport } from "../../../../service/chain/node/json-rpc.ts";
import { nodeWith, refusalWith } from "./node-stand-in.ts";

const LOGS = "eth_getLogs";
const CALL = "eth_call";
const COUNT = "eth_getTransactionCount";
const SEND = "eth_sendRawTransaction";
const TRACE = "debug_traceTransaction";
const MISSING_NODE =
  "missing trie node 5c0ee75d9dd668839db2895c93257f6a3a77282740c045d286ff0d1f297ffa24 (path ) state 0x5c is not available";

/** Answers of nodes, of the proxies before them and of hosts, as their users and sources show them. */
test.each([
  // Trouble of the node.
  ["proxyd", CALL, 503, -32011, "no backend is currently healthy to serve traffic", "unreachable"],
  ["proxyd", SEND, 503, -32011, "no backend is currently healthy to serve traffic", "unreachable"],
  ["proxyd", CALL, 200, -32011, "no backend is currently healthy to serve traffic", "unreachable"],
  ["proxyd", CALL, 503, -32018, "backend is currently not healthy to serve traffic", "unreachable"],
  ["proxyd", CALL, 500, -32013, "backend returned an invalid response", "unreachable"],
  ["proxyd", CALL, 503, -32010, "backend offline", "unreachable"],
  ["proxyd", CALL, 500, -32000, "internal error", "unreachable"],
  ["proxyd", CALL, 500, -32020, "backend response too large", "unreachable"],
  ["besu", CALL, 200, -32603, "Internal error", "unreachable"],
  ["any", CALL, 502, -32000, "execution reverted", "unreachable"],
  ["any", SEND, 503, -32000, "nonce too low", "unreachable"],
  ["proxyd", CALL, 504, -32015, "gateway timeout", "timeout"],
  ["cloudflare", LOGS, 200, -32000, "query timed out", "timeout"],
  ["cloudflare", LOGS, 500, -32000, "query timed out", "timeout"],
  ["geth", CALL, 200, -32000, "execution aborted (timeout = 5s)", "timeout"],
  // Limits of rate.
  ["proxyd", CALL, 429, -32012, "backend is over capacity", "rate_limited"],
  ["proxyd", CALL, 429, -32016, "over rate limit", "rate_limited"],
  ["proxyd", SEND, 429, -32017, "sender is over rate limit", "rate_limited"],
  ["quicknode", CALL, 200, -32012, "credits limited to 6000/sec", "rate_limited"],
  [
    "quicknode",
    CALL,
    200,
    -32007,
    "50/second request limit reached - reduce calls per second",
    "rate_limited",
  ],
  ["alchemy", CALL, 429, 429, "Your app has exceeded its compute units per second capacity", "rate_limited"],
  ["infura", CALL, 200, -32005, "daily request count exceeded, request rate limited", "rate_limited"],
  ["infura", CALL, 200, -32005, "project ID request rate exceeded", "rate_limited"],
  ["any", CALL, 429, -32000, "slow down", "rate_limited"],
  // Limits of size.
  ["proxyd", LOGS, 500, -32020, "backend response too large", "too_many_results"],
  ["proxyd", LOGS, 400, -32602, "block range is too large", "too_many_results"],
  ["drpc", LOGS, 400, 35, "ranges over 10000 blocks are not supported on free plan", "too_many_results"],
  ["drpc", LOGS, 400, 35, "ranges over 10000 blocks are not supported on freetier", "too_many_results"],
  ["drpc", LOGS, 200, 30, "query exceeds max results 20000, retry with the range 1-2", "too_many_results"],
  ["infura", LOGS, 200, -32602, "range 10001 exceeds limit of 10000", "too_many_results"],
  ["geth", LOGS, 200, -32005, "query returned more than 10000 results", "too_many_results"],
  [
    "alchemy",
    LOGS,
    200,
    -32602,
    "Log response size exceeded. this block range should work: [0x1, 0x2]",
    "too_many_results",
  ],
  [
    "alchemy",
    LOGS,
    400,
    -32600,
    "You can make eth_getLogs requests with up to a 10 block range.",
    "too_many_results",
  ],
  ["base", LOGS, 200, -32614, "eth_getLogs is limited to a 10,000 range", "too_many_results"],
  ["quicknode", LOGS, 413, -32614, "eth_getLogs is limited to a 5 range", "too_many_results"],
  ["erigon", LOGS, 200, -32000, "block range is too wide", "too_many_results"],
  ["reth", LOGS, 200, -32602, "query exceeds max block range 100000", "too_many_results"],
  ["reth", LOGS, 200, -32602, "response size exceeds limit 167772160", "too_many_results"],
  ["blast", LOGS, 200, -32000, "Please limit the query to at most 500 blocks", "too_many_results"],
  [
    "chainstack",
    LOGS,
    200,
    -32602,
    "Block range limit exceeded. See more details at https://docs.example",
    "too_many_results",
  ],
  ["thirdweb", LOGS, 200, -32000, "Maximum allowed number of requested blocks is 1000", "too_many_results"],
  [
    "zkevm",
    LOGS,
    200,
    -32000,
    "requested too many blocks from 1 to 900, maximum is set to 500",
    "too_many_results",
  ],
  ["ankr", LOGS, 200, -32600, "exceeds the range allowed for your plan (5000 > 1000)", "too_many_results"],
  ["1rpc", LOGS, 200, -32001, "eth_getLogs range is too large, max is 1k blocks", "too_many_results"],
  ["any", LOGS, 200, -32005, "limit exceeded", "too_many_results"],
  // Methods that are not offered.
  [
    "geth",
    LOGS,
    200,
    -32601,
    "the method eth_getBlockReceipts does not exist/is not available",
    "method_missing",
  ],
  ["nethermind", LOGS, 200, -32601, "Method not found", "method_missing"],
  ["proxyd", TRACE, 403, -32601, "rpc method is not whitelisted", "method_missing"],
  [
    "alchemy",
    TRACE,
    200,
    -32600,
    "debug_traceTransaction is not available on the Free tier - upgrade to Pay As You Go",
    "method_missing",
  ],
  ["provider", LOGS, 200, -32000, "method eth_getBlockReceipts is not supported", "method_missing"],
  // Blocks that a node lacks yet, and states that it keeps no more.
  ["proxyd", CALL, 400, -32019, "block is out of range", "node_behind"],
  ["geth", LOGS, 200, -32000, "unknown block", "node_behind"],
  ["geth", COUNT, 200, -32000, "header not found", "node_behind"],
  ["reth", LOGS, 200, -32602, "block range extends beyond current head block", "node_behind"],
  ["publicnode", COUNT, 200, -32000, MISSING_NODE, "state_missing"],
  ["blockpi", COUNT, 200, -32000, "missing trie node 5c0ee75d9dd668839db2 (path )", "state_missing"],
  [
    "nethermind",
    COUNT,
    200,
    -32002,
    "No state available for block 0x3f9e020290502d1d41f4b5519e7d456f",
    "state_missing",
  ],
  [
    "geth",
    COUNT,
    200,
    -32000,
    "historical state 5c0ee75d9dd668839db2895c93257f6a is not available",
    "state_missing",
  ],
  ["geth", TRACE, 200, -32000, "required historical state unavailable (reexec=128)", "state_missing"],
  ["reth", COUNT, 200, -32603, "State at block #11052984 is pruned", "state_missing"],
  ["reth", LOGS, 200, 4444, "pruned history unavailable", "state_missing"],
  ["erigon", COUNT, 200, -32000, "old data not available due to pruning", "state_missing"],
  ["besu", COUNT, 200, -32000, "World state unavailable", "state_missing"],
  ["host", COUNT, 200, -32701, "this request needs an archive node", "state_missing"],
  [
    "anvil",
    COUNT,
    200,
    -32602,
    "BlockOutOfRangeError: block height is 3305 but requested was 256",
    "state_missing",
  ],
  // Acts of the called contract.
  ["geth", CALL, 200, 3, "execution reverted: not a feed", "reverted"],
  ["geth", CALL, 200, 3, "execution reverted: no backend is currently healthy", "reverted"],
  ["nethermind", CALL, 200, -32015, "VM execution error. Reverted 0x", "reverted"],
  ["geth", CALL, 200, -32000, "gas required exceeds allowance (30000000)", "reverted"],
  ["geth", CALL, 200, -32000, "invalid opcode: INVALID", "reverted"],
  ["anvil", CALL, 200, -32000, "EVM error InvalidFEOpcode", "reverted"],
  ["reth", CALL, 200, -32003, "out of gas: gas required exceeds: 50000000", "reverted"],
  // Refusals of the request.
  ["geth", SEND, 200, -32000, "exceeds block gas limit", "refused"],
  ["geth", SEND, 200, -32000, "intrinsic gas too low: gas 5, minimum needed 21000", "refused"],
  ["reth", SEND, 200, -32003, "transaction gas limit too high (cap: 16777216, tx: 30000000)", "refused"],
  ["any", LOGS, 200, -32602, "invalid argument 0: hex string has length 2", "refused"],
  ["any", CALL, 200, -32602, "missing value for required argument 0", "refused"],
  // Words that no rule knows.
  ["any", CALL, 200, -32000, "the oracle is asleep", "unknown"],
  ["any", SEND, 200, -32602, "not today", "unknown"],
  ["any", SEND, 400, 1337, "policy 7 applies", "unknown"],
])("%s answers %s with status %i, %i %s: %s", (_who, method, status, code, message, kind) => {
  expect(failureOfRpcError(method, { code, message }, { status })).toMatchObject({ kind });
});

test.each([
  ["unreachable", true, false],
  ["rate_limited", true, false],
  ["timeout", true, false],
  ["unknown", true, false],
  ["too_many_results", false, false],
  ["method_missing", false, false],
  ["state_missing", false, false],
  ["node_behind", false, false],
  ["reverted", false, true],
  ["refused", false, true],
] as const)("%s: may pass %s, judges the request %s", (kind, mayPass, isVerdict) => {
  const message = {
    unreachable: "",
    rate_limited: "over rate limit",
    timeout: "timed out",
    unknown: "not today",
    too_many_results: "too many results",
    method_missing: "method not found",
    state_missing: "missing trie node",
    node_behind: "header not found",
    reverted: "execution reverted",
    refused: "exceeds block gas limit",
  }[kind];
  const code = kind === "unreachable" ? -32603 : -32000;
  expect(failureOfRpcError(CALL, { code, message })).toMatchObject({ kind, mayPass, isVerdict });
});

test("a status of 5xx is believed over its body, also behind viem's own error, with the pause that it asks for", async () => {
  const reply = refusalWith(
    { status: 503, headers: { "retry-after": "7" } },
    -32000,
    "execution reverted",
    "0x12",
  );
  const { options } = await nodeWith([reply]);
  const seen = { kind: "unreachable", code: null, data: null, retryAfterMs: 7_000, isVerdict: false };
  const node = createNodeClient({ ...options, retries: 0 });
  expect(await node.request(CALL, []).catch(nodeFailureOf)).toMatchObject(seen);
  const client = createPublicClient({ transport: nodeTransport({ ...options, retries: 0 }) });
  const call = client.call({ to: `0x${"1".repeat(40)}`, data: "0x" });
  expect(await call.catch(nodeFailureOf)).toMatchObject(seen);
});
