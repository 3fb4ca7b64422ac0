import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { decodePaymentResponseHeader, x402HTTPClient } from "@x402/fetch";
import type { Hex } from "viem";
import type { Faults } from "../faults.ts";
import type { Ask, Asked } from "../load/ask.ts";
import { type Lane, type Operation, startLane } from "../load/lane.ts";
import { settlementOf } from "../load/purchases.ts";
import type { Random } from "../random.ts";
import { type EdgeBuyer, type EdgeRequest, termsOf } from "./edge-buyers.ts";

/** One purchase, presented until it is answered, or broken off. */
export type EdgePurchase = Operation & {
  readonly idempotencyKey: string;
  request: EdgeRequest | null;
  payload: Awaited<ReturnType<EdgeBuyer["client"]["createPaymentPayload"]>> | null;
  claim: string | null;
  /** free: refused without a payment. */
  outcome: "open" | "answered" | "free" | "cut";
  /** USDC units that the answer says were taken. */
  charged: bigint | null;
  /** The settlement that the answer named: two purchases of one request may share it. */
  settledBy: Hex | null;
};

const PACE_MS = 2_500;
const LONGEST_CUT_MS = 600;
const REFUSED_PAYMENT_WAIT_MS = 1_000;

/** Has one buyer purchase on and on. */
export function startEdgePurchases(
  buyer: EdgeBuyer,
  {
    ask,
    servers,
    random,
    faults,
  }: { ask: Ask; servers: () => readonly string[]; random: Random; faults: Faults },
): Lane<EdgePurchase> {
  const http = new x402HTTPClient(buyer.client);
  const headersOf = ({ request, payload, claim, idempotencyKey }: EdgePurchase): Record<string, string> => ({
    ...(request?.body === null ? {} : { "content-type": "application/json" }),
    ...(payload === null ? {} : { "idempotency-key": idempotencyKey }),
    ...(claim !== null
      ? { "x-payment-claim": claim }
      : payload === null
        ? {}
        : http.encodePaymentSignatureHeader(payload)),
  });
  const answer = async (purchase: EdgePurchase, { headers }: Extract<Asked, { kind: "answered" }>) => {
    const report = headers.get("payment-response");
    // An output that is there already has its verdict for nothing, also from its payer.
    const mayLackReport = buyer.scheme === "auth-capture";
    if (purchase.payload !== null && report === null && !mayLackReport)
      faults.note("no PAYMENT-RESPONSE", purchase.request?.path ?? "");
    if (purchase.payload !== null)
      await http.processPaymentResult(purchase.payload, (name) => headers.get(name), 200);
    purchase.outcome = "answered";
    purchase.charged = chargedBy(purchase, report);
    purchase.settledBy = settlementOf(headers);
    purchase.doneAt = performance.now();
    return null;
  };
  return startLane<EdgePurchase>({
    name: buyer.name,
    pace: { everyMs: PACE_MS, atOnce: buyer.atOnce },
    oneByOne: buyer.atOnce === 1,
    begin: () => ({
      startedAt: performance.now(),
      doneAt: null,
      idempotencyKey: randomUUID(),
      request: null,
      payload: null,
      claim: null,
      outcome: "open",
      charged: null,
      settledBy: null,
    }),
    attempt: async (purchase) => {
      purchase.request ??= await buyer.request();
      if (purchase.payload !== null && buyer.cuts)
        return cutOff(purchase, headersOf(purchase), { servers, random });
      const asked = await ask({ ...purchase.request, headers: headersOf(purchase) });
      switch (asked.kind) {
        case "again":
          purchase.claim = asked.claim ?? purchase.claim;
          return asked.waitMs;
        case "answered":
          return answer(purchase, asked);
        case "refused":
          if (purchase.payload !== null)
            faults.note(`${asked.status} after a payment`, `${purchase.request.path}: ${asked.body}`);
          purchase.outcome = "free";
          purchase.doneAt = performance.now();
          return null;
        case "unpaid":
          if (purchase.payload === null) {
            purchase.payload = await buyer.client.createPaymentPayload(termsOf(asked.body));
            return 0;
          }
          if (purchase.claim !== null) {
            // The payment itself says more than a claim that is unknown by now.
            purchase.claim = null;
            return 0;
          }
          faults.note("402 to a payment that is good", `${buyer.name}: ${termsOf(asked.body).error}`);
          return REFUSED_PAYMENT_WAIT_MS;
      }
    },
  });
}

/** Sends the payment and hangs up somewhere in the work. */
async function cutOff(
  purchase: EdgePurchase,
  headers: Readonly<Record<string, string>>,
  { servers, random }: { servers: () => readonly string[]; random: Random },
): Promise<null> {
  const [server] = servers();
  const hangUp = new AbortController();
  const { method, path, body } = purchase.request ?? { method: "GET", path: "/", body: null };
  const asking = fetch(`${server}${path}`, { method, headers, body, signal: hangUp.signal }).catch(
    () => null,
  );
  await sleep(random() * LONGEST_CUT_MS);
  hangUp.abort();
  await asking;
  purchase.outcome = "cut";
  purchase.doneAt = performance.now();
  return null;
}

/** Amount that was taken: as the answer reports it for `upto`, else the price. */
function chargedBy({ payload }: EdgePurchase, report: string | null): bigint {
  if (payload === null) return 0n;
  const { scheme, amount } = payload.accepted;
  if (scheme !== "upto") return BigInt(amount);
  const settled = report === null ? {} : (decodePaymentResponseHeader(report) as { amount?: string });
  return BigInt(settled.amount ?? amount);
}
