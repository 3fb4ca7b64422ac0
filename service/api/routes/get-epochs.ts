import { setImmediate } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { Hex } from "viem";
import { Problem } from "../../access/problems.ts";
import type { OracleLeaf } from "../../chain/oracle-codec.ts";
import { merkleProof, merkleTree } from "../../chain/oracle-merkle.ts";
import type { StoredEpoch } from "../../oracle/epochs.ts";

import { answerTagged } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { eip55Schema, hashSchema, isoSchema, toEip55 } from "../schemas/values.ts";

/** Services of the endpoint. */
type Needs = {
  /** The rendered list of one night; null without one. */
  readonly epochList: EpochLists;
};

type EpochLists = (epoch: number) => Promise<{ readonly root: string; readonly json: Uint8Array } | null>;

/** The answer of GET /epochs/{epoch}. */
export const epochSchema = z
  .object({
    epoch: z.int().openapi({ example: 20777 }),
    root: hashSchema,
    created_at: isoSchema,
    leaves: z.array(
      z.object({
        wallet: eip55Schema,
        record: hashSchema.openapi({ description: "The record as the oracle packs it" }),
        proof: z
          .array(hashSchema)
          .openapi({ description: "Sibling hashes from the leaf up, as verify takes them" }),
      }),
    ),
  })
  .openapi("Epoch");

const params = z.object({
  epoch: z
    .string()
    .regex(/^[0-9]{1,15}$/)
    .transform(Number)
    .openapi({
      type: "integer",
      description: "Number of the epoch, as in the oracle's RootPublished event",
      example: 20777,
    }),
});

/** GET /epochs/{epoch}. */
export const getEpoch = defineFree<Needs>()({
  method: "get",
  path: "/epochs/{epoch}",
  operationId: "get_epoch",
  tag: "Verification of scores",
  summary: "Merkle list of one epoch",
  description:
    "Every wallet's record of one night with the proof that leads to the root of that night. The oracle's `verify` accepts the proofs of the latest epoch; earlier roots are in its `RootPublished` events.",
  request: { params, query: z.object({}), body: null },
  answer: { schema: epochSchema, description: "The list" },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params: { epoch } }, { deps }) {
    const list = await deps.epochList(epoch);
    if (list === null) throw new Problem("not-found", `No epoch ${epoch} has been published.`);
    return answerTagged(context, {
      tag: list.root,
      body: list.json,
      headers: {
        "content-type": "application/json",
        "cache-control": "public, max-age=3600",
      },
    });
  },
});

/** Cached lists: the nights that clients compare. A list of 10,000 wallets has about 10 MB. */
const MAX_CACHED = 3;
/** Proofs computed before the event loop runs other requests. */
const PROOFS_AT_ONCE = 200;

/** Renders the lists of epochs with a proof for every wallet, and caches the latest ones by root. */
export function createEpochLists(source: {
  root(epoch: number): Promise<Hex | null>;
  stored(epoch: number): Promise<StoredEpoch | null>;
}): EpochLists {
  const cached = new Map<Hex, ReturnType<EpochLists>>();
  return async (epoch) => {
    const root = await source.root(epoch);
    if (root === null) return null;
    const known = cached.get(root);
    if (known !== undefined) return known;
    const list = renderStored(epoch, source);
    cached.set(root, list);
    for (const oldest of [...cached.keys()].slice(0, -MAX_CACHED)) cached.delete(oldest);
    list.catch(() => cached.delete(root));
    return list;
  };
}

async function renderStored(
  epoch: number,
  source: Parameters<typeof createEpochLists>[0],
): ReturnType<EpochLists> {
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
