import { hash } from "node:crypto";
import type { Address } from "viem";
import { z } from "zod";
import { hashApiKey } from "../../access/api-keys.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { ahsRecordSchema } from "../schemas/ahs-record.ts";
import { toEip55 } from "../schemas/values.ts";
import { askInterface, jsonIn, readForm, readRefusal } from "./ask-interface.ts";
import type { PageRuntime } from "./page.ts";
import type { Funds, PagePorts, ReportState } from "./page-ports.ts";

type Buyer = { readonly address: Address; readonly key: string };

const PARTS = "include=features,history";
const UNDER_WAY = "The first request is still being answered.";
const keySchema = z.object({ balance_usd: z.number().nullable() });

/** Returns a wallet's report if the key bought it and it is still stored, else an offer. Charges nothing. */
export async function readReport(
  context: ApiContext,
  runtime: PageRuntime,
  buyer: Buyer,
): Promise<ReportState> {
  const now = runtime.clock.now();
  const offer = newOffer(now);
  const stored = await storedReport(runtime.ports, buyer, { now, offer });
  return stored ?? { kind: "offer", offer, funds: await fundsOf(context, runtime, buyer.key) };
}

/**
 * Buys features and history of a wallet by GET /ahs with the visitor's key, unless the key has them. Repeated forms charge once
 * until the purchase is a day old.
 */
export async function buyReport(
  context: ApiContext,
  runtime: PageRuntime,
  buyer: Buyer,
): Promise<ReportState> {
  const now = runtime.clock.now();
  const given = (await readForm(context)).get("offer") ?? "";
  const shown = openOffer(given, now);
  const offer = shown === null ? newOffer(now) : given;
  const stored = await storedReport(runtime.ports, buyer, { now, offer });
  if (stored !== null) return stored;
  if (shown === null) {
    const reason = "This form is too old to be sent again. Here is a new one.";
    return { kind: "refused", status: 400, reason, offer };
  }
  const answer = await askInterface(context, runtime, {
    method: "GET",
    path: `/ahs/${toEip55(buyer.address)}?${PARTS}`,
    key: buyer.key,
    headers: { "idempotency-key": purchaseKey(buyer.address, shown) },
  });
  if (!answer.ok) {
    const { status } = answer;
    // These statuses prove that nothing was charged, and that nothing under way will be.
    const isUncharged = status >= 400 && status < 500 && status !== 409;
    const { words } = await readRefusal(answer);
    return { kind: isUncharged ? "refused" : "pending", status, reason: words, offer };
  }
  const report = reportIn(await answer.text(), buyer.address);
  if (report === null) throw new Error(`expected a report of ${buyer.address}, got another answer`);
  return { ...report, paid: await fundsOf(context, runtime, buyer.key) };
}

/** Holds for the reports of all versions. */
const someReportSchema = z.object({
  address: z.string(),
  features: z.array(z.unknown()),
  history: z.array(z.unknown()),
});

/**
 * Reads the JSON of a wallet's report. An answer that was stored before an upgrade may not have today's shape. Returns null
 * for any other answer: the holder of the key may have used the same Idempotency-Key for something else.
 */
function reportIn(json: string, address: Address) {
  const isOf = (data: { address: string } | undefined) => data?.address.toLowerCase() === address;
  const body = jsonIn(json);
  const { data: record } = ahsRecordSchema.safeParse(body);
  if (record !== undefined && isOf(record)) return { kind: "bought", record } as const;
  return isOf(someReportSchema.safeParse(body).data) ? ({ kind: "outdated", json } as const) : null;
}

/** Returns the report that was bought, or the purchase under way; null without either. */
async function storedReport(
  { keptPurchase }: Pick<PagePorts, "keptPurchase">,
  { address, key }: Buyer,
  { now, offer }: { now: Date; offer: string },
): Promise<ReportState | null> {
  const stored = await keptPurchase({
    apiKeyHash: hashApiKey(key),
    keyHashes: purchaseHashes(address, now),
    now,
  });
  switch (stored.kind) {
    case "none":
      return null;
    case "running":
      return { kind: "pending", status: 409, reason: UNDER_WAY, offer };
    case "answered": {
      const report = reportIn(stored.body, address);
      return report === null ? null : { ...report, paid: { kind: "before", until: stored.until } };
    }
  }
}

async function fundsOf(context: ApiContext, runtime: PageRuntime, key: string): Promise<Funds> {
  const answer = await askInterface(context, runtime, { method: "GET", path: "/keys/self", key });
  const { data } = keySchema.safeParse(answer.ok ? await answer.json() : null);
  if (data === undefined) return { kind: "unknown" };
  return data.balance_usd === null ? { kind: "unlimited" } : { kind: "left", usd: data.balance_usd };
}

const DAY_MS = 86_400_000;
/** An answer is stored for 24 hours; what a form this much younger bought is still known of. */
const VALID_MS = 23 * 3_600_000;
/** How far the clocks of two servers may be apart. */
const SKEW_MS = 60_000;
const FORM = /^page-([0-9]{1,15})$/;

/** Returns the offer in a form that sells something: the moment at which the page showed it. */
export function newOffer(now: Date): string {
  return `page-${now.getTime()}`;
}

/** When a form was rendered; null for a forged form, and for one too old to recognize its repeats. */
function openOffer(offer: string, now: Date): Date | null {
  const shown = FORM.exec(offer)?.[1];
  if (shown === undefined) return null;
  const age = now.getTime() - Number(shown);
  return age >= -SKEW_MS && age < VALID_MS ? new Date(Number(shown)) : null;
}

/**
 * The Idempotency-Key of all forms that sell a wallet's report on a UTC day. It is no secret, because it is scoped to the API
 * key of the request.
 */
export function purchaseKey(wallet: Address, at: Date): string {
  return `page-report-${wallet.toLowerCase()}-${at.toISOString().slice(0, 10)}`;
}

/**
 * Hashes of the keys of all stored purchases of a report. A form works until the end of the next day, its answer is stored for
 * another day, and a server with a fast clock may be one day ahead.
 */
export function purchaseHashes(wallet: Address, now: Date): readonly string[] {
  const moments = [SKEW_MS, 0, -DAY_MS, -2 * DAY_MS].map((shift) => new Date(now.getTime() + shift));
  const keys = new Set(moments.map((at) => purchaseKey(wallet, at)));
  return [...keys].map((key) => hash("sha256", key, "hex"));
}
