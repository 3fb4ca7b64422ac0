import { describe, expect, it } from "vitest";
import { previewSchema } from "../../../../service/api/kit/report-preview.ts";
import {
  bodyOf,
  fakeApp,
  fakeLedger,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";

const REPORTS = [
  ["GET", `/retry/${WALLET}`],
  ["GET", `/optimize/${WALLET}`],
  ["GET", `/health/${WALLET}`],
  ["POST", `/wash/${WALLET}`],
  ["GET", `/agent/protect/${WALLET}`],
] as const;

describe("a preview", () => {
  it.each(REPORTS)("of %s %s is free, without a key and with an empty one", async (method, path) => {
    const { app, keys, read } = fakeApp({}, fakeLedger({ balanceUnits: 0 }));
    for (const headers of [{}, WITH_KEY.headers]) {
      const response = await app.request(`${path}?preview=true`, { method, headers });
      const body = await bodyOf<Record<string, unknown>>(response);
      expect(previewSchema.parse(body)).toEqual({
        ...{ preview: true, address: WALLET_EIP55, chain_id: 31337 },
        ...{ as_of_block: 970, as_of_time: "2026-11-20T09:59:00.000Z" },
        ...{ failures_found: 1, retries_at_most: 1, approvals_at_risk: 0 },
        ...{ gas_recommendations: 1, saves_usd_per_month: 0.2 },
        summary:
          "1 failed transaction in 30 days, of which at most 1 can be repeated. 0 unlimited approvals at risk. Gas savings of at most 0.20 USD a month.",
      });
    }
    expect([keys.states(), read]).toEqual([[], []]);
  });

  it.each(REPORTS)("of %s %s is a 404 for a wallet that is not followed", async (method, path) => {
    const scores = { snapshot: async () => walletSnapshot({ followed: false, score: null }) };
    const { app } = fakeApp({ scores });
    expect((await app.request(`${path}?preview=true`, { method })).status).toBe(404);
  });

  it("that is not asked for by a true value is a sale", async () => {
    const { app } = fakeApp();
    expect((await app.request(`/retry/${WALLET}?preview=false`)).status).toBe(401);
    expect((await app.request(`/retry/${WALLET}?preview=perhaps`)).status).toBe(422);
  });
});
