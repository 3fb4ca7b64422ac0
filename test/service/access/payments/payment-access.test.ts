import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { beforeEach, describe, expect, it } from "vitest";
import { useDatabase } from "../../../support/test-database.ts";
import { KEY } from "../../api/fake-ports.ts";
import { LISTING, PAYEE, type PaymentWorld, paid, paymentWorld, SETTLED, USDC } from "../payment-world.ts";

const db = useDatabase();
let world: PaymentWorld;

beforeEach(async () => {
  await db.$client.query("truncate ahs.payment");
  world = paymentWorld(db);
});

const CHEAP = "/cheap/1";
const DEAR = "/dear/1";

async function states(): Promise<string[]> {
  return (await world.rows()).map(({ state }) => state);
}

async function errorOf(response: Response): Promise<string> {
  return ((await response.json()) as PaymentRequired).error ?? "";
}

describe("an unpaid request", () => {
  it("gets the price in a header and, the same, in the body", async () => {
    const response = await world.request(CHEAP);
    const body = await response.json();
    expect(response.status).toBe(402);
    expect(body).toEqual({
      x402Version: 2,
      error: expect.stringMatching(/^GET .cheap.{id} costs 0.01 USD. .*X-API-Key.*POST .keys.*x402/),
      resource: {
        url: "http://shop.example/cheap/1",
        description: "Sells a thing",
        mimeType: "application/json",
        serviceName: LISTING.serviceName,
        tags: LISTING.tags,
      },
      accepts: [
        {
          scheme: "exact",
          network: "eip155:31337",
          asset: USDC,
          amount: "10000",
          payTo: PAYEE,
          maxTimeoutSeconds: 300,
          extra: { name: "USD Coin", version: "2" },
        },
      ],
      extensions: {
        "payment-identifier": expect.anything(),
        bazaar: {
          ...LISTING.bazaar,
          info: { input: { type: "http", method: "GET", pathParams: { id: "1" } } },
        },
      },
    });
    const header = Buffer.from(response.headers.get("payment-required") ?? "", "base64").toString();
    expect(JSON.parse(header)).toEqual(body);
  });

  it("gets advice for official clients above 1 USD", async () => {
    expect((await world.terms(DEAR)).error).toContain("setSpendControls");
    expect((await world.terms(CHEAP)).error).not.toContain("setSpendControls");
  });
});

describe("a payment", () => {
  it("is settled under our own listing, and stored without it, whatever the client sends back", async () => {
    const { extensions, ...payload } = await world.sign(`${CHEAP}?secret=1`);
    const forged = { ...payload, extensions: { ...extensions, bazaar: { info: "forged" }, more: 1 } };
    await world.request(`${CHEAP}?secret=1`, paid(forged));
    const [settled] = world.desk.settled;
    const { info, ...declaration } = LISTING.bazaar;
    const identifier = { "payment-identifier": extensions?.["payment-identifier"] };
    expect(settled?.payload.extensions).toEqual(identifier);
    expect(settled?.listed).toEqual({
      resource: {
        url: `http://shop.example${CHEAP}`,
        description: "Sells a thing",
        mimeType: "application/json",
        serviceName: LISTING.serviceName,
        tags: LISTING.tags,
      },
      extensions: {
        bazaar: { ...declaration, info: { input: { ...info.input, pathParams: { id: "1" } } } },
      },
    });
    const { rows } = await db.$client.query("select payload from ahs.payment");
    expect(rows).toMatchObject([{ payload: { extensions: identifier } }]);
  });

  it("that is good buys the answer, and the answer reports the settlement", async () => {
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect([response.status, await response.json()]).toEqual([200, { id: "1", number: 1 }]);
    const report = Buffer.from(response.headers.get("payment-response") ?? "", "base64").toString();
    expect(response.headers.get("x-charged-usd")).toBe("0.010");
    expect(JSON.parse(report)).toEqual({
      success: true,
      transaction: SETTLED,
      network: "eip155:31337",
      payer: world.account.address.toLowerCase(),
      amount: "10000",
    });
    expect(await states()).toEqual(["answered"]);
  });

  it.each([
    ["is no base64", "{}"],
    ["is no JSON", Buffer.from("hello").toString("base64")],
    ["is of version 1", Buffer.from('{"x402Version":1}').toString("base64")],
    ["is an array", Buffer.from("[]").toString("base64")],
    ["holds what is no text", Buffer.from('{"x402Version":2,"extensions":{"\\u0000":1}}').toString("base64")],
    [
      "holds half a character",
      Buffer.from('{"x402Version":2,"extensions":{"a":"\\ud800"}}').toString("base64"),
    ],
    ["is nested without end", Buffer.from("[".repeat(6_000)).toString("base64")],
    ["is longer than 12 KiB", "A".repeat(12_289)],
  ])("that %s is a 400", async (_name, header) => {
    const response = await world.request(CHEAP, { "payment-signature": header });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { type: "/docs#problem-payment-malformed", detail: expect.stringContaining("PAYMENT-SIGNATURE") },
    ]);
    expect(await states()).toEqual([]);
  });

  it.each<[string, (payload: PaymentPayload) => unknown]>([
    ["a short nonce", (payload) => changed(payload, { nonce: "0x12" })],
    ["a negative value", (payload) => changed(payload, { value: "-1" })],
    ["a payer that is no address", (payload) => changed(payload, { from: "0x12" })],
  ])("with %s is a 400", async (_name, change) => {
    const response = await world.request(CHEAP, paid(change(await world.sign(CHEAP))));
    expect(response.status).toBe(400);
  });

  const STRANGER = "0x00000000000000000000000000000000000000ff";
  const seconds = (ahead: number) => String(Math.floor(Date.now() / 1000) + ahead);
  it.each<[string, (payload: PaymentPayload) => unknown, string]>([
    ["another network", (payload) => accepting(payload, { network: "eip155:1" }), "invalid_network"],
    ["another scheme", (payload) => accepting(payload, { scheme: "upto" }), "unsupported_scheme"],
    ["another token", (payload) => accepting(payload, { asset: STRANGER }), "invalid_asset"],
    ["another price", (payload) => accepting(payload, { amount: "1" }), "invalid_amount"],
    ["another amount", (payload) => changed(payload, { value: "9999" }), "invalid_amount"],
    ["another payee by terms", (payload) => accepting(payload, { payTo: STRANGER }), "invalid_recipient"],
    ["another payee", (payload) => changed(payload, { to: STRANGER }), "invalid_recipient"],
    ["an end in the past", (payload) => changed(payload, { validBefore: seconds(-1) }), "invalid_signature"],
    ["another payer", (payload) => changed(payload, { from: STRANGER }), "invalid_signature"],
    [
      "another resource",
      (payload) => ({ ...payload, resource: { url: "http://shop.example/cheap/2" } }),
      "resource_mismatch",
    ],
  ])("for %s is a 402 that says so, and nothing is charged", async (_name, change, error) => {
    const response = await world.request(CHEAP, paid(change(await world.sign(CHEAP))));
    expect([response.status, await errorOf(response)]).toEqual([402, expect.stringContaining(error)]);
    expect([world.desk.settled, world.works.done, await states()]).toEqual([[], 0, []]);
  });

  it("that has expired is a 402", async () => {
    const payload = await world.sign(CHEAP);
    world.pass(301_000);
    const response = await world.request(CHEAP, paid(payload));
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("payment_expired"),
    ]);
  });

  it("that is not valid yet is a 402", async () => {
    const ahead = String(Math.floor(Date.now() / 1000) + 60);
    const payload = await world.resign(await world.sign(CHEAP), { validAfter: ahead });
    const response = await world.request(CHEAP, paid(payload));
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("payment_not_yet_valid"),
    ]);
  });

  it("that is valid for longer than a day is a 402", async () => {
    const ahead = String(Math.floor(Date.now() / 1000) + 90_000);
    const payload = await world.resign(await world.sign(CHEAP), { validBefore: ahead });
    const response = await world.request(CHEAP, paid(payload));
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("invalid_valid_before"),
    ]);
  });

  it("is stored, and given to the facilitator, without the query of its request", async () => {
    const path = `${CHEAP}?webhook_url=https://hooks.example/secret`;
    expect((await world.request(path, paid(await world.sign(path)))).status).toBe(200);
    const [row] = await world.rows();
    expect([row?.resource, JSON.stringify(row?.payload)]).toEqual([
      CHEAP,
      expect.not.stringContaining("hooks.example"),
    ]);
    expect(JSON.stringify(world.desk.settled[0]?.payload)).not.toContain("hooks.example");
  });

  it("without a resource is good for any of its price, as the protocol has it", async () => {
    const { resource: _resource, ...payload } = await world.sign(CHEAP);
    expect((await world.request(CHEAP, paid(payload))).status).toBe(200);
  });

  it("that the facilitator finds no good is a 402 and leaves no trace, so that it can be tried again", async () => {
    world.desk.answers.verify = { kind: "invalid", reason: "insufficient_funds" };
    const header = paid(await world.sign(CHEAP));
    const response = await world.request(CHEAP, header);
    expect([response.status, await errorOf(response)]).toEqual([
      402,
      expect.stringContaining("insufficient_funds"),
    ]);
    expect(await states()).toEqual([]);
    world.desk.answers.verify = { kind: "valid" };
    expect((await world.request(CHEAP, header)).status).toBe(200);
  });

  it("is a 503 that charges nothing while the facilitator cannot be asked", async () => {
    world.desk.answers.verify = { kind: "unavailable", cause: new Error("secret detail") };
    const response = await world.request(CHEAP, paid(await world.sign(CHEAP)));
    const body = await response.text();
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).not.toBeNull();
    expect(body).toContain("payments-unavailable");
    expect(body).not.toContain("secret");
    expect(await states()).toEqual([]);
  });
});

describe("other ways", () => {
  it("HEAD never answers a paid resource", async () => {
    const headers = paid(await world.sign(CHEAP));
    for (const given of [{}, headers]) {
      const response = await world.app.request(`http://shop.example${CHEAP}`, {
        method: "HEAD",
        headers: given,
      });
      expect(response.status).toBe(405);
    }
    expect(world.works.done).toBe(0);
  });

  it("a key without balance is a 402 even with a payment attached, which stays untouched", async () => {
    const response = await world.request(CHEAP, { ...paid(await world.sign(CHEAP)), "x-api-key": KEY });
    expect([response.status, await errorOf(response)]).toEqual([402, expect.stringContaining("balance")]);
    expect(await states()).toEqual([]);
  });

  it("a claim that no payment has is a 402, a malformed one a 400", async () => {
    expect((await world.request(CHEAP, { "x-payment-claim": "ab".repeat(32) })).status).toBe(402);
    expect((await world.request(CHEAP, { "x-payment-claim": "mine" })).status).toBe(400);
  });

  it("outcomes are counted", async () => {
    await world.request(CHEAP, paid(await world.sign(CHEAP)));
    expect(await world.registry.metrics()).toContain('ahs_payments_total{outcome="settled"} 1');
  });
});

function changed(payload: PaymentPayload, authorization: Record<string, string>): unknown {
  const signed = payload.payload as { authorization: object };
  return { ...payload, payload: { ...signed, authorization: { ...signed.authorization, ...authorization } } };
}

function accepting(payload: PaymentPayload, accepted: Record<string, string>): unknown {
  return { ...payload, accepted: { ...payload.accepted, ...accepted } };
}
