import { z } from "@hono/zod-openapi";
import { reportScopeShape } from "../kit/wallet-report.ts";
import {
  confidenceLevelSchema,
  nullableGradeSchema,
  nullableScoreSchema,
  routingActionSchema,
  sanctionsFlagSchema,
} from "../schemas/ahs-record.ts";
import { eip55Schema, isoSchema } from "../schemas/values.ts";

const count = z.int().min(0);

const featureSchema = z
  .object({
    name: z.string(),
    title: z.string(),
    says: z.string().openapi({
      description:
        "In words: what was counted, and as an estimate what the model makes of it where it was not",
    }),
    score: z.number().nullable().openapi({ description: "0 to 100; null where nothing was measured" }),
    weight: z.number(),
    contribution: z.number().nullable().openapi({ description: "Points of the dimension" }),
  })
  .openapi("ReportCardFeature");

const dimensionSchema = z
  .object({
    dimension: z.enum(["D1", "D2"]),
    title: z.string(),
    weight: z.number(),
    score: nullableScoreSchema,
    features: z.array(featureSchema),
  })
  .openapi("ReportCardDimension");

const benchmarkSchema = z
  .object({
    scored_wallets: count,
    percentile: z.number().min(0).max(100).nullable().openapi({
      description:
        "Mid-rank, to a tenth: share of the scored wallets that score less, and half of those that score the same; null for a wallet without a score",
    }),
    average_score: z.number().min(0).max(100).nullable(),
    grade_distribution: z.object({ A: count, B: count, C: count, D: count, E: count, F: count }),
    score_distribution: z
      .array(z.object({ from: z.int(), to: z.int(), wallets: count }))
      .openapi({ description: "By tens; the last one holds 90 to 100" }),
  })
  .openapi("Benchmark", {
    description:
      "All wallets of this chain that have a score, sanctioned ones with 0; at most half a minute old",
  });

/** The answer of GET /report-card/{address} as JSON. */
export const reportCardSchema = z
  .object({
    address: eip55Schema,
    name: z.string().nullable().openapi({
      description:
        "As the agent registered itself; null for a wallet of no agent, or of one without a name, or whose name mixes scripts so that it could be taken for another's",
    }),
    name_verified: z
      .literal(false)
      .openapi({ description: "Names are not verified: agents choose them at registration" }),
    ...reportScopeShape,
    ahs_score: nullableScoreSchema,
    grade: nullableGradeSchema,
    grade_label: z.string(),
    trust_routing: routingActionSchema,
    confidence: z.number().min(0).max(1),
    confidence_level: confidenceLevelSchema,
    sanctions_flags: z.array(sanctionsFlagSchema),
    dimensions: z.array(dimensionSchema),
    adjustments: z
      .array(
        z.object({ name: z.string(), title: z.string(), points: z.number(), reason: z.string().nullable() }),
      )
      .openapi({
        description:
          "Caps and effects between the dimensions and the score, in points of the score; for a sanctioned wallet only the listing, with the sum of all",
      }),
    patterns: z.array(
      z.object({
        name: z.string(),
        title: z.string(),
        severity: z.enum(["info", "warning", "critical"]),
        effect: z.number().max(0),
        evidence: z.string(),
      }),
    ),
    benchmark: benchmarkSchema,
    history: z
      .array(z.object({ as_of_time: isoSchema, ahs_score: nullableScoreSchema, grade: nullableGradeSchema }))
      .openapi({
        description:
          "Stored scores, oldest first: the newest of each UTC day that has one, of the last 90 such days",
      }),
    stale: z.boolean(),
    model_version: z.string(),
    timestamp: isoSchema.openapi({ description: "When this answer was made" }),
  })
  .openapi("ReportCard");

export type ReportCard = z.infer<typeof reportCardSchema>;

export const REPORT_CARD_EXAMPLE: ReportCard = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  name: "payment-agent 0",
  name_verified: false,
  chain_id: 31337,
  as_of_block: 48210,
  as_of_time: "2026-11-20T09:58:00.000Z",
  window: { from: "2026-05-24T09:58:00.000Z", to: "2026-11-20T09:58:00.000Z", days: 180 },
  coverage: { from_block: 1, to_block: 48210, complete: true, sources: ["index"] },
  ahs_score: 84,
  grade: "B",
  grade_label: "Good",
  trust_routing: "instant_settle",
  confidence: 0.81,
  confidence_level: "HIGH",
  sanctions_flags: [],
  dimensions: [
    {
      dimension: "D1",
      title: "Wallet hygiene",
      weight: 0.3,
      score: 88,
      features: [
        {
          name: "success_rate",
          title: "Success rate",
          says: "217 of 224 calls to others succeeded",
          score: 89.7,
          weight: 0.3,
          contribution: 26.92,
        },
      ],
    },
    { dimension: "D2", title: "Behavioural patterns", weight: 0.7, score: 82, features: [] },
  ],
  adjustments: [],
  patterns: [
    {
      name: "healthy_operator",
      title: "Healthy operator",
      severity: "info",
      effect: 0,
      evidence: "217 of 224 calls to others succeeded; estimated success 96.3 %",
    },
  ],
  benchmark: {
    scored_wallets: 38,
    percentile: 31.6,
    average_score: 77.1,
    grade_distribution: { A: 24, B: 2, C: 1, D: 4, E: 2, F: 5 },
    score_distribution: [
      { from: 0, to: 9, wallets: 3 },
      { from: 10, to: 19, wallets: 2 },
      { from: 20, to: 29, wallets: 0 },
      { from: 30, to: 39, wallets: 2 },
      { from: 40, to: 49, wallets: 1 },
      { from: 50, to: 59, wallets: 3 },
      { from: 60, to: 69, wallets: 1 },
      { from: 70, to: 79, wallets: 0 },
      { from: 80, to: 89, wallets: 2 },
      { from: 90, to: 100, wallets: 24 },
    ],
  },
  history: [{ as_of_time: "2026-11-20T09:58:00.000Z", ahs_score: 84, grade: "B" }],
  stale: false,
  model_version: "AHS-2026.1",
  timestamp: "2026-11-20T10:00:00.000Z",
};
