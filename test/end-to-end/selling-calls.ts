import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import {
  extractReceiptFromResponse,
  type JWSSignedReceipt,
  verifyReceiptSignatureJWS,
} from "@x402/extensions/offer-receipt";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402HTTPClient } from "@x402/fetch";
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import {
  AGENT,
  buyer,
  createChannelBuyer,
  jsonRequest,
  payer,
  payFetch,
  permit2Buyers,
  type Shop,
  UNKNOWN,
} from "./shop.ts";

const ROUTE = `/ahs/route/${AGENT}`;
/** One wallet that the service knows, and one that it does not. */
const BATCH = jsonRequest("POST", { addresses: [AGENT, UNKNOWN] });

/** Declares tests of calls that are paid for one by one. */
export function describeSoldCalls({ kit, url, pay, ...shop }: Shop): void {
  test.each([
    ["/ahs/route", ROUTE, {}, 10_000n],
    ["/ahs", `/ahs/${AGENT}`, {}, 1_000_000n],
    ["/ahs/batch, settled first", "/ahs/batch", jsonRequest("POST", { addresses: [AGENT] }), 1_000_000n],
  ])("%s: the official client gets its answer and the money arrives", async (_name, path, init, price) => {
    const before = await kit.received();
    const response = await payFetch(url(path), init);
    expect(response.status, await response.text()).toBe(200);
    const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
    expect(report).toMatchObject({ success: true, network: "eip155:31337" });
    expect((await kit.received()) - before).toBe(price);
    // The official check asks the server for its DID document.
    const receipt = extractReceiptFromResponse(response) as JWSSignedReceipt;
    expect(await verifyReceiptSignatureJWS(receipt)).toMatchObject({
      resourceUrl: url(path),
      payer: payer.address.toLowerCase(),
      transaction: report.transaction,
    });
  });

  test.each([
    ["/ahs/route by Permit2", "exact", ROUTE, {}, 10_000n],
    ["/ahs/batch, by its scores", "upto", "/ahs/batch", BATCH, null],
  ] as const)(
    "%s: the official client gets its answer and the money arrives",
    async (_name, scheme, path, init, price) => {
      const before = await kit.received();
      const response = await wrapFetchWithPayment(fetch, permit2Buyers[scheme])(url(path), init);
      const body = (await response.json()) as { results?: readonly { ahs_score: number | null }[] };
      expect([response.status, body]).toMatchObject([200, {}]);
      const scored = body.results?.filter(({ ahs_score }) => ahs_score !== null).length ?? 0;
      const due = price ?? (scored === 0 ? 10_000n : BigInt(scored) * 1_000_000n);
      expect((await kit.received()) - before).toBe(due);
      const report = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
      expect(report).toMatchObject({ success: true, amount: String(due) });
    },
  );

  test("twenty requests with one authorization make one charge", async () => {
    const before = await kit.received();
    const headers = await pay(ROUTE);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url(ROUTE), { headers })));
    const statuses = answers.map(({ status }) => status);
    const refused = statuses.filter((status) => status !== 200);
    expect(refused).toHaveLength(19);
    expect(refused.every((status) => status === 409 || status === 402)).toBe(true);
    expect((await kit.received()) - before).toBe(10_000n);
  });

  test("nothing is charged for what is refused", async () => {
    const before = await kit.received();
    const unpaid = (await (await fetch(url(`/ahs/${AGENT}`))).json()) as PaymentRequired;
    const payload = await buyer.createPaymentPayload(unpaid);
    // Of the same price, for a wallet that the payer names.
    const named: PaymentPayload = { ...payload, resource: { url: url(`/ahs/${UNKNOWN}`) } };
    const unknown = await fetch(url(`/ahs/${UNKNOWN}`), {
      headers: new x402HTTPClient(buyer).encodePaymentSignatureHeader(named),
    });
    const malformed = await fetch(url("/ahs/0x12"), { headers: await pay(`/ahs/${AGENT}`) });
    expect([unknown.status, malformed.status]).toEqual([404, 422]);
    expect(await kit.received()).toBe(before);
  });

  test.each([
    ["exact", ROUTE, {}, buyer, { address: AGENT }],
    ["upto", "/ahs/batch", BATCH, permit2Buyers.upto, { count: 1 }],
  ] as const)(
    "a server killed in the middle of a settlement by %s costs one charge, and the payer gets its answer",
    async (scheme, path, init, client, expected) => {
      const before = await kit.received();
      const own = {
        ...(await pay(path, init, client)),
        "idempotency-key": `crash-${scheme}-0123456789abcdef`,
      };
      const request = { ...init, headers: { ...("headers" in init ? init.headers : {}), ...own } };
      await shop.killWhileSettling(path, request);
      await shop.reopen();
      // Some seconds after its transfer was mined the payment is owed, and the key of the request that died is free.
      expect(await untilPaid(request.headers, path, init)).toMatchObject(expected);
      const { rows } = await kit.db.$client.query<{ readonly amount: string }>(
        "select charged_amount as amount from ahs.payment order by created_at desc limit 1",
      );
      expect(String((await kit.received()) - before)).toBe(rows[0]?.amount);
    },
  );

  test("by one deposit the official client pays many calls, of which a killed server loses and doubles none", async () => {
    const before = await kit.received();
    const buying = createChannelBuyer();
    const client = new x402HTTPClient(buying);
    const payByVoucher = wrapFetchWithPayment(fetch, client);
    for (const path of [ROUTE, ROUTE, `/risk/${AGENT}`]) {
      const response = await payByVoucher(url(path));
      expect(response.status, await response.text()).toBe(200);
    }
    const payload = await buying.createPaymentPayload(
      (await (await fetch(url(ROUTE))).json()) as PaymentRequired,
    );
    const headers = {
      ...client.encodePaymentSignatureHeader(payload),
      "idempotency-key": "voucher-0123456789abcdef",
    };
    await shop.killCharged(ROUTE, { headers });
    await shop.reopen();
    const repeated = await until({ what: "the repeat is answered" }, async () => {
      const response = await fetch(url(ROUTE), { headers });
      return response.status === 200 ? response : null;
    });
    await client.processPaymentResult(payload, (name) => repeated.headers.get(name), repeated.status);
    expect((await payByVoucher(url(ROUTE))).status).toBe(200);
    expect(await chargedAmounts()).toEqual(["10000", "10000", "1000", "10000", "10000"]);
    // A worker claims after half a day; the test does not wait for that.
    await kit.db.$client.query(
      "update ahs.payment_channel set look_at = now(), unclaimed_since = now() - interval '1 day'",
    );
    await until({ what: "the sum arrives" }, async () =>
      (await kit.received()) - before === 41_000n ? true : null,
    );
  });

  test("a settlement that takes too long is a 503 with a claim, which then gets the answer", async () => {
    const before = await kit.received();
    const headers = await pay(ROUTE);
    await shop.stopWorker();
    const pending = await fetch(url(ROUTE), { headers });
    const { claim } = (await pending.json()) as { claim: string };
    expect([pending.status, claim]).toEqual([503, expect.stringMatching(/^[0-9a-f]{64}$/)]);
    shop.startWorker();
    expect(await untilPaid({ "x-payment-claim": claim })).toMatchObject({ address: AGENT });
    expect((await kit.received()) - before).toBe(10_000n);
    const metrics = await (await fetch(url("/metrics"))).text();
    expect(metrics).toMatch(/^ahs_payments_total\{.*outcome="pending"} 1/m);
  });

  async function chargedAmounts(): Promise<string[]> {
    const { rows } = await kit.db.$client.query<{ readonly amount: string }>(
      "select charged_amount::text as amount from ahs.payment where scheme = 'batch-settlement' order by settled_at",
    );
    return rows.map(({ amount }) => amount);
  }

  /** The answer to the repeat of a paid request. */
  function untilPaid(
    headers: Record<string, string>,
    path = ROUTE,
    init: RequestInit = {},
  ): Promise<unknown> {
    return until({ what: "the repeat is answered" }, async () => {
      const repeated = await fetch(url(path), { ...init, headers });
      return repeated.status === 200 ? repeated.json() : null;
    });
  }
}
