import type { Address } from "viem";
import { z } from "zod";
import { toEip55 } from "../address-schema.ts";
import type { ApiContext } from "../api-env.ts";
import { type AhsRecord, ahsRecordSchema } from "../scores/ahs-record-schema.ts";
import { askInterface } from "./ask-interface.ts";
import { isOpenOffer } from "./offer.ts";
import type { PageRuntime } from "./page.ts";
import { readForm } from "./read-form.ts";

/** What came of buying what stands behind a score. */
export type BoughtReport =
  | {
      readonly kind: "bought";
      readonly record: AhsRecord;
      /** What is left on the key, in US dollars. */
      readonly balance: Balance;
    }
  | {
      /** Nothing was charged. */
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
    };

/** unknown: the key was charged, and could not be asked about afterwards. */
export type Balance =
  | { readonly kind: "left"; readonly usd: number }
  | { readonly kind: "unlimited" }
  | { readonly kind: "unknown" };

type Purchase = { readonly address: Address; readonly key: string };

const PARTS = "include=features,history";
const refusalSchema = z.object({ detail: z.string().optional(), error: z.string().optional() });
const keySchema = z.object({ balance_usd: z.number().nullable() });

/** Buys features and history of a wallet by GET /ahs with the visitor's key; the same form again is answered again, at no charge. */
export async function buyReport(
  context: ApiContext,
  runtime: PageRuntime,
  { address, key }: Purchase,
): Promise<BoughtReport> {
  const offer = (await readForm(context)).get("offer") ?? "";
  if (!isOpenOffer(offer, runtime.clock.now())) {
    return {
      kind: "refused",
      status: 400,
      reason: "This form is too old to be sent again. Here is a new one.",
    };
  }
  const answer = await askInterface(context, runtime, {
    method: "GET",
    path: `/ahs/${toEip55(address)}?${PARTS}`,
    key,
    headers: { "idempotency-key": offer },
  });
  if (!answer.ok) return { kind: "refused", status: answer.status, reason: await reasonOf(answer) };
  const record = ahsRecordSchema.parse(await answer.json());
  return { kind: "bought", record, balance: await balanceOf(context, runtime, key) };
}

async function reasonOf(answer: Response): Promise<string> {
  const { data } = refusalSchema.safeParse(await answer.json().catch(() => null));
  return data?.detail ?? data?.error ?? `The service answered ${answer.status}.`;
}

async function balanceOf(context: ApiContext, runtime: PageRuntime, key: string): Promise<Balance> {
  const answer = await askInterface(context, runtime, { method: "GET", path: "/keys/self", key });
  const { data } = keySchema.safeParse(answer.ok ? await answer.json() : null);
  if (data === undefined) return { kind: "unknown" };
  return data.balance_usd === null ? { kind: "unlimited" } : { kind: "left", usd: data.balance_usd };
}
