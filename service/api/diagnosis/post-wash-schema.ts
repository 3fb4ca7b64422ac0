import { z } from "@hono/zod-openapi";
import { eip55Schema } from "../address-schema.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import { reportScopeShape } from "../wallet-report.ts";
import {
  approvalsShape,
  portfolioSchema,
  pricesSchema,
  tokenAmountSchema,
  usdSchema,
} from "./get-health-parts.ts";

const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);
const pointsSchema = z.int().min(0).max(100);

const deductionSchema = z
  .object({
    name: z.enum([
      "dust",
      "unrecognised_tokens",
      "portfolio_quality",
      "approvals",
      "delegation",
      "self_dealing",
      "circular_transfers",
    ]),
    points: pointsSchema.nullable().openapi({ description: "Taken from 100; null where it is not known" }),
    most: pointsSchema,
    reason: z.string(),
  })
  .openapi("WashDeduction");

const issueSchema = z
  .object({
    category: z.string(),
    severity: z.enum(["high", "medium", "low", "info"]),
    description: z.string(),
    action: z.string(),
  })
  .openapi("WashIssue");

const receivedSchema = z.object({
  spam_tokens: z.int(),
  dust_tokens: z.int(),
  transfers: z.int(),
  truncated: z
    .boolean()
    .openapi({ description: "Of very many transfers only the newest 20,000 were looked at" }),
  note: z.string(),
  tokens: z
    .array(
      z.object({
        token: eip55Schema.openapi({ description: "The zero address for native coin" }),
        symbol: z.string().nullable(),
        standard: z.enum(["native", "erc20", "erc721", "erc1155"]),
        kind: z.enum(["spam", "dust", "gift"]),
        transfers: z.int(),
        senders: z.int(),
        amount: tokenAmountSchema.nullable(),
        worth_usd: usdSchema,
        last_at: isoSchema,
      }),
    )
    .openapi({ description: "Most transfers first, at most 100" }),
  left_out: z.int(),
});

const circleSchema = z.object({
  counterparty: eip55Schema,
  own: z.boolean().openapi({ description: "Whether it belongs to the wallet's owner" }),
  token: eip55Schema.openapi({ description: "The zero address for native coin" }),
  times: z.int(),
  amount: tokenAmountSchema,
  last_out_tx: hashSchema,
  last_back_tx: hashSchema,
  last_at: isoSchema,
});

/** The answer of POST /wash/{address}. */
export const washSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    cleanliness_score: pointsSchema.nullable().openapi({
      description:
        "100 less the points of all deductions; null where one of them is not known, or no own call is",
    }),
    cleanliness_range: z
      .object({ lowest: pointsSchema, highest: pointsSchema })
      .openapi({ description: "Between which the score lies, whatever is not known" }),
    cleanliness_grade: z
      .enum(["Spotless", "Clean", "Needs Attention", "Dirty", "Critical"])
      .nullable()
      .openapi({ description: "From 90, 70, 50, 30 and 0 points" }),
    deductions: z.array(deductionSchema),
    issues: z.array(issueSchema).openapi({ description: "The gravest first, at most 200" }),
    issues_by_severity: z.object({ high: z.int(), medium: z.int(), low: z.int(), info: z.int() }),
    portfolio: portfolioSchema,
    received: receivedSchema,
    ...approvalsShape,
    self_dealing: z.object({
      own_share: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .openapi({ description: "Share of the weight of own calls that stays within the owner's accounts" }),
      is_pattern: z.boolean(),
      circles: z.array(circleSchema).openapi({ description: "Most often first, at most 100" }),
      truncated: z.boolean(),
      method: z.string(),
    }),
    prices: pricesSchema,
  })
  .openapi("WashReport");

export type WashAnswer = z.infer<typeof washSchema>;
