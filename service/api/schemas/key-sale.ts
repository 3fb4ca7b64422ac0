import { z } from "@hono/zod-openapi";
import type { Caller, PayerCaller } from "../../access/access.ts";
import type { ApiKey } from "../../access/api-keys.ts";
import { creditIdOf as creditOf } from "../../access/payments/payments.ts";

import { fieldsOf, isoSchema, num, text } from "./values.ts";

const UNITS_PER_USD = 1_000;
const MAX_CREDITS_USD = 10_000;

/** The body that buys credits. */
export const creditsBodySchema = z
  .object({
    credits_usd: z.number().min(1).max(MAX_CREDITS_USD).multipleOf(0.01).openapi({
      description: "Credits to buy, in US dollars and whole cents; they cost as much",
      example: 25,
    }),
  })
  .openapi("CreditsInput");

/** A secret that only the first answer carries. */
export const secretSchema = z
  .string()
  .nullable()
  .openapi({
    description:
      "The key itself, for the header X-API-Key. Shown in this answer only: a repeat of the request shows null, and POST /keys/rotate makes another",
    example: `ahs_Zk3vQ9aB${"x".repeat(35)}`,
  });

/** Members of a key in answers. */
export const keyShape = {
  key_id: z.uuid(),
  key_prefix: text("First characters of the key, which identify it in lists", "ahs_Zk3vQ9aB"),
  name: z.string().openapi({ example: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc" }),
  balance_usd: num("Null: unlimited", 25).nullable(),
  rate_per_minute: z
    .int()
    .positive()
    .openapi({ description: "Calls that the key may make in a minute", example: 600 }),
  expires_at: isoSchema.nullable().openapi({ description: "Null: never", example: null }),
} as const;

/** A key in the form of answers. */
export function renderKey(key: ApiKey): z.infer<z.ZodObject<typeof keyShape>> {
  return {
    ...fieldsOf(keyShape, key),
    key_id: key.id,
    balance_usd: key.balanceUnits === null ? null : usdOf(key.balanceUnits),
  };
}

/** The credits of a body in thousandths of a US dollar, which is also their price. */
export function unitsOf(body: z.infer<typeof creditsBodySchema> | null): number {
  if (body === null) throw new Error("a body was checked and is absent");
  return Math.round(body.credits_usd * UNITS_PER_USD);
}

export function usdOf(units: number): number {
  return units / UNITS_PER_USD;
}

/** The paying wallet; access admits no other caller to endpoints that a key cannot pay. */
export function buyerOf(caller: Caller): PayerCaller {
  if (caller.kind !== "payer") throw new Error(`credits are bought by a payer, not by ${caller.kind}`);
  return caller;
}

/** The id of the credit of a payment. */
export function creditIdOf({ payment }: PayerCaller): string {
  return creditOf({ network: payment.requirements.network, ...payment });
}
