import { describe, expect, it } from "vitest";
import { SIGNER } from "../../access/signed-in.ts";
import { fakeLedger, KEY, NOW } from "../fake-ports.ts";
import { KEY_ID, storedKey } from "./fake-key-ports.ts";
import { keysApp, SHOWN } from "./keys-app.ts";

describe("GET /keys/self", () => {
  it("answers what the key is, has and spent", async () => {
    const spending = async () => [
      { endpoint: "GET /ahs/{address}", calls: 2, units: 2_000 },
      { endpoint: "GET /risk/{address}", calls: 3, units: 3 },
    ];
    const { app, asked } = keysApp({ spending });
    const response = await app.request("/keys/self", { headers: { "X-API-Key": KEY } });
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ...SHOWN,
        partner: false,
        bought_by: SIGNER.address,
        created_at: "2026-11-01T08:00:00.000Z",
        spent: {
          from: "2026-10-21T10:00:00.000Z",
          to: "2026-11-20T10:00:00.000Z",
          total_usd: 2.003,
          endpoints: [
            { endpoint: "GET /ahs/{address}", calls: 2, spent_usd: 2 },
            { endpoint: "GET /risk/{address}", calls: 3, spent_usd: 0.003 },
          ],
        },
      },
    ]);
    expect(asked).toEqual([
      { port: "spending", given: { keyId: KEY_ID, since: new Date("2026-10-21T10:00:00.000Z") } },
    ]);
  });

  it("of an operator's key without a limit says so", async () => {
    const find = async () => storedKey({ balanceUnits: null, boughtBy: null, expiresAt: NOW });
    const { app } = keysApp({ find });
    const response = await app.request("/keys/self", { headers: { "X-API-Key": KEY } });
    expect(await response.json()).toMatchObject({
      balance_usd: null,
      bought_by: null,
      expires_at: NOW.toISOString(),
    });
  });

  it("costs nothing, and works with an empty balance", async () => {
    const ledger = fakeLedger({ id: KEY_ID, balanceUnits: 0 });
    const { app } = keysApp({}, ledger);
    expect((await app.request("/keys/self", { headers: { "X-API-Key": KEY } })).status).toBe(200);
    expect(ledger.states()).toEqual([]);
  });
});
