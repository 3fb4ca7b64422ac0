import { z } from "@hono/zod-openapi";
import { eip55Schema } from "../address-schema.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import { reportScopeShape } from "../wallet-report.ts";
import {
  approvalsShape,
  moneySchema,
  portfolioSchema,
  pricesSchema,
  recommendationSchema,
} from "./get-health-parts.ts";

const shareSchema = z.number().min(0).max(1).nullable().openapi({ description: "0 to 1; null of nothing" });
const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);

const seenSchema = z
  .object({ block: z.int(), time: isoSchema, tx_hash: hashSchema })
  .nullable()
  .openapi({ description: "Null where no own call is known" });

const causeSchema = z.object({ failures: z.int(), wasted: moneySchema });

const failureSchema = z
  .object({
    contract: eip55Schema
      .nullable()
      .openapi({ description: "Null for contract creations and unknown targets" }),
    selector: z.string().nullable().openapi({ description: "Null for plain transfers" }),
    method: z.string().nullable().openapi({ description: "What the selector usually stands for" }),
    cause: z.enum(["out_of_gas", "reverted"]),
    failures: z.int(),
    attempts: z.int(),
    wasted: moneySchema,
    first_at: isoSchema,
    last_at: isoSchema,
    last_tx_hash: hashSchema,
    longest_run: z.int().openapi({ description: "Most failures of this contract and method in a row" }),
    succeeded_since: z.boolean(),
  })
  .openapi("FailureGroup");

/** The answer of GET /health/{address}. */
export const healthSchema = z
  .object({
    address: eip55Schema,
    account: z.object({
      kind: z.enum(["eoa", "delegated_eoa", "smart_account", "unknown"]),
      is_contract: z
        .boolean()
        .nullable()
        .openapi({ description: "Whether it has code, a delegation included; null where nobody knows" }),
      delegates_to: eip55Schema.nullable(),
      note: z.string().nullable(),
    }),
    ...reportScopeShape,
    totals: z.object({
      calls: z.int(),
      successes: z.int(),
      failures: z.int(),
      success_rate: shareSchema,
      unread_receipts: z.int().openapi({
        description:
          "Calls whose receipts were not read: what they did is not known, nor what a rollup charged for posting them",
      }),
    }),
    first_seen: seenSchema,
    last_seen: seenSchema,
    gas: z.object({
      spent: moneySchema,
      wasted: moneySchema.openapi({ description: "Fees of failed calls" }),
      wasted_share: shareSchema,
      spent_per_month: moneySchema,
      wasted_per_month: moneySchema,
      month_basis: z.string(),
    }),
    failures: z.object({
      out_of_gas: causeSchema,
      reverted: causeSchema,
      revert_reasons: z.null().openapi({ description: "Not stored: receipts do not hold them" }),
      note: z.string(),
      by_method: z.array(failureSchema).openapi({ description: "The dearest first, at most 200" }),
      left_out: z.int(),
    }),
    activity_by_week: z.array(
      z.object({
        week: z.iso.date().openapi({ description: "Its Monday, UTC" }),
        calls: z.int(),
        failures: z.int(),
        spent: moneySchema,
      }),
    ),
    portfolio: portfolioSchema,
    ...approvalsShape,
    recommendations: z
      .array(recommendationSchema)
      .openapi({ description: "The largest saving first, then what is about safety; at most 100" }),
    prices: pricesSchema,
  })
  .openapi("HealthReport");

export type HealthAnswer = z.infer<typeof healthSchema>;
