import { z } from "@hono/zod-openapi";
import { Problem } from "../../access/problems.ts";
import { eip55Schema } from "../address-schema.ts";
import { answerTagged } from "../answer.ts";
import { defineFree } from "../endpoint.ts";

export type GetEpochPorts = {
  /** The rendered list of one night; null when there is none. */
  readonly epochList: (epoch: number) => Promise<EpochList | null>;
};

/** A published list, with its answer as JSON in bytes that all requests share: lists are long, never change, and are asked for often. */
export type EpochList = { readonly root: string; readonly json: Uint8Array };

const wordSchema = z.string().regex(/^0x[0-9a-f]{64}$/);

/** The answer of GET /epochs/{epoch}. */
export const epochSchema = z
  .object({
    epoch: z.int(),
    root: wordSchema,
    created_at: z.iso.datetime(),
    leaves: z.array(
      z.object({
        wallet: eip55Schema,
        record: wordSchema.openapi({ description: "The record as the oracle packs it" }),
        proof: z
          .array(wordSchema)
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
      param: { name: "epoch", in: "path" },
      type: "integer",
      description: "Number of the epoch, as in the oracle's RootPublished event",
      example: 20777,
    }),
});

/** GET /epochs/{epoch}. */
export const getEpoch = defineFree({
  method: "get",
  path: "/epochs/{epoch}",
  tag: "Verification of scores",
  summary: "Merkle list of one epoch",
  description:
    "Every wallet's record of one night with the proof that leads to the root of that night. The oracle's `verify` accepts the proofs of the latest epoch; earlier roots are in its `RootPublished` events.",
  request: { params, query: z.object({}), body: null },
  answer: {
    schema: epochSchema,
    example: {
      epoch: 20777,
      root: "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
      created_at: "2026-11-20T02:00:00.000Z",
      leaves: [
        {
          wallet: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
          record: "0x545852202a6c00000000000000000000000000000000000000000000000000f1",
          proof: ["0x96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7"],
        },
      ],
    },
    description: "The list",
  },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params: { epoch } }, { deps }: { deps: GetEpochPorts }) {
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
