import { z } from "@hono/zod-openapi";
import { eip55Schema } from "../address-schema.ts";
import { reportScopeShape } from "../wallet-report.ts";
import { moneySchema, pricesSchema, recommendationSchema } from "./get-health-parts.ts";

const gasSchema = z.string().regex(/^\d+$/).nullable().openapi({ description: "Units of gas, decimal" });

const billShape = {
  calls: z.int(),
  failures: z.int(),
  spent: moneySchema,
  wasted: moneySchema.openapi({ description: "Fees of failed calls" }),
  overpaid: moneySchema.nullable().openapi({
    description:
      "Paid per gas above base fee plus median tip of the call's own block, failed calls included; null where no block tells them",
  }),
  overpaid_known_calls: z.int().openapi({ description: "Calls whose block tells base fee and median tip" }),
  saving: moneySchema.openapi({ description: "Over the window: sum of the savings" }),
  saving_per_month: moneySchema,
} as const;

const savingSchema = z
  .object({
    kind: z.enum(["simulate_first", "raise_gas_limit", "pay_market_price"]),
    calls: z.int(),
    saving: moneySchema,
    saving_per_month: moneySchema,
    arithmetic: z.object({ eth: z.string(), usd: z.string().nullable() }),
  })
  .openapi("GasSaving", {
    description: "What would have cost less, at most; the kinds share no call's fee",
  });

const methodSchema = z
  .object({
    contract: eip55Schema
      .nullable()
      .openapi({ description: "Null for contract creations and unknown targets" }),
    selector: z.string().nullable().openapi({ description: "Null for plain transfers" }),
    method: z.string().nullable().openapi({ description: "What the selector usually stands for" }),
    ...billShape,
    gas_limit: z.object({
      state: z.enum(["fits", "generous", "too_low", "unknown"]),
      samples: z.int().openapi({ description: "Successful calls, which the percentiles are of" }),
      small_sample: z.boolean().openapi({ description: "Fewer than 20: p95 is the maximum" }),
      median_limit: gasSchema,
      highest_limit: gasSchema,
      p50_used: gasSchema,
      p95_used: gasSchema,
      max_used: gasSchema,
      median_limit_over_p95_used: z.number().nullable(),
      highest_limit_that_ran_out: gasSchema,
      suggested_limit: gasSchema,
      reason: z.string(),
    }),
    savings: z.array(savingSchema),
  })
  .openapi("MethodGas");

/** The answer of GET /optimize/{address}. */
export const optimizeSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    methods: z.array(methodSchema).openapi({ description: "The largest saving first, at most 500" }),
    other_methods: z
      .object({ methods: z.int(), ...billShape })
      .nullable()
      .openapi({ description: "Sums of the methods that are left out; null where none are" }),
    totals: z
      .object({ methods: z.int(), ...billShape })
      .openapi({ description: "Exact sums of all methods, in wei" }),
    recommendations: z.array(recommendationSchema),
    method: z.object({
      percentiles: z.string(),
      suggested_limit: z.string(),
      overpaid: z.string(),
      month: z.string(),
      savings: z.string(),
    }),
    prices: pricesSchema,
  })
  .openapi("OptimizeReport");

export type OptimizeAnswer = z.infer<typeof optimizeSchema>;
