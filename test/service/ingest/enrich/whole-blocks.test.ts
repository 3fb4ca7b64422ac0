import type { Address, Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect, test } from "vitest";
import type { RawBlock, RawReceipt } from "../../../../service/chain/node/rpc-answers.ts";
import { readsWhole, readWholeBlocks } from "../../../../service/ingest/enrich/whole-blocks.ts";

const SIGNER = privateKeyToAccount(`0x${"11".repeat(32)}`);
const OTHER = privateKeyToAccount(`0x${"22".repeat(32)}`);
const DELEGATE: Address = `0x${"dd".repeat(20)}`;
const HASH: Hex = `0x${"ab".repeat(32)}`;

function receiptAt(transactionIndex: number, type: number): RawReceipt {
  return {
    ...{
      transactionHash: HASH,
      transactionIndex,
      blockNumber: 7,
      blockHash: HASH,
      from: DELEGATE,
      status: "0x1",
    },
    ...{ gasUsed: 21_000n, effectiveGasPrice: 1n, type, logs: [] },
  };
}

function nodeOf(
  receipts: readonly RawReceipt[],
  lists: RawBlock["transactions"][number]["authorizationList"][],
) {
  const unchecked = async () => {
    throw new Error("not asked for");
  };
  return {
    ...{
      header: unchecked,
      receipt: unchecked,
      transaction: unchecked,
      code: unchecked,
      transactionCount: unchecked,
    },
    ...{ call: unchecked, logs: unchecked, trace: unchecked },
    blockReceipts: async () => receipts,
    blockWithTransactions: async () => ({
      ...{ number: 7, hash: HASH, timestamp: 1 },
      transactions: lists.map((authorizationList) => ({ hash: HASH, authorizationList })),
    }),
  };
}

async function authorizationOf({ signAuthorization }: typeof SIGNER) {
  const signed = await signAuthorization({ address: DELEGATE, chainId: 1, nonce: 0 });
  return { ...signed, r: BigInt(signed.r), s: BigInt(signed.s), yParity: signed.yParity ?? 0 };
}

const parties = { tokens: new Set<Address>(), entryPoints: new Set<Address>() };
const wallets = new Set([SIGNER.address.toLowerCase() as Address]);

test("the signer of a delegation is found for any sender, and an invalid signature is passed over", async () => {
  const forged = { ...(await authorizationOf(SIGNER)), r: 0n };
  const lists = [[forged, await authorizationOf(OTHER)], undefined, [await authorizationOf(SIGNER)]];
  const node = nodeOf([receiptAt(0, 4), receiptAt(1, 2), receiptAt(2, 4)], lists);
  const range = { from: 7, to: 7, wallets, ...parties };
  expect(await readWholeBlocks(node, range, { concurrency: 2 })).toEqual({ logs: [], signers: wallets });
});

test("receipts with a gap are not taken for a block", async () => {
  const range = { from: 7, to: 7, wallets, ...parties };
  await expect(readWholeBlocks(nodeOf([receiptAt(1, 2)], []), range, { concurrency: 2 })).rejects.toThrow(
    "inconsistent: the receipts of block 7 are not whole",
  );
});

test.each([
  { wallets: 500, blocks: 1, isWhole: false },
  { wallets: 501, blocks: 30, isWhole: true },
  { wallets: 501, blocks: 31, isWhole: false },
  { wallets: 100_000, blocks: 2_000, isWhole: true },
])("$blocks blocks of $wallets wallets are read whole: $isWhole", ({ isWhole, ...range }) => {
  expect(readsWhole({ maxWallets: 500, receiptsPercent: 33 }, range)).toBe(isWhole);
});
