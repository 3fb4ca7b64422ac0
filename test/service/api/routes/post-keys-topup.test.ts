import { describe, expect, it } from "vitest";
import { hashApiKey } from "../../../../service/access/api-keys.ts";
import { paidBy } from "../../access/paying-access.ts";
import { bodyOf, fakeLedger, KEY, NOW } from "../fake-ports.ts";
import { KEY_ID } from "./fake-key-ports.ts";
import { keysApp, SHOWN } from "./keys-app.ts";

describe("POST /keys/topup", () => {
  it("adds credits to the key, paid by any wallet", async () => {
    const { post, taken, asked } = keysApp();
    const response = await post("/keys/topup", { credits_usd: 5 }, { ...paidBy(7), "X-API-Key": KEY });
    expect([response.status, await response.json()]).toEqual([
      200,
      { ...SHOWN, balance_usd: 30, credited_usd: 5 },
    ]);
    expect(taken).toMatchObject([{ units: 5_000, settlement: "before", outcome: "kept" }]);
    expect(asked).toMatchObject([{ port: "topUp", given: { keyId: KEY_ID, units: 5_000, now: NOW } }]);
  });

  const past = new Date(NOW.getTime() - 1);
  it.each([
    ["no key", {}, {}, 401, "key-missing"],
    ["a key that nobody has", { "X-API-Key": `ahs_${"x".repeat(43)}` }, {}, 401, "key-unknown"],
    ["a revoked key", { "X-API-Key": KEY }, { revokedAt: past }, 401, "key-revoked"],
    ["an expired key", { "X-API-Key": KEY }, { expiresAt: past }, 401, "key-expired"],
  ])("of %s is refused before anything is charged", async (_name, headers, key, status, code) => {
    const { post, taken } = keysApp({}, fakeLedger({ id: KEY_ID, ...key }));
    const response = await post("/keys/topup", { credits_usd: 5 }, { ...paidBy(1), ...headers });
    expect([response.status, (await bodyOf(response)).type]).toEqual([status, `/docs#problem-${code}`]);
    expect(taken).toEqual([]);
  });

  it("of a key without a limit is 422, since it would add nothing", async () => {
    const { post, taken } = keysApp({}, fakeLedger({ id: KEY_ID, balanceUnits: null }));
    const response = await post("/keys/topup", { credits_usd: 5 }, { ...paidBy(1), "X-API-Key": KEY });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { detail: [{ type: "value_error", loc: ["header", "X-API-Key"] }] },
    ]);
    expect(taken).toEqual([]);
  });

  it("of a key that ended meanwhile is owed", async () => {
    const { post, taken } = keysApp({ topUp: async () => null });
    const response = await post("/keys/topup", { credits_usd: 5 }, { ...paidBy(1), "X-API-Key": KEY });
    const { type, claim } = await bodyOf(response);
    expect([response.status, type, claim]).toEqual([503, "/docs#problem-answer-owed", "c1".repeat(32)]);
    expect(taken).toMatchObject([{ outcome: "owed" }]);
  });

  it("of another key under the same Idempotency-Key is refused, not answered with the first key", async () => {
    const other = `ahs_${"o".repeat(43)}`;
    const { ledger, ...rest } = fakeLedger({ id: KEY_ID });
    const find = async (keyHash: string) => {
      const known = await ledger.find(hashApiKey(KEY));
      if (keyHash !== hashApiKey(other) || known === null) return ledger.find(keyHash);
      return { ...known, id: "00000000-0000-4000-8000-000000000001" };
    };
    const { post, taken } = keysApp({}, { ledger: { ...ledger, find }, ...rest });
    const topUp = (key: string, payment: number) => {
      const headers = { ...paidBy(payment), "X-API-Key": key, "Idempotency-Key": "weekly" };
      return post("/keys/topup", { credits_usd: 5 }, headers);
    };
    expect((await topUp(KEY, 1)).status).toBe(200);
    const refused = await topUp(other, 2);
    expect([refused.status, (await bodyOf(refused)).type]).toEqual([
      422,
      "/docs#problem-idempotency-key-reused",
    ]);
    expect((await topUp(KEY, 3)).status).toBe(200);
    expect(taken).toHaveLength(1);
  });
});
