import { describe, expect, it } from "vitest";
import { SIGNER, signInHeader, signInInfo } from "../../access/signed-in.ts";
import { bodyOf, fakeLedger, KEY, NOW } from "../fake-ports.ts";
import { KEY_ID, NEW_SECRET } from "./fake-key-ports.ts";
import { keysApp, SHOWN } from "./keys-app.ts";

describe("POST /keys/rotate", () => {
  const signedIn = async () => ({ "SIGN-IN-WITH-X": await signInHeader(signInInfo(NOW)) });
  const buyer = SIGNER.address.toLowerCase();

  it("answers the holder a new secret, with no body needed", async () => {
    const { post, asked } = keysApp();
    const response = await post("/keys/rotate", undefined, { "X-API-Key": KEY });
    expect([response.status, await response.json()]).toEqual([200, { api_key: NEW_SECRET, ...SHOWN }]);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(asked).toMatchObject([{ port: "rotate", given: { kind: "holder" } }]);
  });

  it.each([
    ["names the key", { key_id: KEY_ID }],
    ["names it in capitals", { key_id: KEY_ID.toUpperCase() }],
    ["bought only this one", {}],
  ])("answers the wallet that bought the key and %s", async (_name, body) => {
    const { post, asked } = keysApp();
    const response = await post("/keys/rotate", body, await signedIn());
    expect([response.status, (await bodyOf(response)).api_key]).toEqual([200, NEW_SECRET]);
    expect(asked).toEqual([{ port: "rotate", given: { kind: "buyer", boughtBy: buyer, keyId: KEY_ID } }]);
  });

  it("asks a wallet that bought several which one", async () => {
    const other = "00000000-0000-4000-8000-000000000001";
    const { post, asked } = keysApp({ boughtBy: async () => [KEY_ID, other] });
    const response = await post("/keys/rotate", {}, await signedIn());
    const { detail } = await bodyOf<{ detail: { msg: string; loc: unknown }[] }>(response);
    expect([response.status, detail[0]?.loc]).toEqual([422, ["body", "key_id"]]);
    expect(detail[0]?.msg).toContain(`${KEY_ID}, ${other}`);
    expect(asked).toEqual([]);
  });

  it("is 404 for a wallet that bought none, or not this one", async () => {
    const none = await keysApp({ boughtBy: async () => [] }).post("/keys/rotate", {}, await signedIn());
    const notThis = await keysApp({ rotate: async () => null }).post(
      "/keys/rotate",
      { key_id: KEY_ID },
      await signedIn(),
    );
    expect([none.status, notThis.status]).toEqual([404, 404]);
    expect((await bodyOf(notThis)).detail).toContain(KEY_ID);
  });

  it("is 401 for a secret that was replaced meanwhile", async () => {
    const response = await keysApp({ rotate: async () => null }).post("/keys/rotate", undefined, {
      "X-API-Key": KEY,
    });
    expect([response.status, (await bodyOf(response)).type]).toEqual([401, "/docs#problem-key-unknown"]);
  });

  it("renews a key once under one Idempotency-Key, and stores no secret for the repeat", async () => {
    const { post, asked } = keysApp();
    const once = async () => ({ ...(await signedIn()), "Idempotency-Key": "lost" });
    const first = await post("/keys/rotate", {}, await once());
    const again = await post("/keys/rotate", {}, await once());
    expect((await bodyOf(first)).api_key).toBe(NEW_SECRET);
    expect([again.status, await again.json()]).toEqual([200, { api_key: null, ...SHOWN }]);
    expect(again.headers.get("cache-control")).toBe("private, no-store");
    const other = await post("/keys/rotate", { key_id: KEY_ID }, await once());
    expect([other.status, (await bodyOf(other)).type]).toEqual([422, "/docs#problem-idempotency-key-reused"]);
    expect(asked).toHaveLength(1);
  });

  it("acts again under an Idempotency-Key whose request failed", async () => {
    const { post } = keysApp({ rotate: async () => null });
    const once = { "X-API-Key": KEY, "Idempotency-Key": "failed" };
    const statuses = [
      (await post("/keys/rotate", {}, once)).status,
      (await post("/keys/rotate", {}, once)).status,
    ];
    expect(statuses).toEqual([401, 401]);
  });

  it("counts against the rate of the caller", async () => {
    const { post } = keysApp({}, fakeLedger({ id: KEY_ID, ratePerMinute: 1 }));
    const ask = () => post("/keys/rotate", {}, { "X-API-Key": KEY });
    expect((await ask()).status).toBe(200);
    const beyond = await ask();
    expect([beyond.status, beyond.headers.get("retry-after")]).toEqual([429, "60"]);
  });

  it("is refused without a proof, and with one used before", async () => {
    const { post, asked } = keysApp();
    const missing = await post("/keys/rotate", {});
    expect([missing.status, (await bodyOf(missing)).detail]).toEqual([
      401,
      expect.stringContaining(
        "the domain api.example, a URI under https://api.example and the chain eip155:31337",
      ),
    ]);
    const headers = await signedIn();
    const [first, second] = [
      await post("/keys/rotate", {}, headers),
      await post("/keys/rotate", {}, headers),
    ];
    expect([first.status, second.status]).toEqual([200, 401]);
    expect(asked).toHaveLength(1);
  });

  it.each([
    ["another key than the presented one", { key_id: "00000000-0000-4000-8000-000000000001" }, "value_error"],
    ["no UUID", { key_id: "mine" }, "uuid_parsing"],
    ["a number", { key_id: 1 }, "string_type"],
  ])("of %s is 422", async (_name, body, type) => {
    const { post, asked } = keysApp();
    const response = await post("/keys/rotate", body, { "X-API-Key": KEY });
    expect([response.status, await response.json()]).toMatchObject([
      422,
      { detail: [{ type, loc: ["body", "key_id"] }] },
    ]);
    expect(asked).toEqual([]);
  });
});
