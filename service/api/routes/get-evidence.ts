import { z } from "@hono/zod-openapi";
import type { Hex } from "viem";
import { Problem } from "../../access/problems.ts";
import { answerTagged } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";

/** Services of the endpoint. */
type Needs = {
  /** The document behind feedback or an answer to a validation request by its hash, as it was hashed; null for an unknown hash. */
  readonly evidence: (kind: "feedback" | "validation", hash: Hex) => Promise<string | null>;
};

const HASH = /^0x[0-9a-fA-F]{64}$/;

const params = z.object({
  kind: z
    .enum(["feedback", "validation"])
    .openapi({ description: "Registry that names it", example: "feedback" }),
  hash: z
    .string()
    .regex(HASH)
    .transform((hash) => hash.toLowerCase() as Hex)
    .openapi({
      type: "string",
      pattern: HASH.source,
      description: "keccak256 of the document's bytes, `feedbackHash` or `responseHash` in the registry",
      example: "0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    }),
});

/** GET /evidence/{kind}/{hash}. */
export const getEvidence = defineFree<Needs>()({
  method: "get",
  path: "/evidence/{kind}/{hash}",
  operationId: "get_evidence",
  tag: "Verification of scores",
  summary: "Document behind ERC-8004 feedback or validation",
  description:
    "What the `feedbackURI` of our entries in the ERC-8004 reputation registry names, or the `responseURI` of our answers in the validation registry: a file with the record or the verdict that the value is from. Feedback files have the form of the standard. Its bytes never change, and their keccak256 is the hash in the path. `record.inputs_hash` leads to the inputs of the score.",
  request: { params, query: z.object({}), body: null },
  answer: {
    schema: z.unknown().openapi({
      type: "object",
      description: "A feedback file, or the document of an answer",
      example: {
        agentRegistry: "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
        agentId: 22,
        clientAddress: "eip155:8453:0x7a3F1cB57c1bA4F1b3b3f0aD1E4C1b3c5d6E7f80",
        createdAt: "2026-11-23T10:00:00.000Z",
        value: 82,
        valueDecimals: 0,
        tag1: "ahs",
        tag2: "AHS-2026.2",
        record: { ahs_score: 82, grade: "B", sanctioned: false, as_of_block: 38000000 },
      },
    }),
    description: "The document",
  },
  alternatives: { 304: { description: "Unchanged since the ETag in If-None-Match" } },
  headers: { "If-None-Match": "ETags that the caller holds: 304 where one of them is current" },
  problems: ["not-found", "database-unavailable", "internal"],
  async respond(context, { params: { kind, hash } }, { deps }) {
    const document = await deps.evidence(kind, hash);
    if (document === null) throw new Problem("not-found", `No ${kind} has a document of the hash ${hash}.`);
    return answerTagged(context, {
      tag: hash,
      body: document,
      headers: {
        "content-type": "application/json",
        "cache-control": "public, max-age=31536000, immutable",
      },
    });
  },
});
