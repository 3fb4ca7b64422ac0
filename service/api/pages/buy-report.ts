import { hash } from "node:crypto";
import type { Address } from "viem";
import { z } from "zod";
import { hashApiKey } from "../../access/api-keys.ts";
import type { ApiContext } from "../kit/api-env.ts";
import { toEip55 } from "../schemas/values.ts";
import { askInterface, jsonIn, readForm, readRefusal } from "./ask-interface.ts";
import type { PageRuntime } from "./page.ts";
import type { Funds, PagePorts, ReportState } from "./page-ports.ts";
import type { SoldReport } from "./reports/sold-reports.ts";

type Buyer = { readonly address: Address; readonly key: string; readonly report: SoldReport };

const UNDER_WAY = "The first request is still being answered.";
const keySchema = z.object({ balance_usd: z.number().nullable() });

/** Returns a report about a wallet if the key bought it and it is still stored, else an offer. Charges nothing. */
export async function readReport(
  context: ApiContext,
  runtime: PageRuntime,
  buyer: Buyer,
): Promise<ReportState> {
  const now = runtime.clock.now();
  const offer = newOffer(now);
  const stored = await storedReport(runtime.ports, buyer, { now, offer });
  if (stored !== null) return stored;
  const [funds, preview] = await Promise.all([
    fundsOf(context, runtime, buyer.key),
    readPreview(context, runtime, buyer),
  ]);
  return { kind: "offer", offer, funds, preview };
}

/**
 * Buys a report about a wallet by its endpoint with the visitor's key, unless the key has it. Repeated forms charge once until the
 * purchase is a day old.
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
    method: buyer.report.endpoint.method === "get" ? "GET" : "POST",
    path: pathOf(buyer),
    key: buyer.key,
    headers: { "idempotency-key": purchaseKey(buyer, shown) },
  });
  if (!answer.ok) {
    const { status } = answer;
    // These statuses prove that nothing was charged, and that nothing under way will be.
    const isUncharged = status >= 400 && status < 500 && status !== 409;
    const { words } = await readRefusal(answer);
    return { kind: isUncharged ? "refused" : "pending", status, reason: words, offer };
  }
  const body = await answer.text();
  const report = reportIn(body, buyer);
  if (report === null) throw new Error(`expected a report of ${buyer.address}, got another answer`);
  const isFree = freeSchema.safeParse(jsonIn(body)).success;
  return { ...report, paid: isFree ? { kind: "free" } : await fundsOf(context, runtime, buyer.key) };
}

/** A report that found nothing to do is not charged. */
const freeSchema = z.object({ charged: z.literal(false) });

const previewSchema = z.object({ summary: z.string() });

/** The endpoint's free preview in one sentence; null without one. */
async function readPreview(context: ApiContext, runtime: PageRuntime, buyer: Buyer): Promise<string | null> {
  const { endpoint } = buyer.report;
  if (endpoint.answer.preview === undefined) return null;
  const answer = await askInterface(context, runtime, {
    method: endpoint.method === "get" ? "GET" : "POST",
    path: `${endpoint.path.replace("{address}", toEip55(buyer.address))}?preview=true`,
    key: null,
  });
  const { data } = previewSchema.safeParse(answer.ok ? await answer.json() : null);
  return data?.summary ?? null;
}

function pathOf({ address, report: { endpoint, query } }: Buyer): string {
  return `${endpoint.path.replace("{address}", toEip55(address))}${query === undefined ? "" : `?${query}`}`;
}

const someAnswerSchema = z.object({ address: z.string() });

/**
 * Shows a stored answer. An answer that was stored before an upgrade may not have today's shape. Returns null for any other
 * answer: the holder of the key may have used the same Idempotency-Key for something else.
 */
function reportIn(body: string, { address, report }: Buyer) {
  const shown = report.show(body, address);
  if (shown !== null) return { kind: "bought", shown, body } as const;
  const { data } = someAnswerSchema.safeParse(jsonIn(body));
  return data?.address.toLowerCase() === address ? ({ kind: "outdated", body } as const) : null;
}

/** Returns the report that was bought, or the purchase under way; null without either. */
async function storedReport(
  { storedPurchase }: Pick<PagePorts, "storedPurchase">,
  buyer: Buyer,
  { now, offer }: { now: Date; offer: string },
): Promise<ReportState | null> {
  const stored = await storedPurchase({
    apiKeyHash: hashApiKey(buyer.key),
    keyHashes: purchaseHashes(buyer, now),
    now,
  });
  switch (stored.kind) {
    case "none":
      return null;
    case "running":
      return { kind: "pending", status: 409, reason: UNDER_WAY, offer };
    case "answered": {
      const report = reportIn(stored.body, buyer);
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

type Purchase = { readonly address: Address; readonly report: Pick<SoldReport, "slug"> };

/**
 * The Idempotency-Key of all forms that sell a report about a wallet on a UTC day. It is no secret, because it is scoped to the API
 * key of the request.
 */
export function purchaseKey({ address, report }: Purchase, at: Date): string {
  return `page-${report.slug}-${address.toLowerCase()}-${at.toISOString().slice(0, 10)}`;
}

/**
 * Hashes of the keys of all stored purchases of a report. A form works until the end of the next day, its answer is stored for
 * another day, and a server with a fast clock may be one day ahead.
 */
export function purchaseHashes(purchase: Purchase, now: Date): readonly string[] {
  const moments = [SKEW_MS, 0, -DAY_MS, -2 * DAY_MS].map((shift) => new Date(now.getTime() + shift));
  const keys = new Set(moments.map((at) => purchaseKey(purchase, at)));
  return [...keys].map((key) => hash("sha256", key, "hex"));
}
