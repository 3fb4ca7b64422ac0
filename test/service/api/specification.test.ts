import { describe, expect, it } from "vitest";
import { SCORING_ENDPOINTS } from "../../../service/api/create-app.ts";
import { bodyOf, fakeApp, fakeLedger, KEY, WALLET_EIP55 } from "./fake-ports.ts";

/** The priced rows of the specification's table: method, path, price in US dollars. */
const ROWS = [
  ["GET", "/risk/{address}", 0.001],
  ["GET", "/risk/premium/{address}", 0.05],
  ["GET", "/counterparties/{address}", 0.1],
  ["GET", "/network-map/{address}", 0.1],
  ["GET", "/health/{address}", 0.5],
  ["POST", "/wash/{address}", 0.5],
  ["GET", "/ahs/{address}", 1],
  ["GET", "/ahs/route/{address}", 0.01],
  ["GET", "/report-card/{address}", 2],
  ["GET", "/alerts/subscribe/{address}", 2],
  ["GET", "/optimize/{address}", 5],
  ["POST", "/ahs/batch", 10],
  ["GET", "/retry/{address}", 10],
  ["GET", "/agent/protect/{address}", 25],
] as const;

const ADDRESSED = ROWS.filter(([, path]) => path.includes("{address}"));

/** The path for a wallet, with a webhook where a subscription needs one. */
function pathFor(template: string, address: string): string {
  const path = template.replace("{address}", address);
  return template.startsWith("/alerts/") ? `${path}?webhook_url=https://hooks.example/a` : path;
}

describe("the specification's table of the scoring interface", () => {
  it.each(ROWS)("%s %s costs %d USD", (method, path, usd) => {
    const endpoint = SCORING_ENDPOINTS.find(
      (one) => one.path === path && one.method.toUpperCase() === method,
    );
    expect(endpoint?.price).toBe(Math.round(usd * 1000));
  });

  it("has 14 priced endpoints and one that sets the policy, and beside them sells nothing but keys", () => {
    const priced = SCORING_ENDPOINTS.filter(({ price }) => price !== null).map(({ path }) => path);
    const sold = priced.filter((path) => !ROWS.some((row) => row[1] === path));
    expect(sold.sort()).toEqual(["/keys", "/keys/topup"]);
    const policy = SCORING_ENDPOINTS.filter(({ path }) => path === "/ahs/route/policy");
    expect(policy.map(({ method, price }) => [method, price])).toEqual(
      expect.arrayContaining([
        ["put", null],
        ["get", null],
      ]),
    );
  });

  it.each(ADDRESSED)("%s %s answers 200 to a key, in JSON", async (method, path) => {
    const { app } = fakeApp({}, fakeLedger({ balanceUnits: 100_000 }));
    const headers = { "X-API-Key": KEY };
    const response = await app.request(pathFor(path, WALLET_EIP55), { method, headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  it.each(ADDRESSED)("%s %s refuses what is no address with the specified 422 body", async (method, path) => {
    const { app, keys } = fakeApp();
    const headers = { "X-API-Key": KEY };
    const response = await app.request(pathFor(path, "0x12"), { method, headers });
    expect(response.status).toBe(422);
    const { detail } = await bodyOf<{ detail: { type: string; loc: unknown; msg: string }[] }>(response);
    expect(detail[0]).toMatchObject({
      type: "string_pattern_mismatch",
      loc: ["path", "address"],
      msg: expect.any(String),
    });
    expect(keys.balance()).toBe(5000);
  });

  it.each(ROWS)("%s %s is not served to a caller without key or payment", async (method, path) => {
    const { app } = fakeApp();
    const body = path === "/ahs/batch" ? JSON.stringify({ addresses: [WALLET_EIP55] }) : null;
    const headers = { "content-type": "application/json" };
    const response = await app.request(pathFor(path, WALLET_EIP55), { method, body, headers });
    expect([401, 402]).toContain(response.status);
  });

  it.each(ROWS)("%s %s has no other method, and HEAD is none of them", async (method, path) => {
    const { app } = fakeApp();
    for (const other of ["HEAD", "DELETE", method === "GET" ? "POST" : "GET"]) {
      const response = await app.request(pathFor(path, WALLET_EIP55), {
        method: other,
        headers: { "X-API-Key": KEY },
      });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toContain(method);
    }
  });
});
