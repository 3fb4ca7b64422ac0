import { describe, expect, it } from "vitest";
import { washSchema } from "../../../../service/api/routes/post-wash.ts";
import { account } from "../../model/features/histories.ts";
import { bodyOf, fakeApp, LISTING, WALLET, WALLET_EIP55, WITH_KEY, walletSnapshot } from "../fake-ports.ts";
import { AS_OF_SECONDS, reportSource } from "../report-source.ts";

const PATH = `/wash/${WALLET}`;
const POST = { ...WITH_KEY, method: "POST" };
type Changes = Parameters<typeof fakeApp>[0];

async function wash(changes: Changes = {}) {
  const fake = fakeApp(changes);
  const response = await fake.app.request(PATH, POST);
  return { ...fake, response, body: await bodyOf<Record<string, unknown>>(response) };
}

const SPAMMED: Changes = {
  walletTransfers: {
    exchanges: async () => ({ sent: [], returned: [], truncated: false }),
    received: async () => ({
      truncated: true,
      tokens: Array.from({ length: 150 }, (_, i) => ({
        token: account(0xbad0 + i),
        standard: "erc20" as const,
        transfers: 1,
        senders: 1,
        amount: 5n,
        lastAt: AS_OF_SECONDS,
      })),
    }),
    drawnTokens: async () => new Set(),
  },
};

describe("POST /wash/{address}", () => {
  it("answers a score whose deductions add up, for half a dollar and without a body", async () => {
    const { response, body, keys, read } = await wash();
    expect(response.status).toBe(200);
    expect(washSchema.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      address: WALLET_EIP55,
      cleanliness_score: 100,
      cleanliness_range: { lowest: 100, highest: 100 },
      cleanliness_reason: null,
      sanctions_flags: [],
      summary: "Cleanliness 100 of 100. No findings.",
      issues: [],
      received: { spam_tokens: 0, left_out: 0 },
      self_dealing: { own_share: 0, is_pattern: false, circles: [] },
    });
    expect(keys.balance()).toBe(4500);
    expect(read).toEqual([WALLET]);
  });

  it("lists what strangers sent and takes nothing for it", async () => {
    const { body } = await wash(SPAMMED);
    expect(body).toMatchObject({
      cleanliness_score: 100,
      issues_by_severity: { critical: 0, warning: 0, info: 1 },
      received: { spam_tokens: 150, transfers: 150, truncated: true, left_out: 50 },
    });
  });

  it("takes points for an approval to a young spender, with an action", async () => {
    const approval = {
      token: account(0xc0),
      spender: account(71),
      kind: "amount",
      approvedAt: AS_OF_SECONDS,
    } as const;
    const source = reportSource();
    const rows = { ...source.rows, approvals: [approval] };
    const { body } = await wash({ readWallet: async () => ({ ...source, rows }) });
    expect(body).toMatchObject({
      cleanliness_score: 90,
      issues: [{ category: "approvals", severity: "critical", action: expect.stringContaining("Revoke") }],
      open_approvals: [{ risks: ["young", "unknown"], spender_facts: null }],
    });
  });

  it("gives a listed wallet no score, and shows the listing", async () => {
    const { body } = await wash({
      scores: { snapshot: async () => walletSnapshot({ sanctions: [LISTING] }) },
    });
    expect(body).toMatchObject({
      ...{ cleanliness_score: null, cleanliness_range: null, cleanliness_reason: "sanctioned" },
      ...{ sanctions_flags: [LISTING], summary: expect.stringContaining("sanctions list") },
    });
  });

  it("has no score but a range where approvals were not read", async () => {
    const { body } = await wash({ readWallet: async () => reportSource({ approvals: null }) });
    expect(body).toMatchObject({
      cleanliness_score: null,
      cleanliness_reason: "not_read",
      cleanliness_range: { lowest: 70, highest: 100 },
      open_approvals: null,
    });
  });
});
