import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { healthSchema } from "../../../../service/api/routes/get-health.ts";
import {
  bodyOf,
  fakeApp,
  storedScore,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";

const PATH = `/health/${WALLET}`;
type Changes = Parameters<typeof fakeApp>[0];

async function health(changes: Changes = {}) {
  const fake = fakeApp(changes);
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf<Record<string, unknown>>(response) };
}

const STRANGER = { scores: { snapshot: async () => walletSnapshot({ followed: false, score: null }) } };

describe("GET /health/{address}", () => {
  it("answers what calls cost and wasted, by cause, for half a dollar", async () => {
    const { response, body, keys, read } = await health();
    expect(response.status).toBe(200);
    expect(healthSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      address: WALLET_EIP55,
      account: { kind: "eoa", is_contract: false, delegates_to: null },
      chain_id: 31337,
      as_of_block: 970,
      window: { days: 180 },
      coverage: { complete: true },
      totals: { calls: 60, successes: 58, failures: 2, success_rate: 0.966667, unread_receipts: 0 },
      gas: {
        wasted: { wei: "180000000000000", eth: "0.00018", value_usd: 0.36 },
        wasted_share: expect.closeTo(0.049, 3),
      },
      failures: {
        out_of_gas: { failures: 1, wasted: { value_usd: 0.2 } },
        reverted: { failures: 1, wasted: { value_usd: 0.16 } },
        revert_reasons: null,
      },
      open_approvals: [],
      prices: { native_symbol: "ETH", native_usd: 2000, reason: null },
    });
    expect(keys.balance()).toBe(4500);
    expect(read).toEqual([WALLET]);
  });

  it("recommends what saves money, and nothing because of a single revert", async () => {
    const { body } = await health();
    const { recommendations } = body as unknown as {
      recommendations: readonly { kind: string; saves_usd_per_month: number }[];
    };
    expect(recommendations.map(({ kind, saves_usd_per_month }) => [kind, saves_usd_per_month])).toEqual([
      ["set_gas_limit", 0.2],
    ]);
  });

  it("says when the wallet was first and last seen, beyond the window", async () => {
    const seen = (block: number) => ({
      block,
      timestamp: 1_760_000_000 + block,
      hash: `0x${"a".repeat(64)}` as const,
    });
    const { body } = await health({
      walletLife: async () => ({ first: seen(1), last: seen(2), hasCode: false }),
    });
    expect([body.first_seen, body.last_seen]).toEqual([
      { block: 1, time: "2025-10-09T08:53:21.000Z", tx_hash: `0x${"a".repeat(64)}` },
      { block: 2, time: "2025-10-09T08:53:22.000Z", tx_hash: `0x${"a".repeat(64)}` },
    ]);
  });

  it.each([
    ["executions alone", { kind: "smart_account", is_contract: true }, { calls: "executed" }],
    ["delegated code", { kind: "delegated_eoa", is_contract: true }, { delegation: "given" }],
    ["no call", { kind: "unknown", is_contract: null }, { calls: "none" }],
  ])(
    "notes what kind of account has %s",
    async (_case, account, given: { calls?: string; delegation?: string }) => {
      const source = reportSource();
      const calls =
        given.calls === undefined
          ? source.rows.calls
          : given.calls === "none"
            ? []
            : source.rows.calls.map((call) => ({ ...call, position: 3 }));
      const to: Address = "0x00000000000000000000000000000000000000dd";
      const delegation = given.delegation === undefined ? { to: null } : { to };
      const rows = { ...source.rows, calls, delegation };
      const { body } = await health({ readWallet: async () => ({ ...source, rows }) });
      expect(body.account).toMatchObject(account);
    },
  );

  it("knows no worth without a price, and says why", async () => {
    const tokens = { native: { symbol: "ETH", decimals: 18, prices: [] }, tokens: [] };
    const { body } = await health({ readWallet: async () => reportSource({ tokens }) });
    expect(body).toMatchObject({
      gas: { spent: { value_usd: null }, wasted: { wei: "180000000000000", value_usd: null } },
      prices: { native_usd: null, reason: "No feed prices the native coin." },
    });
  });

  it("does not show approvals that were not read as none", async () => {
    const { body } = await health({ readWallet: async () => reportSource({ approvals: null }) });
    expect([body.open_approvals, body.open_approvals_reason]).toEqual([
      null,
      "The approvals of the wallet were not read yet.",
    ]);
  });

  it("takes a token that others drew for proof that its approval is used", async () => {
    const asked: object[] = [];
    const token: Address = "0x00000000000000000000000000000000000000c0";
    const approval = {
      token,
      spender: token,
      kind: "amount",
      approvedAt: AS_OF_SECONDS - 100 * 86_400,
    } as const;
    const { body } = await health({
      readWallet: async () => reportSource({ approvals: [approval], calls: [] }),
      walletTransfers: {
        exchanges: async () => ({ sent: [], returned: [], truncated: false }),
        received: async () => ({ tokens: [], truncated: false }),
        drawnTokens: async (query) => {
          asked.push(query);
          return new Set([token]);
        },
      },
    });
    expect(JSON.stringify(body.open_approvals)).not.toContain("unused");
    expect(asked).toEqual([{ wallet: WALLET, throughBlock: 970, since: AS_OF_SECONDS - 90 * 86_400 }]);
  });
});

describe("a wallet outside the index", () => {
  it("is read from the history source first, and paid for", async () => {
    const order: string[] = [];
    const { response, keys } = await health({
      ...STRANGER,
      scoreOnDemand: async () => {
        order.push("history");
        return { kind: "stored", row: storedScore() };
      },
      readWallet: async () => {
        order.push("rows");
        return reportSource();
      },
    });
    expect([response.status, order, keys.balance()]).toEqual([200, ["history", "rows"], 4500]);
  });

  it("is 404 and free where it has sent no transaction", async () => {
    const { response, keys } = await health({
      ...{ ...STRANGER, hasSent: async () => false },
      scoreOnDemand: async () => {
        throw new Error("no history was expected");
      },
    });
    expect([response.status, keys.balance()]).toEqual([404, 5000]);
  });

  it("is 503 and free while its history is read", async () => {
    const { response, keys } = await health({
      ...STRANGER,
      scoreOnDemand: async () => ({ kind: "history-unavailable", detail: "soon", retryAfterSeconds: 5 }),
    });
    expect([response.status, response.headers.get("retry-after"), keys.balance()]).toEqual([503, "5", 5000]);
  });

  it("is not fetched for a wallet that the index follows", async () => {
    const { response } = await health({
      scoreOnDemand: async () => {
        throw new Error("no history was expected");
      },
    });
    expect(response.status).toBe(200);
  });
});
