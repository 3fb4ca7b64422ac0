import type { Hex } from "viem";
import { expect, test } from "vitest";
import type { RawReceipt } from "../../../../service/chain/node/rpc-answers.ts";
import { scanBlocks } from "../../../../service/scores/verify/read-own-calls.ts";

const WALLET = "0x00000000000000000000000000000000000a9e17";
const place = (blockNumber: number) => ({ blockNumber, blockHash: hashOf(blockNumber), timestamp: 0 });
const search = { wallet: WALLET, asOf: place(3), fromBlock: 0, fromTimestamp: 0 } as const;

function hashOf(block: number): Hex {
  return `0x${block.toString(16).padStart(64, "0")}`;
}

function receiptOf(block: number): RawReceipt {
  return {
    transactionHash: hashOf(block),
    transactionIndex: 0,
    ...{ blockNumber: block, blockHash: hashOf(block) },
    ...{ from: WALLET, to: null, status: "0x1", gasUsed: 1n, effectiveGasPrice: 1n, logs: [] },
  };
}

test("finds the wallet's transactions in every block after genesis", async () => {
  const asked: number[] = [];
  const find = scanBlocks({
    blockReceipts: async (block) => {
      asked.push(block);
      return block === 2 ? [] : [receiptOf(block)];
    },
  });
  expect(await find({ ...search, fromBlock: -5 })).toEqual(
    [1, 3].map((block) => ({ hash: hashOf(block), block })),
  );
  expect(asked).toEqual([1, 2, 3]);
});

test("throws if the node lacks the receipts of a block", async () => {
  const find = scanBlocks({ blockReceipts: async (block) => (block === 2 ? null : [receiptOf(block)]) });
  await expect(find(search)).rejects.toThrow("node_behind: the node has no receipts of block 2");
});
