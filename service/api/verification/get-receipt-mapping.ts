import { z } from "@hono/zod-openapi";
import { Problem } from "../../access/problems.ts";
import {
  findMapping,
  mappingHash,
  mappingOf,
  mappingText,
} from "../../verification/verdicts/receipt-mapping.ts";
import { answer } from "../kit/answer.ts";
import { defineFree } from "../kit/endpoint.ts";

const EXAMPLE = mappingOf(0.7);

const params = z.object({
  mapping_id: z.string().openapi({
    param: { name: "mapping_id", in: "path" },
    description: "`v_gate_mapping` of a receipt",
    example: EXAMPLE.mapping_id,
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
  .openapi("ReceiptMapping");

/** GET /v1/receipt-mappings/{mapping_id}. */
export const getReceiptMapping = defineFree({
  method: "get",
  path: "/v1/receipt-mappings/{mapping_id}",
  tag: "Verdicts",
  summary: "Rules by which a receipt's gate is derived",
  description:
    "The mapping that a receipt names, as RFC 8785 JSON whose SHA-256 the receipt signs. It never changes: other rules get another id.",
  request: { params, query: z.object({}), body: null },
  answer: {
    schema: mappingSchema,
    example: mappingSchema.parse(JSON.parse(mappingText(EXAMPLE))),
    description: "The mapping",
  },
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
