import { describe, expect, it } from "vitest";
import {
  bodyOf,
  fakeApp,
  fakeComparison,
  REGISTRY,
  SHOWN_BACKING,
  WALLET,
  WALLET_EIP55,
  walletSnapshot,
} from "../fake-ports.ts";

const OTHER = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
const BOTH = `/compare?addresses=${WALLET},${OTHER}`;

function addresses(count: number): string {
  return Array.from({ length: count }, (_, place) => `0x${String(place).padStart(40, "0")}`).join(",");
}

describe("GET /compare", () => {
  it("answers for free, without a key and without scoring, each wallet in the order of the request", async () => {
    const { app, keys, read } = fakeApp({
      scoreNow: async () => {
        throw new Error("no scoring was expected");
      },
      compare: fakeComparison({
        agentNames: async () => new Map([[WALLET, [{ agentId: 142n, name: "keeper", registry: null }]]]),
      }),
    });
    const response = await app.request(BOTH);
    const body = await bodyOf<{ readonly wallets: readonly object[]; readonly differences: unknown }>(
      response,
    );
    expect([response.status, keys.states(), read]).toEqual([200, [], []]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=30");
    const shown = {
      ...{
        agents: [],
        followed: true,
        ahs_score: 84,
        grade: "B",
        confidence: 0.81,
        confidence_level: "HIGH",
      },
      ...{ scored_at: "2026-11-20T09:59:00.000Z", stale: false, d1_score: 88, d2_score: 82 },
      grade_reason: "Grade B: an estimated 98% of its calls succeed (success rate, −4 points).",
      ...{
        trend: "improving",
        action: "instant_settle",
        reason: "grade",
        backing: SHOWN_BACKING,
        calls: 130,
      },
      ...{ last_active_at: "2026-11-20T09:00:00.000Z", threats: [], reason_codes: [] },
    };
    expect(body).toEqual({
      wallets: [
        {
          ...shown,
          address: WALLET_EIP55,
          agents: [
            {
              agent_id: "142",
              registry: { name: "ERC-8004 identity registry", address: REGISTRY },
              name: "keeper",
            },
          ],
        },
        { address: OTHER, ...shown },
      ],
      differences: [],
    });
  });

  it("answers null with the reason for a wallet that is unknown", async () => {
    const { app } = fakeApp({
      compare: fakeComparison({
        snapshot: async () => walletSnapshot({ score: null, followed: false }),
        backing: async () => null,
        details: async () => ({
          ...{ score: null, trend: { points: 0, change: null }, calls: 0, lastCallAt: null },
        }),
      }),
    });
    const { wallets } = await bodyOf<{ readonly wallets: readonly object[] }>(await app.request(BOTH));
    expect(wallets[0]).toEqual({
      ...{ address: WALLET_EIP55, agents: [], followed: false, ahs_score: null, grade: null, confidence: 0 },
      ...{ confidence_level: "INSUFFICIENT", scored_at: null, stale: null, d1_score: null, d2_score: null },
      grade_reason: "Not scored: the index does not follow the wallet; this is no sign of risk.",
      ...{
        trend: null,
        action: "escrow",
        reason: "not_scored",
        backing: null,
        calls: null,
        last_active_at: null,
      },
      ...{ threats: [], reason_codes: [] },
    });
  });

  it.each([
    ["no wallet", "", "Field required"],
    ["one", `?addresses=${WALLET}`, "List should have at least 2 items after validation, not 1"],
    ["eleven", `?addresses=${addresses(11)}`, "List should have at most 10 items after validation, not 11"],
    ["what is no address", `?addresses=${WALLET},0x12`, "String should match pattern '^0x[0-9a-fA-F]{40}$'"],
    [
      "a wallet twice, in another case",
      `?addresses=${WALLET}&addresses=${WALLET_EIP55}`,
      `Value error, expected distinct wallets, got ${WALLET_EIP55} twice`,
    ],
  ])("refuses %s, with what was given", async (_, query, msg) => {
    const response = await fakeApp().app.request(`/compare${query}`);
    expect(response.status).toBe(422);
    const { detail } = await bodyOf<{ readonly detail: readonly unknown[] }>(response);
    expect(detail[0]).toMatchObject({ msg, input: expect.anything() });
  });

  it("takes ten wallets", async () => {
    expect((await fakeApp().app.request(`/compare?addresses=${addresses(10)}`)).status).toBe(200);
  });

  it("answers 503 if the index is too old to know sanctions", async () => {
    const response = await fakeApp({ maxIndexAgeSeconds: 1 }).app.request(BOTH);
    expect([response.status, (await bodyOf(response)).type]).toEqual([503, "/docs#problem-index-behind"]);
  });
});
