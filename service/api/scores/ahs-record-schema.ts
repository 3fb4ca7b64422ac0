import { z } from "@hono/zod-openapi";
import { eip55Schema } from "../address-schema.ts";
import { infrastructureSchema } from "./infrastructure-schema.ts";

const scoreSchema = z.int().min(0).max(100);
export const isoSchema = z.iso.datetime().openapi({ description: "ISO 8601, UTC" });
const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);

const gradeSchema = z.enum(["A", "B", "C", "D", "E", "F"]).openapi("Grade", {
  description: "Null for a wallet without enough history",
});
export const routingActionSchema = z.enum(["instant_settle", "escrow", "reject"]).openapi("RoutingAction");
export const confidenceLevelSchema = z
  .enum(["HIGH", "MEDIUM", "LOW", "INSUFFICIENT"])
  .openapi("ConfidenceLevel");

export const nullableScoreSchema = scoreSchema
  .nullable()
  .openapi({ description: "Integer 0 to 100; null for a wallet without enough history" });
export const nullableGradeSchema = gradeSchema.nullable();

export const sanctionsFlagSchema = z
  .object({
    source: z.enum(["chainalysis-oracle", "ofac-sdn"]),
    reference: z.string().openapi({
      description:
        "Transaction hash of the listing, the block at which the contract was asked, or the unique id of OFAC",
    }),
    detected_at: isoSchema,
  })
  .openapi("SanctionsFlag");

const patternSchema = z
  .object({
    name: z.string(),
    severity: z.enum(["info", "warning", "critical"]),
    effect: z.number().max(0).openapi({ description: "Points taken from the score" }),
    evidence: z.string(),
  })
  .openapi("Pattern");

const featureSchema = z
  .object({
    dimension: z.enum(["D1", "D2", "D3", "AHS"]),
    name: z.string(),
    value: z.number().nullable(),
    unit: z.string(),
    samples: z.number(),
    state: z.enum(["measured", "not_applicable", "unknown"]),
    score: z.number().nullable(),
    weight: z.number(),
    contribution: z
      .number()
      .nullable()
      .openapi({ description: "Hundredths of a point; a dimension's lines add up to 100 times its score" }),
    reason: z.string().nullable(),
  })
  .openapi("Feature");

export const coverageSchema = z
  .object({
    from_block: z.int(),
    to_block: z.int(),
    complete: z.boolean(),
    sources: z.array(z.string()),
    newest_calls_only: z.literal(true).optional().openapi({
      description:
        "Present where the wallet made more own calls in the window than are read of one wallet, the newest 20,000 and less where they are large: from_block is the block of the oldest that was read",
    }),
  })
  .openapi("Coverage");

const publishedSchema = z
  .object({
    oracle: eip55Schema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    as_of_block: z.int(),
    tx_hash: hashSchema,
    published_at: isoSchema,
  })
  .openapi("Published", { description: "What the oracle contract holds; null while it holds nothing" });

const historyEntrySchema = z
  .object({
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
    confidence: z.number().min(0).max(1),
    confidence_level: confidenceLevelSchema,
    as_of_block: z.int(),
    as_of_time: isoSchema,
    model_version: z.string(),
    inputs_hash: hashSchema,
  })
  .openapi("HistoryEntry");

const attestationSchema = z
  .object({
    typed_data: z.object({
      domain: z.object({
        name: z.string(),
        version: z.string(),
        chainId: z.int(),
        verifyingContract: eip55Schema,
      }),
      types: z.record(z.string(), z.array(z.object({ name: z.string(), type: z.string() }))),
      primaryType: z.string(),
      message: z
        .record(z.string(), z.union([z.string(), z.number()]))
        .openapi({ description: "64-bit members as decimal strings" }),
    }),
    signer: eip55Schema,
    signature: z.string().regex(/^0x[0-9a-f]+$/),
  })
  .openapi("Attestation", {
    description: "EIP-712 typed data that publishSigned of the oracle accepts from anyone",
  });

/** The answer of GET /ahs/{address}: the specified record with its additions, flat. */
export const ahsRecordSchema = z
  .object({
    address: eip55Schema,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    grade_label: z.string().openapi({
      description:
        "Excellent 90-100, Good 75-89, Needs Attention 60-74, Degraded 40-59, Critical 20-39, Failing 0-19, Insufficient history",
    }),
    d1_score: nullableScoreSchema,
    d2_score: nullableScoreSchema,
    d3_score: scoreSchema.nullable().openapi({ description: "Null while the mode is 2D" }),
    mode: z.enum(["2D", "3D"]),
    sanctions_flags: z.array(sanctionsFlagSchema),
    trust_routing: routingActionSchema,
    confidence: z.number().min(0).max(1),
    confidence_level: confidenceLevelSchema,
    patterns: z.array(patternSchema),
    trend: z
      .enum(["improving", "stable", "declining"])
      .nullable()
      .openapi({ description: "Over 30 days of stored scores; null below three of them" }),
    timestamp: isoSchema.openapi({ description: "When this answer was made" }),
    model_version: z.string(),
    chain_id: z.int(),
    as_of_block: z.int(),
    as_of_time: isoSchema,
    inputs_hash: hashSchema.openapi({
      description: "Commits to everything that the score was computed from",
    }),
    coverage: coverageSchema,
    published: publishedSchema.nullable(),
    stale: z.boolean().openapi({ description: "The score is as of a block older than 24 hours" }),
    features: z.array(featureSchema).optional(),
    history: z.array(historyEntrySchema).optional().openapi({ description: "Newest first, at most 100" }),
    attestation: attestationSchema.optional(),
    infrastructure: infrastructureSchema.optional(),
  })
  .openapi("AhsRecord");

export type AhsRecord = z.infer<typeof ahsRecordSchema>;
export type Attestation = z.infer<typeof attestationSchema>;
