import { z } from "@hono/zod-openapi";
import canonicalize from "canonicalize";
import type { Hex } from "viem";
import { Problem } from "../../access/problems.ts";
import { answerTagged } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";

/** Services of the endpoint. */
type Needs = {
  /** The file of an inputs hash; undefined without one. */
  readonly inputFile: (hash: Hex) => Promise<unknown>;
};

const HASH = /^0x[0-9a-fA-F]{64}$/;

const params = z.object({
  hash: z
    .string()
    .regex(HASH)
    .transform((hash) => hash.toLowerCase() as Hex)
    .openapi({
      type: "string",
      pattern: HASH.source,
      description:
        "keccak256 of the file's RFC 8785 form for inputs and policies; its SHA-256 for all others",
      example: "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    }),
});

/** GET /inputs/{hash}. */
export const getInput = defineFree<Needs>()({
  method: "get",
  path: "/inputs/{hash}",
  operationId: "get_input_file",
  tag: "Verification of scores",
  summary: "File behind an inputs hash",
  description:
    "What a score's `inputs_hash` names: a file that names the policy, the token list, the sanctions list and the wallet's counterparty file, each of which is here as well. All are in their RFC 8785 form, and the hash is that of the body: keccak256 for inputs and policy, SHA-256 for the lists and the counterparty file.",
  request: { params, query: z.object({}), body: null },
  answer: {
    schema: z.unknown().openapi({
      type: ["object", "array"],
      description: "The file",
      example: { version: "AHS-2026.2" },
    }),
    description: "The file",
  },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params: { hash } }, { deps }) {
    const text = canonicalize(await deps.inputFile(hash));
    if (text === undefined) throw new Problem("not-found", `No input file has the hash ${hash}.`);
    return answerTagged(context, {
      tag: hash,
      body: text,
      headers: {
        "content-type": "application/json",
        "cache-control": "public, max-age=31536000, immutable",
      },
    });
  },
});
