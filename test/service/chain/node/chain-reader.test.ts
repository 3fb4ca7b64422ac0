import { expect, test } from "vitest";
import { createChainReader, readState } from "../../../../service/chain/node/chain-reader.ts";
import { nodeWith, type Reply, refusal, refusalWith, result, silence } from "./node-stand-in.ts";

const HASH = `0x${"ab".repeat(32)}`;
const HEADER = {
  number: "0x7",
  hash: HASH.toUpperCase().replace("0X", "0x"),
  timestamp: "0x9",
  transactions: [],
};

async function readerOf(reply: Reply) {
  const node = await nodeWith([reply]);
  return { ...node, reader: createChainReader(node.options) };
}

test("asks once, and hex is lower-case", async () => {
  const { reader, asked } = await readerOf(result(HEADER));
  expect(await reader.header(7)).toMatchObject({ number: 7, hash: HASH });
  expect(asked).toEqual(["eth_getBlockByNumber"]);
});

test("returns null for a block that the node does not have", async () => {
  const { reader } = await readerOf(result(null));
  expect(await reader.header(7)).toBeNull();
});

test.each<[string, Reply, string]>([
  ["that is silent is not asked again, since less may be answered", silence, "timeout"],
  ["that answers a block without a hash", result({ number: "0x7" }), "garbage"],
  ["that answers a number in decimal", result({ ...HEADER, number: 7 }), "garbage"],
  ["that answers an endless number", result({ ...HEADER, number: `0x${"f".repeat(64)}` }), "garbage"],
])("a node %s: %s", async (_, reply, kind) => {
  const { reader, asked } = await readerOf(reply);
  await expect(reader.header(7)).rejects.toMatchObject({ name: "NodeFailure", kind });
  expect(asked).toHaveLength(1);
});

test("logs that a reorg removed, without a block or malformed are no logs, and hex comes in lower case", async () => {
  const log = {
    ...{ address: `0x${"11".repeat(20)}`, topics: [HASH], data: "0x", blockNumber: "0x7" },
    ...{ blockHash: HASH, transactionHash: HASH, logIndex: "0x0" },
  };
  const filter = { from: 7, to: 7, topics: [] };
  const bad = [
    ...[{ removed: true }, { blockNumber: null }, { blockNumber: "0x20000000000000" }, { logIndex: "0x" }],
    ...[{ topics: ["0x01"] }, { topics: Array(5).fill(HASH) }, { topics: null }, { topics: [null] }],
    ...[
      { address: "0x11" },
      { data: "0xg" },
      { data: "0X" },
      { blockHash: "0x11" },
      { transactionHash: null },
    ],
  ].map((member) => ({ ...log, ...member }));
  for (const one of [...bad, null, "0x", []]) {
    const { reader } = await readerOf(result([log, one]));
    await expect(reader.logs(filter)).rejects.toMatchObject({ kind: "garbage" });
  }
  const capital = { address: `0x${"AB".repeat(20)}`, data: "0xAB", topics: [`0x${"AB".repeat(32)}`] };
  const { reader } = await readerOf(result([{ ...log, ...capital, removed: false }]));
  expect(await reader.logs(filter)).toEqual([
    {
      ...{ address: `0x${"ab".repeat(20)}`, data: "0xab", topics: [`0x${"ab".repeat(32)}`] },
      ...{ blockNumber: 7, blockHash: HASH, transactionHash: HASH, logIndex: 0 },
    },
  ]);
});

const TROUBLE = "no backend is currently healthy to serve traffic";
test.each<[string, Reply]>([
  ["is in trouble", refusalWith({ status: 503 }, -32011, TROUBLE)],
  ["has an internal error", refusal(-32603, "Internal error")],
  ["asks for fewer requests", refusal(-32016, "over rate limit")],
  ["is behind", refusal(-32019, "block is out of range")],
])("a node that %s is not asked for the newest state in place of an old one", async (_, trouble) => {
  const { options, asked } = await nodeWith([trouble, result("0x5")]);
  const reader = createChainReader({ ...options, retries: 0 });
  const old = readState((at) => reader.transactionCount(WALLET, at), { block: 5, newest: "finalized" });
  await expect(old).rejects.toMatchObject({ name: "NodeFailure" });
  expect(asked).toHaveLength(1);
});

const WALLET = `0x${"c1".repeat(20)}` as const;
test.each<[string, number, string]>([
  [
    "geth's hash scheme",
    -32000,
    "missing trie node 5c0ee75d9dd668839db2 (path ) state 0x5c is not available",
  ],
  ["geth's path scheme", -32000, "historical state 5c0ee75d9dd668839db2 is not available"],
  ["Nethermind", -32002, "No state available for block 0x3f9e020290502d1d"],
  ["reth", -32603, "State at block #11052984 is pruned"],
  ["a host", -32701, "this request needs an archive node"],
  ["an unknown node", -32000, "I forget"],
])("the state that %s keeps no more is asked for at the newest block", async (_, code, message) => {
  const { options } = await nodeWith([refusal(code, message), result("0x5")]);
  const reader = createChainReader({ ...options, retries: 0 });
  const read = readState((at) => reader.transactionCount(WALLET, at), { block: 5, newest: "finalized" });
  expect(await read).toEqual({ answer: 5, isOfBlock: false });
});
