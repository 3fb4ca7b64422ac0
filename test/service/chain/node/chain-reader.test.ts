import { expect, test } from "vitest";
import { createChainReader } from "../../../../service/chain/node/chain-reader.ts";
import { nodeWith, type Reply, result, silence } from "./node-stand-in.ts";

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
