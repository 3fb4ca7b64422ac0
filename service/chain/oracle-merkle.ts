import { concatHex, encodeAbiParameters, type Hex, keccak256 } from "viem";
import type { OracleLeaf } from "./oracle-codec.ts";

/** A Merkle tree, leaves first and the root alone in the last layer. */
export type MerkleTree = { readonly root: Hex; readonly layers: readonly (readonly Hex[])[] };

const leafParameters = [{ type: "address" }, { type: "bytes32" }] as const;

/** keccak256(keccak256(abi.encode(wallet, record))): hashed twice, so that no inner node can pass for a leaf. */
export function merkleLeaf(leaf: OracleLeaf): Hex {
  return keccak256(keccak256(encodeAbiParameters(leafParameters, [leaf.wallet, leaf.record])));
}

/** The tree over distinct wallets, the same whatever their order; throws on an empty list or a wallet given twice. */
export function merkleTree(leaves: readonly OracleLeaf[]): MerkleTree {
  const wallets = new Set(leaves.map((leaf) => leaf.wallet.toLowerCase()));
  if (wallets.size !== leaves.length) throw new Error("Merkle tree: a wallet is given twice");
  const layers: (readonly Hex[])[] = [leaves.map(merkleLeaf).sort()];
  for (;;) {
    const layer = layers[layers.length - 1];
    const [root] = layer ?? [];
    if (layer === undefined || root === undefined) throw new Error("Merkle tree: expected at least one leaf");
    if (layer.length === 1) return { root, layers };
    layers.push(nextLayer(layer));
  }
}

/** The sibling hashes from a leaf up to the root; throws when the leaf is not in the tree. */
export function merkleProof(tree: MerkleTree, leaf: OracleLeaf): Hex[] {
  let index = position(tree.layers[0] ?? [], merkleLeaf(leaf));
  const proof: Hex[] = [];
  for (const layer of tree.layers) {
    const sibling = layer[index ^ 1];
    if (sibling !== undefined) proof.push(sibling);
    index >>= 1;
  }
  return proof;
}

/** Whether the proof leads from the leaf to the root, as the contract decides it. */
export function verifyMerkleProof(leaf: OracleLeaf, proof: readonly Hex[], root: Hex): boolean {
  return proof.reduce(hashPair, merkleLeaf(leaf)) === root.toLowerCase();
}

/** An odd last node rises as it is. */
function nextLayer(layer: readonly Hex[]): Hex[] {
  const next: Hex[] = [];
  for (let index = 0; index < layer.length; index += 2) {
    const [left, right] = layer.slice(index, index + 2);
    if (left !== undefined) next.push(right === undefined ? left : hashPair(left, right));
  }
  return next;
}

function hashPair(a: Hex, b: Hex): Hex {
  return keccak256(a.toLowerCase() < b.toLowerCase() ? concatHex([a, b]) : concatHex([b, a]));
}

/** Binary search in the sorted leaves: proofs for a whole population must not take quadratic time. */
function position(sorted: readonly Hex[], leaf: Hex): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const candidate = sorted[middle];
    if (candidate !== undefined && candidate < leaf) low = middle + 1;
    else high = middle;
  }
  if (sorted[low] !== leaf) throw new Error(`Merkle tree: leaf ${leaf} is not in it`);
  return low;
}
