import { setImmediate } from "node:timers/promises";
import type { z } from "@hono/zod-openapi";
import type { Hex } from "viem";
import { merkleProof, merkleTree } from "../../chain/oracle-merkle.ts";
import type { OracleLeaf } from "../../chain/oracle-types.ts";
import type { StoredEpoch } from "../../oracle/epochs.ts";
import { toEip55 } from "../address-schema.ts";
import type { EpochList, epochSchema, GetEpochPorts } from "./get-epoch.ts";

/** Lists kept: the nights that clients compare. A list of 10,000 wallets is about 10 MB. */
const KEPT = 3;
/** Proofs made before other requests get their turn. */
const PROOFS_AT_ONCE = 200;

/** The stored epochs that lists are made from. */
export type EpochSource = {
  root(epoch: number): Promise<Hex | null>;
  stored(epoch: number): Promise<StoredEpoch | null>;
};

/** The lists of epochs with a proof for every wallet, each rendered once and the last ones kept by their root. */
export function createEpochLists(source: EpochSource): GetEpochPorts["epochList"] {
  const kept = new Map<Hex, Promise<EpochList | null>>();
  return async (epoch) => {
    const root = await source.root(epoch);
    if (root === null) return null;
    const known = kept.get(root);
    if (known !== undefined) return known;
    const list = renderStored(epoch, source);
    kept.set(root, list);
    for (const oldest of [...kept.keys()].slice(0, -KEPT)) kept.delete(oldest);
    list.catch(() => kept.delete(root));
    return list;
  };
}

async function renderStored(epoch: number, source: EpochSource): Promise<EpochList | null> {
  const stored = await source.stored(epoch);
  if (stored === null) return null;
  const answer: z.infer<typeof epochSchema> = {
    epoch,
    root: stored.root,
    created_at: stored.createdAt.toISOString(),
    leaves: await provenLeaves(stored.leaves.map(toLeaf)),
  };
  return { root: stored.root, json: Buffer.from(JSON.stringify(answer)) };
}

async function provenLeaves(leaves: readonly OracleLeaf[]): Promise<z.infer<typeof epochSchema>["leaves"]> {
  const tree = merkleTree(leaves);
  const proven: z.infer<typeof epochSchema>["leaves"] = [];
  for (const leaf of leaves) {
    proven.push({ ...leaf, proof: merkleProof(tree, leaf) });
    if (proven.length % PROOFS_AT_ONCE === 0) await setImmediate();
  }
  return proven;
}

// The publisher stores records as 0x hex words only.
function toLeaf({ wallet, record }: StoredEpoch["leaves"][number]): OracleLeaf {
  return { wallet: toEip55(wallet), record: record as Hex };
}
