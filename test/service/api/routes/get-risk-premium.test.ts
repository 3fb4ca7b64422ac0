import { describe, expect, it } from "vitest";
import type { RiskPremiumAnswer } from "../../../../service/api/routes/get-risk-premium.ts";
import type { ProviderAnswer } from "../../../../service/reports/labels/label-reader.ts";
import { account, callsOf, DAY, USDC } from "../../model/features/histories.ts";
import { bodyOf, fakeApp, fakeLedger, LISTING, WALLET, WITH_KEY, walletSnapshot } from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";

const PATH = `/risk/premium/${WALLET}`;
const READ_AT = new Date("2026-11-20T07:30:12.000Z");
const NANSEN: ProviderAnswer = {
  provider: "nansen",
  available: true,
  labels: [{ label: "Dex Trader", category: "defi" }],
  readAt: READ_AT,
};
const NO_NANSEN: ProviderAnswer = { provider: "nansen", available: false, reason: "timeout" };

async function premium(changes: Parameters<typeof fakeApp>[0] = {}, keys = fakeLedger()) {
  const fake = fakeApp(changes, keys);
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf<RiskPremiumAnswer>(response) };
}

/** Bought ten for 100 dollars and sold six for 90. */
const TRADES = callsOf([
  {
    at: AS_OF_SECONDS - 2 * DAY,
    moves: [
      { token: USDC, amount: -100_000_000n },
      { token: account(0xee), amount: 10n },
    ],
  },
  {
    at: AS_OF_SECONDS - DAY,
    moves: [
      { token: USDC, amount: 90_000_000n },
      { token: account(0xee), amount: -6n },
    ],
  },
]);

describe("GET /risk/premium/{address}", () => {
  it("answers the risk with labels and profit and loss for five cents", async () => {
    const { response, body, keys, read, app } = await premium({ readLabels: async () => [NANSEN] });
    expect([response.status, keys.balance(), read]).toEqual([200, 4950, [WALLET]]);
    const risk = await bodyOf<object>(await app.request(`/risk/${WALLET}`, WITH_KEY));
    expect(body).toMatchObject(risk);
    expect(body.labels).toContainEqual({ label: "Dex Trader", category: "defi", source: "nansen" });
    expect([body.labels_available, body.labels_unavailable_reason, body.label_providers]).toEqual([
      true,
      null,
      [{ provider: "nansen", available: true, reason: null, read_at: READ_AT.toISOString() }],
    ]);
  });

  it("says what was gained, what is held, and of how much nothing is known", async () => {
    const { body } = await premium({ readWallet: async () => reportSource({ calls: TRADES }) });
    expect(body.pnl).toMatchObject({
      chain_id: 31337,
      as_of_block: 970,
      window: { days: 180 },
      coverage: { complete: true },
      realised_usd: 30,
      trades: 2,
      sales: 1,
      wins: 1,
      losses: 0,
      win_rate: 1,
      unpriced_share: 0,
      unread_receipts: 0,
      token_count: 2,
    });
    expect(body.pnl.tokens[0]).toMatchObject({
      symbol: null,
      bought: "10",
      sold: "6",
      held: "4",
      realised_usd: 30,
      cost_usd: 40,
      value_usd: 60,
      unrealised_usd: 20,
      priced_by: "own_trade",
    });
  });

  it("answers all the same when a provider is down, and takes its silence for nothing", async () => {
    const { response, body, keys } = await premium({ readLabels: async () => [NO_NANSEN] });
    expect([response.status, keys.balance(), body.labels_available]).toEqual([200, 4950, false]);
    expect(body.labels_unavailable_reason).toBe("provider_failed");
    expect(body.label_providers).toEqual([
      { provider: "nansen", available: false, reason: "timeout", read_at: null },
    ]);
    expect(body.labels.every(({ source }) => source !== "nansen")).toBe(true);
  });

  it("does not pass one provider's answer for that of all", async () => {
    const other = { ...NANSEN, provider: "other" };
    const { body } = await premium({ readLabels: async () => [other, NO_NANSEN] });
    expect([body.labels_available, body.labels.some(({ source }) => source === "other")]).toEqual([
      false,
      true,
    ]);
  });

  it("has no labels of third parties where none is configured, and says that this is why", async () => {
    const { body } = await premium();
    expect([body.labels_available, body.label_providers]).toEqual([false, []]);
    expect(body.labels_unavailable_reason).toBe("no_provider_configured");
  });

  it("names labels of the chain itself, and the lists first", async () => {
    const { body } = await premium({
      scores: { snapshot: async () => walletSnapshot({ sanctions: [LISTING] }) },
      knownAccounts: new Map([[WALLET, [{ label: "Mixer", category: "mixer", source: "deployment" }]]]),
      describeAccounts: async () =>
        new Map([
          [
            WALLET,
            {
              address: WALLET,
              agents: [{ agentId: 17n, registry: null, name: "Delta\u202e keeper" }],
              hasCode: false,
              score: null,
              sanctions: [],
            },
          ],
        ]),
    });
    expect(body).toMatchObject({ risk_score: 100, risk_level: "CRITICAL" });
    expect(body.labels).toEqual([
      { label: "Sanctioned", category: "sanctioned", source: "chainalysis-oracle" },
      { label: "Mixer", category: "mixer", source: "deployment" },
      { label: "Agent 17: Delta keeper", category: "agent", source: "identity-registry" },
    ]);
  });
});
