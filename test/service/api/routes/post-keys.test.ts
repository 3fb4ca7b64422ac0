import { describe, expect, it } from "vitest";
import { paidBy } from "../../access/paying-access.ts";
import { SIGNER } from "../../access/signed-in.ts";
import { bodyOf, KEY, NOW } from "../fake-ports.ts";
import { NEW_SECRET } from "./fake-key-ports.ts";
import { keysApp, SHOWN } from "./keys-app.ts";

describe("POST /keys", () => {
  it("sells a key for its credits, settled before it is made", async () => {
    const { post, taken, asked } = keysApp();
    const response = await post("/keys", { credits_usd: 12.34, unknown: 1 }, paidBy(1));
    expect([response.status, await response.json()]).toEqual([
      200,
      { api_key: NEW_SECRET, ...SHOWN, balance_usd: 12.34 },
    ]);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(taken).toMatchObject([{ units: 12_340, settlement: "before", outcome: "kept" }]);
    expect(asked).toMatchObject([
      {
        port: "buy",
        given: { name: SIGNER.address, boughtBy: SIGNER.address.toLowerCase(), units: 12_340, now: NOW },
      },
    ]);
  });

  it("keeps no secret for repeats", async () => {
    const { post, taken } = keysApp();
    await post("/keys", { credits_usd: 25 }, paidBy(1));
    const stored = String(taken[0]?.answer?.body);
    expect(JSON.parse(stored)).toEqual({ api_key: null, ...SHOWN });
    expect(stored).not.toContain(NEW_SECRET);
  });

  it("names a key by its payment, so that one payment is one key", async () => {
    const { post, asked } = keysApp();
    for (const payment of [1, 1, 2]) await post("/keys", { credits_usd: 25 }, paidBy(payment));
    const ids = asked.map(({ given }) => Reflect.get(Object(given), "creditId"));
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([ids[0] === ids[1], ids[1] === ids[2]]).toEqual([true, false]);
  });

  it("is not sold for another key's credits", async () => {
    const { post, asked, taken } = keysApp();
    const response = await post("/keys", { credits_usd: 1 }, { "X-API-Key": KEY });
    expect([response.status, (await bodyOf(response)).detail]).toEqual([
      402,
      "POST /keys costs 1.00 USD. Pay it over x402 by the terms of this answer. (1000 units)",
    ]);
    expect([asked, taken]).toEqual([[], []]);
  });

  it("that fails after the money moved is owed, and says by which claim", async () => {
    const broken = async () => {
      throw new Error("broken");
    };
    const { post, taken } = keysApp({ buy: broken });
    const response = await post("/keys", { credits_usd: 1 }, paidBy(1));
    expect([response.status, (await bodyOf(response)).claim]).toEqual([503, "c1".repeat(32)]);
    expect(taken).toMatchObject([{ outcome: "owed" }]);
  });

  it.each([
    ["nothing", {}, "missing"],
    ["less than a dollar", { credits_usd: 0.99 }, "greater_than_equal"],
    ["more than 10,000 dollars", { credits_usd: 10_000.01 }, "less_than_equal"],
    ["a fraction of a cent", { credits_usd: 1.001 }, "multiple_of"],
    ["a number as a text", { credits_usd: "10" }, "float_type"],
    ["a text", { credits_usd: "ten" }, "float_parsing"],
    ["null", { credits_usd: null }, "float_type"],
    ["minus ten", { credits_usd: -10 }, "greater_than_equal"],
  ])("for %s is 422 and takes nothing", async (_name, body, type) => {
    const { post, taken, asked } = keysApp();
    for (const path of ["/keys", "/keys/topup"]) {
      const response = await post(path, body, { ...paidBy(1), "X-API-Key": KEY });
      const { detail } = await bodyOf<{ detail: unknown }>(response);
      expect([response.status, detail]).toMatchObject([422, [{ type, loc: ["body", "credits_usd"] }]]);
    }
    expect([taken, asked]).toEqual([[], []]);
  });

  it.each([[1], [0.1 + 0.2 + 0.7], [19.99], [9_999.99], [10_000]])("takes %d USD", async (credits) => {
    const { post, taken } = keysApp();
    expect((await post("/keys", { credits_usd: credits }, paidBy(1))).status).toBe(200);
    expect(taken).toMatchObject([{ units: Math.round(credits * 1000) }]);
  });
});
