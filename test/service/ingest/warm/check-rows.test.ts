import type { Hex } from "viem";
import { expect, test } from "vitest";
import type { RawReceipt, RawTransaction } from "../../../../service/chain/node/rpc-answers.ts";
import type { BatchTransaction } from "../../../../service/ingest/history/batch-source.ts";
import { compareWithNode } from "../../../../service/ingest/warm/check-rows.ts";

const [HASH, BLOCK_HASH]: readonly Hex[] = [`0x${"a1".repeat(32)}`, `0x${"b1".repeat(32)}`];
const WALLET = `0x${"c1".repeat(20)}` as const;
const hash = BLOCK_HASH as Hex;
const header = { number: 7, hash, parentHash: hash, timestamp: 70, baseFeePerGas: 1n };
const place = { blockNumber: 7, blockHash: BLOCK_HASH as Hex, transactionIndex: 1 };
const sent: RawTransaction = {
  ...place,
  hash: HASH as Hex,
  to: WALLET,
  input: "0x",
  value: 5n,
  gas: 21_000n,
};
const mined: RawReceipt = {
  ...place,
  ...{ transactionHash: HASH as Hex, from: WALLET, to: WALLET, status: "0x1", logs: [] },
  ...{ gasUsed: 21_000n, effectiveGasPrice: 0n },
};

/** Compares a batch of one transaction, whose L1 fee is null, with a node that reports another fee. */
function compare(type: number, nodeL1Fee: bigint | null | undefined) {
  const row: BatchTransaction = {
    transaction: { ...sent, from: WALLET, nonce: 0, type },
    receipt: { ...mined, l1Fee: null, logs: [], contractAddress: null },
  };
  const node = {
    header: async () => header,
    transaction: async () => sent,
    receipt: async () => ({ ...mined, l1Fee: nodeL1Fee }),
  };
  const block = { header, transactions: [row], payments: [], logs: [] };
  return compareWithNode(node, [block], () => 0);
}

const DEPOSIT = 126;
const differs = { reason: "inconsistent", detail: expect.stringContaining("L1 fee") };
test.each([
  ["a deposit whose node leaves the fee out", DEPOSIT, undefined, null],
  ["a deposit whose node reports no fee", DEPOSIT, null, null],
  ["a deposit whose node reports a fee of zero", DEPOSIT, 0n, null],
  ["a deposit whose node reports a fee", DEPOSIT, 3n, differs],
  ["another transaction whose node reports a fee of zero", 2, 0n, differs],
  ["another transaction whose node reports none", 2, null, null],
] as const)("compares the L1 fee of %s", async (_name, type, fee, expected) => {
  const found = await compare(type, fee);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});
