import { describe, expect, it } from "vitest";
import { bodyOf, fakeApp, fakeLedger, KEY, NOW, WALLET, WITH_KEY } from "../api/fake-ports.ts";

const PATH = `/ahs/route/${WALLET}`;
const past = new Date(NOW.getTime() - 1000);

describe("a priced route", () => {
  it.each([
    ["without a key", {}, {}, "key-missing", "X-API-Key"],
    ["with an empty key", { "X-API-Key": "" }, {}, "key-missing", "X-API-Key"],
    ["with a key that nobody has", { "X-API-Key": `ahs_${"x".repeat(43)}` }, {}, "key-unknown", "No API key"],
    ["with something that is no key", { "X-API-Key": "hunter2" }, {}, "key-unknown", "No API key"],
    ["with two keys", { "X-API-Key": `${KEY}, ${KEY}` }, {}, "key-unknown", "No API key"],
    ["with an expired key", WITH_KEY.headers, { expiresAt: NOW }, "key-expired", NOW.toISOString()],
    ["with a revoked key", WITH_KEY.headers, { revokedAt: past }, "key-revoked", past.toISOString()],
  ])("answers 401 %s", async (_name, headers, key, code, detail) => {
    const { app, keys } = fakeApp({}, fakeLedger(key));
    const response = await app.request(PATH, { headers });
    const body = await bodyOf(response);
    expect([response.status, body.type]).toEqual([401, `/docs#problem-${code}`]);
    expect(body.detail).toContain(detail);
    expect(response.headers.get("www-authenticate")).toContain("X-API-Key");
    expect(keys.states()).toEqual([]);
  });

  it("says without a key how to get one", async () => {
    const { app } = fakeApp();
    expect((await bodyOf(await app.request(PATH))).detail).toContain("ahs keys create");
  });

  it("takes the key as a bearer token, and in both headers if it is the same", async () => {
    const { app, keys } = fakeApp();
    const ask = (headers: Record<string, string>) => app.request(PATH, { headers });
    const bearer = { Authorization: `Bearer ${KEY}` };
    expect((await ask(bearer)).status).toBe(200);
    expect((await ask({ ...bearer, ...WITH_KEY.headers })).status).toBe(200);
    const two = await ask({ Authorization: `Bearer ahs_${"x".repeat(43)}`, ...WITH_KEY.headers });
    expect([two.status, (await bodyOf(two)).type]).toEqual([400, "/docs#problem-header-malformed"]);
    expect((await app.request("/keys/self", { headers: bearer })).status).toBe(200);
    expect(keys.balance()).toBe(5000 - 20);
  });

  it.each([
    ["an answer", PATH, {}, 4990, 200, "0.010", "4.990"],
    ["a refusal", `/ahs/${WALLET}`, {}, 999, 402, "0.000", "0.999"],
    ["a free answer", "/keys/self", {}, 5000, 200, "0.000", "5.000"],
    ["an answer to an unlimited key", PATH, { balanceUnits: null }, null, 200, "0.000", "unlimited"],
  ] as const)("reports charge and balance with %s", async (_, path, key, left, status, charged, balance) => {
    const given = status === 402 ? { balanceUnits: left } : key;
    const { app, keys } = fakeApp({}, fakeLedger(given));
    const response = await app.request(path, WITH_KEY);
    const { headers } = response;
    expect([response.status, headers.get("x-charged-usd"), headers.get("x-balance-usd")]).toEqual([
      status,
      charged,
      balance,
    ]);
    expect(headers.get("access-control-expose-headers")).toContain("X-Charged-Usd, X-Balance-Usd");
    expect(keys.balance()).toBe(left);
  });

  it("reports no charge for a repeat under one Idempotency-Key", async () => {
    const { app } = fakeApp();
    const headers = { ...WITH_KEY.headers, "Idempotency-Key": "once" };
    const charges = [];
    for (let call = 0; call < 2; call += 1)
      charges.push((await app.request(PATH, { headers })).headers.get("x-charged-usd"));
    expect(charges).toEqual(["0.010", "0.000"]);
  });

  it("takes the header's name in any case", async () => {
    const { app } = fakeApp();
    expect((await app.request(PATH, { headers: { "x-api-KEY": KEY } })).status).toBe(200);
  });

  it("answers 402 with price and balance to a key that holds less", async () => {
    const { app, keys } = fakeApp({}, fakeLedger({ balanceUnits: 9 }));
    const response = await app.request(PATH, WITH_KEY);
    expect([response.status, await response.json()]).toMatchObject([
      402,
      {
        type: "/docs#problem-balance-insufficient",
        detail:
          "GET /ahs/route/{address} costs 0.01 USD and the balance of this key is 0.009 USD. Ask the operator for more credits.",
      },
    ]);
    expect(keys.balance()).toBe(9);
  });

  it("spends a balance to the last unit", async () => {
    const { app, keys } = fakeApp({}, fakeLedger({ balanceUnits: 20 }));
    const statuses = [];
    for (let call = 0; call < 3; call += 1) statuses.push((await app.request(PATH, WITH_KEY)).status);
    expect(statuses).toEqual([200, 200, 402]);
    expect(keys.balance()).toBe(0);
  });

  it("checks in the order validation, identity, free refusals, balance", async () => {
    const poor = fakeLedger({ balanceUnits: 0 });
    const refused = {
      snapshot: async () => ({ head: null, sanctions: [], threats: [], score: null, followed: false }),
    };
    const { app } = fakeApp({ scores: refused }, poor);
    expect((await app.request("/ahs/route/0x12")).status).toBe(422);
    expect((await app.request(PATH)).status).toBe(401);
    expect((await app.request(PATH, WITH_KEY)).status).toBe(503);
    expect((await fakeApp({}, poor).app.request(PATH, WITH_KEY)).status).toBe(402);
  });

  it("answers although the debit could not be captured; the hold then returns by its deadline", async () => {
    const keys = fakeLedger();
    const ledger = {
      ...keys.ledger,
      keep: async () => {
        throw new Error("gone");
      },
    };
    const { app, log } = fakeApp({}, { ...keys, ledger });
    expect((await app.request(PATH, WITH_KEY)).status).toBe(200);
    expect(keys.states()).toEqual(["held"]);
    expect(log.join("")).toContain("debit not kept");
  });

  it("answers the first fault although the price could not be given back", async () => {
    const keys = fakeLedger();
    const ledger = {
      ...keys.ledger,
      giveBack: async () => {
        throw new Error("gone");
      },
    };
    const { app, log } = fakeApp({ scoreNow: async () => ({ kind: "not-indexed" }) }, { ...keys, ledger });
    expect((await app.request(`/ahs/${WALLET}`, WITH_KEY)).status).toBe(404);
    expect(log.join("")).toContain("debit not given back");
  });

  it("never logs the key", async () => {
    const { app, log } = fakeApp();
    await app.request(PATH, WITH_KEY);
    expect(log.join("")).not.toContain(KEY);
  });
});
