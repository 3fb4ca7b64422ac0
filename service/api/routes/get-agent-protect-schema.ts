import { z } from "@hono/zod-openapi";
import { CHECKS } from "../../reports/diagnosis/protect-checks.ts";
import { chargedSchema } from "../kit/report-preview.ts";
import { reportScopeShape } from "../kit/wallet-report.ts";
import { manageTokenSchema, subscriptionShape, webhookSecretSchema } from "../schemas/alert-subscription.ts";
import { adviceShape, usdSchema } from "../schemas/report-parts.ts";
import {
  maxCostSchema,
  nonceSchema,
  passedSimulationSchema,
  refusedRetrySchema,
  simulatedAtSchema,
  unsignedTransactionSchema,
} from "../schemas/retries.ts";
import { riskShape } from "../schemas/risk.ts";
import { count, eip55Schema, flag, hashSchema, isoSchema, text } from "../schemas/values.ts";

const stepSchema = z
  .object({
    priority: z.int().positive().openapi({ description: "1 is first" }),
    service: z.enum(["risk", "health", "wash", "optimize", "retry"]).openapi({ example: "retry" }),
    kind: z
      .enum([
        "resolve_listing",
        "leave_listed_accounts",
        "stop_failing_calls",
        "deal_with_others",
        "review_risk",
        "revoke_delegation",
        "revoke_approval",
        "retry_transaction",
        "simulate_first",
        "set_gas_limit",
        "pay_market_price",
        "clean_up",
      ])
      .openapi({ example: "retry_transaction" }),
    ...adviceShape,
    value_usd: usdSchema.openapi({
      description:
        "What is at stake: of an approval the wallet's balance of the token, of a retry what it sends; null if it has no price, and for other steps",
      example: null,
    }),
    failed_tx_hash: hashSchema
      .nullable()
      .openapi({ description: "The failed transaction that a retry repeats", example: null }),
    last_used_at: isoSchema.nullable().openapi({
      description:
        "Last possible use of the approval that the step revokes; null if none is known, and for other steps",
      example: null,
    }),
    warning: text("What the step may break").nullable().openapi({ example: null }),
    transaction: unsignedTransactionSchema
      .nullable()
      .openapi({ description: "Null where nothing can be signed for the step" }),
    simulation: passedSimulationSchema.nullable(),
    max_cost_wei: maxCostSchema.nullable(),
    not_ready_reason: text("Why a step that would have a transaction has none")
      .nullable()
      .openapi({ example: null }),
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
    summary: text(
      "The plan in two or three sentences: what can be signed, what comes first otherwise, and how many checks passed",
      "2 transactions can be signed now; tokens worth 120.00 USD are at stake. 9 of 11 checks passed.",
    ),
    charged: chargedSchema,
    risk_level: riskShape.risk_level,
    risk_score: riskShape.risk_score,
    verdict: riskShape.verdict,
    checks: z
      .array(
        z
          .object({
            name: z.enum(CHECKS),
            passed: flag("Null if the facts are not known", true).nullable(),
            found: count("Findings; null if they are not known", 0).nullable(),
            result: text("One sentence", "The wallet is on no sanctions list."),
          })
          .openapi("ProtectionCheck"),
      )
      .openapi({ description: "Everything that was checked" }),
    simulated_at: simulatedAtSchema,
    steps: z.array(stepSchema).openapi({
      description:
        "Transactions to sign in the order of their nonces, then what makes others reject the wallet or endangers its funds, then gas savings of 0.10 USD a month or more, then untidiness",
    }),
    transactions: count("Steps that can be signed now", 1),
    first_nonce: nonceSchema.openapi({ description: "Of the first of them; they follow one another" }),
    total_max_cost_wei: maxCostSchema,
    total_max_cost_usd: usdSchema.openapi({ example: 0.012027 }),
    saves_usd_per_month: usdSchema.openapi({
      description:
        "Upper bound of all gas savings together, those below 0.10 USD included; null without a price",
      example: 0.24,
    }),
    simulated_in_order: flag(
      "Whether all transactions also passed a simulation one after the other; false if the node cannot simulate that, null without transactions",
      true,
    ).nullable(),
    not_retried: z
      .array(refusedRetrySchema)
      .openapi({ description: "Failures that are not offered, newest first" }),
    monitoring: monitoringSchema
      .nullable()
      .openapi({ description: "30 days of webhooks; null without webhook_url, and if nothing was charged" }),
  })
  .openapi("Protection");

export type ProtectAnswer = z.infer<typeof protectSchema>;
