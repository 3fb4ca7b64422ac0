import { z } from "@hono/zod-openapi";
import { eip55Schema } from "../address-schema.ts";
import { subscriptionShape } from "../alerts/alerts-subscription.ts";
import { usdSchema, weiSchema } from "../diagnosis/get-health-parts.ts";
import { riskShape } from "../risk/risk-schema.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import { reportScopeShape } from "../wallet-report.ts";
import {
  passedSimulationSchema,
  refusedRetrySchema,
  simulatedAtSchema,
  unsignedTransactionSchema,
} from "./get-retry-schema.ts";

const serviceSchema = z.enum(["risk", "health", "wash", "optimize", "retry"]);

const stepSchema = z
  .object({
    priority: z.int().positive().openapi({ description: "1 is first" }),
    service: serviceSchema,
    action: z.enum([
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
    ]),
    severity: z.enum(["high", "medium", "low"]),
    description: z.string(),
    reason: z.string(),
    value_usd: usdSchema.openapi({
      description:
        "What is at stake now: of an approval the wallet's balance of the token, of a retry what it sends; null where it is not about money or nothing prices it",
    }),
    saves_usd_per_month: usdSchema.openapi({ description: "Null where the step saves no money" }),
    last_used_at: isoSchema.nullable().openapi({
      description:
        "Last possible use of the approval that the step takes back; null where none is known, and for other steps",
    }),
    warning: z.string().nullable().openapi({ description: "What the step may break" }),
    transaction: unsignedTransactionSchema
      .nullable()
      .openapi({ description: "Null where nothing can be signed for the step" }),
    simulation: passedSimulationSchema.nullable(),
    max_cost_wei: weiSchema.nullable(),
    obstacle: z.string().nullable().openapi({
      description: "Why a step that would have a transaction has none",
    }),
  })
  .openapi("ProtectionStep");

const monitoringSchema = z
  .object({
    ...subscriptionShape,
    secret: z.string().nullable().openapi({
      description: "Signs the deliveries (Standard Webhooks 1.0.0); shown once, null in every later answer",
    }),
    manage_token: z.string().nullable().openapi({
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
          ran: z.boolean(),
          reason: z.string(),
          window: reportScopeShape.window.nullable().openapi({
            description:
              "What it looked back at: health, wash and optimize at the window of the report, retry at the days of failures up to the simulated block; null where it was not run, and for risk, which goes by the stored score",
          }),
        }),
      )
      .openapi({ description: "Everything is run unless the risk is LOW; then what has something to find" }),
    simulated_at: simulatedAtSchema,
    steps: z.array(stepSchema).openapi({
      description:
        "By severity. Of one severity first what makes others refuse the wallet, then what can be signed, then costly habits by what they cost, those below a cent a month in one step, and untidiness last. Transactions stand in the order of their nonces: one that goes before a graver one stands with it",
    }),
    transactions: z.int().min(0).openapi({ description: "Steps that can be signed now" }),
    first_nonce: z.int().min(0).openapi({ description: "Of the first of them; they follow one another" }),
    total_max_cost_wei: weiSchema,
    total_max_cost_usd: usdSchema,
    monthly_saving_usd: usdSchema.openapi({
      description:
        "Of all costly habits together, at most; null where it was not looked into, or has no price",
    }),
    rehearsed: z.boolean().nullable().openapi({
      description:
        "Whether all transactions were also simulated one after the other, and pass so; false where the node cannot tell, null where there is none",
    }),
    not_retried: z
      .array(refusedRetrySchema)
      .openapi({ description: "Failures that are not offered, newest first" }),
    monitoring: monitoringSchema
      .nullable()
      .openapi({ description: "30 days of webhooks; null without webhook_url" }),
  })
  .openapi("Protection");

export type ProtectAnswer = z.infer<typeof protectSchema>;
