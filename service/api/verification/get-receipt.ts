import { z } from "@hono/zod-openapi";
import { Problem } from "../../access/problems.ts";
import {
  findMapping,
  mappingHash,
  mappingOf,
  mappingText,
  RECEIPT_TYPE,
  type ReceiptKeys,
  type ReceiptPayload,
  receiptPayload,
  signReceipt,
} from "../../verification/verdicts/receipt.ts";
import { answer, answerJson } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";
import { text } from "../schemas/values.ts";
import type { VerdictNeeds } from "./require-verdict.ts";
import { requireVerdict } from "./require-verdict.ts";
import { verdictParams } from "./verdict-schema.ts";

/** Services of the endpoint. */
type Needs = VerdictNeeds & {
  readonly discovery: { readonly origin: string };
  /** Null if no receipts are signed. */
  readonly receiptKeys: Pick<ReceiptKeys, "signing"> | null;
};

const receiptSchema = z
  .object({
    payload: text("base64url of RFC 8785 JSON", "eyJleHAiOjE3NjYyMjQ4MDksImlhdCI6MTc2MzYzMjgwOSwi…"),
    protected: text(
      `base64url of the header: alg "EdDSA", kid (RFC 7638 thumbprint), typ "${RECEIPT_TYPE}"`,
      "eyJhbGciOiJFZERTQSIsImtpZCI6IuKApiJ9",
    ),
    signature: z.string().openapi({ example: "3Yt0mVb…" }),
  })
  .openapi("Receipt", { description: "A JWS in flattened JSON (RFC 7515)" });

/** GET /v1/verdicts/{verdict_id}/receipt. */
export const getReceipt = defineFree<Needs>()({
  method: "get",
  path: "/v1/verdicts/{verdict_id}/receipt",
  operationId: "get_receipt",
  tool: "Returns the newest decision on an output as a signed receipt (JWS). Use it to prove a verdict to a third party.",
  tag: "Verdicts",
  summary: "Signed receipt of a verdict",
  description:
    "The newest decision as a JWS by a key of `/.well-known/jwks.json`, in the shape of verification.v0.3, a candidate profile beside ERC-8210 (draft-krausz-verification-state-01). ALLOW is supported and act, REJECT refuted and halt, HOLD unverifiable and halt. `v_recommendation` and `v_gate` follow from the other members by the rules at `GET /v1/receipt-mappings/{mapping_id}`, whose SHA-256 is `v_gate_mapping_hash`: compute them again, and take anything that differs, or is expired, for halt. `subject.claim_hash` is the SHA-256 of the RFC 8785 JSON `{output_hash, spec_hash}`. 409 until the verdict is completed.",
  request: { params: verdictParams, query: z.object({}), body: null },
  answer: { schema: receiptSchema, description: "The receipt, good for 30 days; a new one at every request" },
  problems: [
    "not-found",
    "verdict-not-completed",
    "receipts-not-configured",
    "database-unavailable",
    "internal",
  ],
  async respond(context, { params }, { deps, now }) {
    const view = await requireVerdict(params.verdict_id, deps);
    if (deps.receiptKeys === null)
      throw new Problem("receipts-not-configured", "This deployment has no key to sign receipts with.");
    const payload: ReceiptPayload | null = receiptPayload(view, { origin: deps.discovery.origin, now });
    if (payload === null)
      throw new Problem("verdict-not-completed", `Verdict ${view.id} is ${view.status}, not completed.`);
    const { payload: signed, protected: header, signature } = await signReceipt(payload, deps.receiptKeys);
    return answerJson(
      context,
      { payload: signed, protected: header, signature },
      { headers: { "cache-control": "private, no-store" } },
    );
  },
});

const MAPPING_EXAMPLE = mappingOf(0.7);

const mappingParams = z.object({
  mapping_id: z.string().openapi({
    description: "`v_gate_mapping` of a receipt",
    example: MAPPING_EXAMPLE.mapping_id,
  }),
});

const mappingSchema = z
  .object({
    mapping_id: z.string(),
    v_gate_threshold: z.number().min(0).max(1),
    rules: z
      .array(z.object({ when: z.record(z.string(), z.string()), v_recommendation: z.string() }))
      .openapi({
        description:
          "The first whose members all equal the receipt's decides; at_least_threshold and below_threshold compare v_confidence with v_gate_threshold",
      }),
    gates: z.record(z.string(), z.enum(["act", "halt"])),
  })
  .openapi("ReceiptMapping", { example: MAPPING_EXAMPLE });

/** GET /v1/receipt-mappings/{mapping_id}. */
export const getReceiptMapping = defineFree<unknown>()({
  method: "get",
  path: "/v1/receipt-mappings/{mapping_id}",
  operationId: "get_receipt_mapping",
  tag: "Verdicts",
  summary: "Rules by which a receipt's gate is derived",
  description:
    "The mapping that a receipt names, as RFC 8785 JSON whose SHA-256 the receipt signs. It never changes: other rules get another id.",
  request: { params: mappingParams, query: z.object({}), body: null },
  answer: { schema: mappingSchema, description: "The mapping" },
  problems: ["not-found", "internal"],
  respond(context, { params: { mapping_id } }) {
    const mapping = findMapping(mapping_id);
    if (mapping === null) throw new Problem("not-found", `There is no mapping ${mapping_id.slice(0, 64)}.`);
    return answer(context, {
      status: 200,
      body: mappingText(mapping),
      headers: {
        "content-type": "application/json",
        "cache-control": "public, max-age=31536000, immutable",
        etag: `"${mappingHash(mapping)}"`,
      },
    });
  },
});
