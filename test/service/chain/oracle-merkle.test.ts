import fc from "fast-check";
import { type Address, getAddress, type Hex } from "viem";
import { expect, test } from "vitest";
import type { OracleLeaf } from "../../../service/chain/oracle-codec.ts";
import {
  merkleLeaf,
  merkleProof,
  merkleTree,
  verifyMerkleProof,
} from "../../../service/chain/oracle-merkle.ts";
import golden from "../../golden/oracle-merkle.json" with { type: "json" };

type GoldenLeaf = { wallet: string; record: string; hash: string; proof: string[] };

test.each(golden.trees)(
  "a tree of $size leaves has the root and the proofs that the contract verifies",
  (vector) => {
    const goldenLeaves: readonly GoldenLeaf[] = vector.leaves;
    const leaves = goldenLeaves.map(({ wallet, record }) => ({
      wallet: wallet as Address,
      record: record as Hex,
    }));
    const tree = merkleTree(leaves);
    expect(tree.root).toBe(vector.root);
    expect(leaves.map(merkleLeaf)).toEqual(goldenLeaves.map((leaf) => leaf.hash));
    expect(leaves.map((leaf) => merkleProof(tree, leaf))).toEqual(goldenLeaves.map((leaf) => leaf.proof));
  },
);

test("every leaf is proven, and no other record of its wallet is", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (size) => {
      const leaves = leavesOf(size);
      const tree = merkleTree(leaves);
      for (const leaf of leaves) {
        const proof = merkleProof(tree, leaf);
        expect(verifyMerkleProof(leaf, proof, tree.root)).toBe(true);
        expect(verifyMerkleProof({ ...leaf, record: word(999_999n) }, proof, tree.root)).toBe(false);
      }
    }),
    { numRuns: 20 },
  );
});

test("the order of the leaves and the case of their addresses do not matter", () => {
  const leaves = leavesOf(7);
  const checksummed = leaves.map((leaf) => ({ ...leaf, wallet: getAddress(leaf.wallet) }));
  expect(merkleTree([...leaves].reverse()).root).toBe(merkleTree(leaves).root);
  expect(merkleTree(checksummed).root).toBe(merkleTree(leaves).root);
});

test("an empty list, a wallet given twice and a stranger's leaf are refused", () => {
  const [first, second] = leavesOf(2) as [OracleLeaf, OracleLeaf];
  expect(() => merkleTree([])).toThrow(/at least one leaf/);
  expect(() => merkleTree([first, { ...second, wallet: first.wallet }])).toThrow(/given twice/);
  expect(() => merkleProof(merkleTree([first]), second)).toThrow(/not in it/);
});

function leavesOf(size: number): OracleLeaf[] {
  return Array.from({ length: size }, (_, index) => ({
    wallet: `0x${(0xabcdef + index).toString(16).padStart(40, "0")}`,
    record: word(BigInt(index)),
  }));
}

function word(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}
