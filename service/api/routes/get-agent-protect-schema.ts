import { z } from "@hono/zod-openapi";
import { reportScopeShape } from "../kit/wallet-report.ts";
import { manageTokenSchema, subscriptionShape, webhookSecretSchema } from "../schemas/alert-subscription.ts";
import { usdSchema } from "../schemas/report-parts.ts";
import {
  maxCostSchema,
  nonceSchema,
  passedSimulationSchema,
  refusedRetrySchema,
  simulatedAtSchema,
  unsignedTransactionSchema,
} from "../schemas/retries.ts";
import { riskShape } from "../schemas/risk.ts";
import { count, eip55Schema, flag, isoSchema, severitySchema, text } from "../schemas/values.ts";

const serviceSchema = z.enum(["risk", "health", "wash", "optimize", "retry"]);

export const stepSchema = z
  .object({
    priority: z.int().positive().openapi({ description: "1 is first" }),
    service: serviceSchema.openapi({ example: "retry" }),
    action: z
      .enum([
        "review_risk",
        "leave_listed_accounts",
        "revoke_delegation",
        "revoke_approval",
        "retry_transaction",
        "simulate_first",
        "raise_gas_limit",
        "lower_gas_limit",
        "pay_market_price",
        "small_savings",
        "clean_up",
      ])
      .openapi({ example: "retry_transaction" }),
    severity: severitySchema,
    description: z.string().openapi({
      example:
        "Send 0x322e9f04 at 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc again, which failed as 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d.",
    }),
    reason: z.string().openapi({
      example: "It failed (reverted: InsufficientBalance()), nothing since did the same, and it passes now.",
    }),
    value_usd: usdSchema.openapi({
      description:
        "What is at stake now: of an approval the wallet's balance of the token, of a retry what it sends; null where it is not about money or nothing prices it",
      example: null,
    }),
    saves_usd_per_month: usdSchema.openapi({
      description: "Null where the step saves no money",
      example: null,
    }),
    last_used_at: isoSchema.nullable().openapi({
      description:
        "Last possible use of the approval that the step takes back; null where none is known, and for other steps",
      example: null,
    }),
    warning: text("What the step may break").nullable().openapi({ example: null }),
    transaction: unsignedTransactionSchema
      .nullable()
      .openapi({ description: "Null where nothing can be signed for the step" }),
    simulation: passedSimulationSchema.nullable(),
    max_cost_wei: maxCostSchema.nullable(),
    obstacle: text("Why a step that would have a transaction has none").nullable().openapi({ example: null }),
  })
  .openapi("ProtectionStep");

const monitoringSchema = z
  .object({
    ...subscriptionShape,
    secret: webhookSecretSchema.openapi({
      description: "Signs the deliveries (Standard Webhooks 1.0.0); shown once, null in every later answer",
    }),
    manage_token: manageTokenSchema.openapi({
      description: "Manages the subscription as `Authorization: Bearer …`; shown once, like the secret",
    }),
  })
  .openapi("ProtectionMonitoring");

/** The answer of GET /agent/protect/{address}. */
export const protectSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    risk_level: riskShape.risk_level,
    risk_score: riskShape.risk_score,
    verdict: riskShape.verdict,
    services: z
      .array(
        z.object({
          name: serviceSchema,
          ran: z.boolean().openapi({ example: true }),
          reason: z.string().openapi({ example: "always" }),
          window: reportScopeShape.window.nullable().openapi({
            description:
              "What it looked back at: health, wash and optimize at the window of the report, retry at the days of failures up to the simulated block; null where it was not run, and for risk, which goes by the stored score",
            example: null,
          }),
        }),
      )
      .openapi({ description: "Everything is run unless the risk is LOW; then what has something to find" }),
    simulated_at: simulatedAtSchema,
    steps: z.array(stepSchema).openapi({
      description:
        "Sorted by severity, then: reasons to refuse the wallet, signable transactions, costly habits by cost (those below a cent a month in one step), untidiness. Transactions keep the order of their nonces, so one that precedes a graver one is listed with it",
    }),
    transactions: count("Steps that can be signed now", 1),
    first_nonce: nonceSchema.openapi({ description: "Of the first of them; they follow one another" }),
    total_max_cost_wei: maxCostSchema,
    total_max_cost_usd: usdSchema.openapi({ example: 0.012027 }),
    saves_usd_per_month: usdSchema.openapi({
      description:
        "Of all costly habits together, at most; null where it was not looked into, or has no price",
      example: 0.007234,
    }),
    rehearsed: flag(
      "Whether all transactions also passed a simulation one after the other; false if the node cannot simulate that, null without transactions",
      true,
    ).nullable(),
    not_retried: z
      .array(refusedRetrySchema)
      .openapi({ description: "Failures that are not offered, newest first" }),
    monitoring: monitoringSchema
      .nullable()
      .openapi({ description: "30 days of webhooks; null without webhook_url" }),
  })
  .openapi("Protection");

export type ProtectAnswer = z.infer<typeof protectSchema>;
