import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import type { Caller, KeyCaller, PaidRequest, PayerCaller } from "../../access/access.ts";
import type { ApiKey, KeyWithSecret, RotationRight, Spending } from "../../access/api-keys.ts";
import { creditIdOf as creditOf } from "../../access/payments/payments.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";

/** What sells, tops up, renews and shows API keys. */
export type KeyPorts = {
  readonly keys: {
    /** The key of X-API-Key; null without the header; throws the 401 of one that is no good. */
    identify(request: Pick<PaidRequest, "header">): Promise<KeyCaller | null>;
    /** The same for a free call, which counts against the key's rate: throws a 429 as well. */
    enter(request: Pick<PaidRequest, "header">): Promise<KeyCaller | null>;
    /** The key that a payment bought: one for one creditId, each time with a new secret. */
    buy(purchase: {
      readonly creditId: string;
      readonly name: string;
      readonly boughtBy: Address;
      readonly units: number;
      readonly now: Date;
    }): Promise<KeyWithSecret>;
    /** Credits a key, once for one creditId; null where the key is no longer live. */
    topUp(topUp: {
      readonly creditId: string;
      readonly keyId: string;
      readonly units: number;
      readonly now: Date;
    }): Promise<ApiKey | null>;
    /** Null where nobody has that right any more. */
    rotate(right: RotationRight, now: Date): Promise<KeyWithSecret | null>;
    find(id: string): Promise<ApiKey | null>;
    /** Ids of live keys, newest first. */
    boughtBy(wallet: Address, now: Date): Promise<readonly string[]>;
    spending(keyId: string, since: Date): Promise<readonly Spending[]>;
  };
};

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
    example: `ahs_${"x".repeat(43)}`,
  });

/** Members by which answers name a key. */
export const keyShape = {
  key_id: z.uuid(),
  key_prefix: z.string().openapi({ description: "First characters of the key, by which to tell keys apart" }),
  name: z.string(),
  balance_usd: z.number().nullable().openapi({ description: "Null: unlimited" }),
  rate_per_minute: z.int().positive().openapi({ description: "Calls that the key may make in a minute" }),
  expires_at: isoSchema.nullable().openapi({ description: "Null: never" }),
} as const;

const keySchema = z.object(keyShape);

/** A key as answers name it. */
export function renderKey(key: ApiKey): z.infer<typeof keySchema> {
  return {
    key_id: key.id,
    key_prefix: key.keyPrefix,
    name: key.name,
    balance_usd: key.balanceUnits === null ? null : usdOf(key.balanceUnits),
    rate_per_minute: key.ratePerMinute,
    expires_at: key.expiresAt?.toISOString() ?? null,
  };
}

/** What answers have as an example. */
export const KEY_EXAMPLE = {
  key_id: "7f8d3c1e-5b1a-8c60-9b39-0d9e4a7a2f10",
  key_prefix: "ahs_Zk3vQ9aB",
  name: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  balance_usd: 25,
  rate_per_minute: 600,
  expires_at: null,
};

/** Thousandths of a US dollar that a body's credits cost, and are. */
export function unitsOf(body: z.infer<typeof creditsBodySchema> | null): number {
  if (body === null) throw new Error("a body was checked and is absent");
  return Math.round(body.credits_usd * UNITS_PER_USD);
}

/** The other way round. */
export function usdOf(units: number): number {
  return units / UNITS_PER_USD;
}

/** Who pays for credits; access lets nobody else through where a key is no way to pay. */
export function buyerOf(caller: Caller): PayerCaller {
  if (caller.kind !== "payer") throw new Error(`credits are bought by a payer, not by ${caller.kind}`);
  return caller;
}

/** The id of what a caller's payment credits. */
export function creditIdOf({ payment }: PayerCaller): string {
  return creditOf({ network: payment.requirements.network, ...payment });
}
