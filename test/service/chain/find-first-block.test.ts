import fc from "fast-check";
import { zeroAddress } from "viem";
import { expect, test } from "vitest";
import { type CodeReader, findFirstBlock } from "../../../service/chain/find-first-block.ts";

/** A chain of which a contract has code from a block on, with a node that keeps states from another block on. */
function nodeWith(chain: { first: number | null; head: number; kept?: number }) {
  let asked = 0;
  const node: CodeReader = {
    getBlockNumber: async () => BigInt(chain.head),
    getCode: async ({ blockNumber }) => {
      asked += 1;
      const block = Number(blockNumber);
      if (block < (chain.kept ?? 0)) throw new Error("missing trie node");
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
  const { node } = nodeWith({ first: 10, head: 1_000, kept: 900 });
  await expect(findFirstBlock(node, zeroAddress)).rejects.toThrow(/block 499: ask an archive node, or give/);
});
