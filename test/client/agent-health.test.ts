import { describe, expect, it } from "vitest";
import {
  AuthenticationError,
  ConflictError,
  NotFoundError,
  PaymentRequiredError,
  UnavailableError,
  UnreachableError,
  ValidationError,
} from "../../client/src/errors.ts";
import { fakeApp, fakeLedger, REGISTRY, WALLET_EIP55 } from "../service/api/fake-ports.ts";
import { clientOf } from "./client-world.ts";

const TERMS = {
  x402Version: 2,
  error: "GET /ahs/route/{address} costs 0.01 USD.",
  accepts: [
    {
      scheme: "exact",
      network: "eip155:31337",
      amount: "10000",
      asset: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      payTo: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      maxTimeoutSeconds: 60,
    },
  ],
};

const busy = () =>
  new Response(JSON.stringify({ status: 503, detail: "busy" }), {
    status: 503,
    headers: { "retry-after": "0" },
  });

describe("AgentHealth", () => {
  it("returns the action for a payment", async () => {
    const { client } = clientOf(fakeApp());
    expect(await client.route(WALLET_EIP55, { amount_usd: 31 })).toMatchObject({
      action: "escrow",
      reason: "above_safe_amount",
      backing: { available_usd: 30.5 },
    });
    expect(await client.route(WALLET_EIP55)).toMatchObject({
      address: WALLET_EIP55,
      action: "instant_settle",
      score: 84,
      grade: "B",
      confidence: 0.81,
    });
  });

  it("scores an agent by its registry and number", async () => {
    const { client } = clientOf(fakeApp());
    const record = await client.scoreAgent(`eip155:31337:${REGISTRY}`, 142n, { include: ["features"] });
    expect(record).toMatchObject({ address: WALLET_EIP55, agent: { agent_id: "142" }, features: [{}] });
    await expect(client.scoreAgent(REGISTRY, 143)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("lists what is owed to the wallet of its key, or to one that signs in", async () => {
    const { client } = clientOf(fakeApp());
    expect(await client.owed()).toEqual({ owed: [] });
    const keyless = clientOf(fakeApp(), { apiKey: null, retries: 0 });
    await expect(keyless.client.owed("signed")).rejects.toBeInstanceOf(AuthenticationError);
    expect(keyless.requests[0]?.headers.get("sign-in-with-x")).toBe("signed");
  });

  it("compares wallets", async () => {
    const other = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
    const { wallets } = await clientOf(fakeApp()).client.compare([WALLET_EIP55, other]);
    expect(wallets.map(({ address }) => address)).toEqual([WALLET_EIP55, other]);
  });

  it("reports the charge of each call and the balance that it leaves", async () => {
    const charges: object[] = [];
    const { client } = clientOf(fakeApp(), { onCharge: (charge) => charges.push(charge) });
    await client.route(WALLET_EIP55);
    await client.key();
    const path = `/ahs/route/${WALLET_EIP55}`;
    expect(charges).toEqual([
      { method: "GET", path, chargedUsd: 0.01, balanceUsd: 4.99 },
      { method: "GET", path: "/keys/self", chargedUsd: 0, balanceUsd: 4.99 },
    ]);
  });

  it("answers a score with the parts that were asked for", async () => {
    const { client } = clientOf(fakeApp());
    const score = await client.score(WALLET_EIP55, { include: ["features", "history"] });
    expect(score.features).toHaveLength(1);
    expect(score.history).toHaveLength(1);
    expect(score.attestation).toBeUndefined();
  });

  it("names the fault of an address, without trying again", async () => {
    const { client, requests } = clientOf(fakeApp());
    const refused = await client.route("0x12").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ValidationError);
    expect(refused).toMatchObject({ status: 422, faults: [{ loc: ["path", "address"] }] });
    expect(requests).toHaveLength(1);
  });

  it("names a key that is no good", async () => {
    const { client } = clientOf(fakeApp(), { apiKey: "ahs_wrong" });
    await expect(client.route(WALLET_EIP55)).rejects.toBeInstanceOf(AuthenticationError);
  });

  it("names a balance that does not reach", async () => {
    const { client } = clientOf(fakeApp({}, fakeLedger({ balanceUnits: 1 })));
    await expect(client.route(WALLET_EIP55)).rejects.toBeInstanceOf(PaymentRequiredError);
  });

  it("tries again what may pass, under one Idempotency-Key", async () => {
    const { client, requests } = clientOf(fakeApp(), {
      before: (attempt) => (attempt < 3 ? busy() : undefined),
    });
    expect((await client.route(WALLET_EIP55)).action).toBe("instant_settle");
    const keys = requests.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("gives up after its retries with what the service said last", async () => {
    const { client, requests } = clientOf(fakeApp(), { before: busy, retries: 1 });
    await expect(client.route(WALLET_EIP55)).rejects.toBeInstanceOf(UnavailableError);
    expect(requests).toHaveLength(2);
  });

  it("does not wait where the service asks for more patience than half a minute", async () => {
    const { client, requests } = clientOf(fakeApp(), {
      before: () => new Response("{}", { status: 429, headers: { "retry-after": "3600" } }),
    });
    await expect(client.route(WALLET_EIP55)).rejects.toMatchObject({ status: 429, retryAfterSeconds: 3600 });
    expect(requests).toHaveLength(1);
  });

  it("distinguishes a service out of reach from one that refuses", async () => {
    const { client } = clientOf(fakeApp(), {
      retries: 0,
      fetch: async () => {
        throw new TypeError("fetch failed");
      },
    });
    await expect(client.route(WALLET_EIP55)).rejects.toBeInstanceOf(UnreachableError);
  });

  it("pays once by the terms of the 402, and shows payment and claim again when the answer is owed", async () => {
    const paid: unknown[] = [];
    const world = fakeApp();
    const { client, requests } = clientOf(world, {
      apiKey: null,
      payer: async (terms) => {
        paid.push(terms);
        return "signed";
      },
      before: (_, { headers }) => {
        if (headers.get("payment-signature") !== "signed") return Response.json(TERMS, { status: 402 });
        if (headers.get("x-payment-claim") === "c1a1") return Response.json({ ahs_score: 84 });
        const owed = { status: 503, detail: "settled, not answered", claim: "c1a1" };
        return new Response(JSON.stringify(owed), { status: 503, headers: { "retry-after": "0" } });
      },
    });
    expect(await client.route(WALLET_EIP55)).toEqual({ ahs_score: 84, score: 84 });
    expect(paid).toEqual([TERMS]);
    expect(requests).toHaveLength(3);
  });

  it("pays what the balance of its key does not reach for, without showing the key", async () => {
    const { client, requests } = clientOf(fakeApp(), {
      payer: async () => "signed",
      before: (_, { headers }) =>
        headers.get("payment-signature") === null
          ? Response.json(TERMS, { status: 402 })
          : Response.json({ ahs_score: 84 }),
    });
    await client.route(WALLET_EIP55);
    expect(requests.map(({ headers }) => headers.has("x-api-key"))).toEqual([true, false]);
  });

  it("does not pay twice when the payment is not taken", async () => {
    let payments = 0;
    const { client } = clientOf(fakeApp(), {
      apiKey: null,
      payer: async () => {
        payments += 1;
        return "signed";
      },
      before: () => Response.json(TERMS, { status: 402 }),
    });
    const refused = await client.route(WALLET_EIP55).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaymentRequiredError);
    expect(refused).toMatchObject({ terms: TERMS });
    expect(payments).toBe(1);
  });

  const inFlight = () =>
    new Response(JSON.stringify({ status: 409, detail: "under way" }), {
      status: 409,
      headers: { "retry-after": "2" },
    });
  const brokenOff = () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.error(new TypeError("terminated")),
      }),
    );

  /** A service that takes the payment, and then answers attempts in this order. */
  function paidDesk(answers: readonly (() => Response)[]) {
    const sleeps: number[] = [];
    let payments = 0;
    const left = [...answers];
    const { client, requests } = clientOf(fakeApp(), {
      apiKey: null,
      payer: async () => {
        payments += 1;
        return `signed ${payments}`;
      },
      sleep: async (ms) => {
        sleeps.push(ms);
      },
      before: (_, { headers }) =>
        headers.get("payment-signature") === null
          ? Response.json(TERMS, { status: 402 })
          : (left.shift() ?? inFlight)(),
    });
    return { client, requests, sleeps, payments: () => payments };
  }

  it("waits for a payment that settles as long as the service asks for, beyond its retries", async () => {
    const desk = paidDesk([
      brokenOff,
      ...Array<() => Response>(20).fill(inFlight),
      () => Response.json({ ahs_score: 84 }),
    ]);
    expect(await desk.client.route(WALLET_EIP55)).toMatchObject({ score: 84 });
    expect(desk.payments()).toBe(1);
    expect(desk.sleeps).toEqual([250, ...Array<number>(20).fill(2_000)]);
  });

  it("hands back key and payment of a call that it gives up, and goes on with them without paying again", async () => {
    const desk = paidDesk([brokenOff]);
    const stopped = await desk.client.buyKey(25).catch((error: unknown) => error);
    expect(stopped).toBeInstanceOf(ConflictError);
    if (!(stopped instanceof ConflictError)) return;
    const sent = desk.requests.at(-1)?.headers;
    expect(stopped).toMatchObject({
      idempotencyKey: sent?.get("idempotency-key"),
      payment: "signed 1",
      claim: null,
    });
    expect(desk.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(120_000);
    const before = desk.requests.length;
    await desk.client
      .resume({ ...stopped, claim: "c1a1" })
      .buyKey(25)
      .catch(() => undefined);
    const [resumed] = desk.requests.slice(before);
    expect(desk.payments()).toBe(1);
    expect(
      ["idempotency-key", "payment-signature", "x-payment-claim"].map((name) => resumed?.headers.get(name)),
    ).toEqual([stopped.idempotencyKey, "signed 1", "c1a1"]);
  });

  it("reports key and payment where no answer came at all", async () => {
    const { client } = clientOf(fakeApp(), { retries: 0, before: brokenOff });
    await expect(client.score(WALLET_EIP55)).rejects.toMatchObject({
      name: "UnreachableError",
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/),
      payment: null,
    });
  });
});
