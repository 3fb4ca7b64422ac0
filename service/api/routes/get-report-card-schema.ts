import { z } from "@hono/zod-openapi";
import { reportScopeShape } from "../kit/wallet-report.ts";
import { nullableGradeSchema, nullableScoreSchema, scoreShape } from "../schemas/ahs-record.ts";
import { adjustmentSchema, featureSchema } from "../schemas/explanation.ts";
import { eip55Schema, isoSchema, severitySchema, text } from "../schemas/values.ts";

const count = z.int().min(0).openapi({ example: 2 });

const dimensionSchema = z
  .object({
    dimension: z.enum(["D1", "D2"]),
    title: z.string().openapi({ example: "Wallet hygiene" }),
    weight: z.number().openapi({ example: 0.3 }),
    score: nullableScoreSchema,
    features: z.array(featureSchema),
  })
  .openapi("ReportCardDimension");

const benchmarkSchema = z
  .object({
    scored_wallets: count.openapi({ example: 38 }),
    rank: z.int().positive().nullable().openapi({
      description:
        "One more than the scored wallets with a better score; null for a wallet without a score, or on a sanctions list",
      example: 26,
    }),
    percentile: z.number().min(0).max(100).nullable().openapi({
      description:
        "Mid-rank, to a tenth: share of the scored wallets that score less, and half of those that score the same; null for a wallet without a score",
      example: 31.6,
    }),
    average_score: z.number().min(0).max(100).nullable().openapi({ example: 77.1 }),
    grade_distribution: z
      .object({ A: count, B: count, C: count, D: count, E: count, F: count })
      .openapi({ example: { A: 24, B: 2, C: 1, D: 4, E: 2, F: 5 } }),
    score_distribution: z.array(z.object({ from: z.int(), to: z.int(), wallets: count })).openapi({
      description: "By tens; the last one holds 90 to 100",
      example: [3, 2, 0, 2, 1, 3, 1, 0, 2, 24].map((wallets, tenth) => {
        return { from: 10 * tenth, to: tenth === 9 ? 100 : 10 * tenth + 9, wallets };
      }),
    }),
  })
  .openapi("Benchmark", {
    description:
      "All wallets of this chain that have a score, sanctioned ones with 0; at most half a minute old",
  });

/** The answer of GET /report-card/{address} as JSON. */
export const reportCardSchema = z
  .object({
    address: eip55Schema,
    name: text(
      "As the agent registered itself; null for a wallet of no agent, or of one without a name, or whose name mixes scripts so that it could be taken for another's",
      "payment-agent 0",
    ).nullable(),
    name_verified: z
      .literal(false)
      .openapi({ description: "Names are not verified: agents choose them at registration" }),
    ...reportScopeShape,
    ...scoreShape,
    chain_name: text("Name of the chain", "Base"),
    verify_url: text(
      "Page of the wallet, which shows how to verify the score",
      "https://ahs.example/wallet/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
    ),
    dimensions: z.array(dimensionSchema),
    adjustments: z.array(adjustmentSchema).openapi({
      description:
        "Caps and effects without roundings; for a sanctioned wallet only the listing, with the sum of all that it takes from the score",
      example: [],
    }),
    patterns: z.array(
      z.object({
        name: z.string().openapi({ example: "healthy_operator" }),
        title: z.string().openapi({ example: "Healthy operator" }),
        severity: severitySchema,
        effect: z.number().max(0),
        evidence: z
          .string()
          .openapi({ example: "217 of 224 calls to others succeeded; estimated success 96.3%" }),
      }),
    ),
    benchmark: benchmarkSchema,
    history: z
      .array(z.object({ as_of_time: isoSchema, ahs_score: nullableScoreSchema, grade: nullableGradeSchema }))
      .openapi({
        description:
          "Stored scores, oldest first: the newest of each UTC day that has one, of the last 90 such days",
      }),
    timestamp: isoSchema.openapi({ description: "When this answer was made" }),
  })
  .openapi("ReportCard");

export type ReportCard = z.infer<typeof reportCardSchema>;
