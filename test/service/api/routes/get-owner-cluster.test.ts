import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import type { OwnerClusterAnswer } from "../../../../service/api/routes/get-owner-cluster.ts";
import { toEip55 } from "../../../../service/api/schemas/values.ts";
import type { OwnerCluster } from "../../../../service/reports/network/owner-cluster.ts";
import { account } from "../../model/features/histories.ts";
import {
  BACKING,
  bodyOf,
  fakeApp,
  fakeBacking,
  fakePorts,
  LISTING,
  WALLET,
  WALLET_EIP55,
  walletSnapshot,
} from "../fake-ports.ts";

const PATH = `/owner-cluster/${WALLET}`;
const [FUNDER, LISTED, NEW] = [account(0xf1), account(0xa2), account(0xa3)];

const CLUSTER: OwnerCluster = {
  wallets: [
    { address: WALLET, lastActiveAt: new Date("2026-11-20T09:00:00Z"), link: "itself", evidence: [] },
    {
      ...{ address: LISTED, lastActiveAt: null, link: "first_funder" },
      evidence: [
        { kind: "first_funder", from: FUNDER, to: LISTED },
        { kind: "first_funder", from: FUNDER, to: WALLET },
      ],
    },
    {
      ...{ address: NEW, lastActiveAt: null, link: "creator" },
      evidence: [{ kind: "creator", from: WALLET, to: NEW }],
    },
  ],
  leftOut: 0,
  cut: false,
};

/** Three wallets of one owner: a good one, a listed one and one without a score; only the first two have a backing. */
function clusterApp(changes: Partial<OwnerCluster> = {}) {
  const snapshots: Readonly<Record<Address, ReturnType<typeof walletSnapshot>>> = {
    [WALLET]: walletSnapshot(),
    [LISTED]: walletSnapshot({ sanctions: [LISTING] }),
    [NEW]: walletSnapshot({ score: null }),
  };
  const { ledger } = fakeBacking();
  return fakeApp({
    readOwnerCluster: async () => ({ ...CLUSTER, ...changes }),
    scores: { snapshot: async (address) => snapshots[address] ?? walletSnapshot() },
    backing: {
      ...ledger,
      read: async (address) =>
        address === NEW ? null : { ...BACKING, safeMicroUsd: address === LISTED ? 0n : BACKING.safeMicroUsd },
    },
    describeAccounts: async () =>
      new Map([
        [
          WALLET,
          {
            ...{ address: WALLET, hasCode: false, score: null, sanctions: [] },
            agents: [{ agentId: 142n, name: "keeper", registry: { name: "Agent Bazaar", address: FUNDER } }],
          },
        ],
      ]),
  }).app;
}

const AGENT = {
  ...{ agent_id: "142", name: "keeper" },
  registry: { name: "Agent Bazaar", address: toEip55(FUNDER) },
};
const SCORED = { scored_at: "2026-11-20T09:59:00.000Z", stale: false };

describe("GET /owner-cluster/{address}", () => {
  it("lists the wallets with state and evidence, and sums them up, without a key", async () => {
    const response = await clusterApp().request(PATH);
    expect([response.status, await bodyOf<OwnerClusterAnswer>(response)]).toEqual([
      200,
      {
        ...{ address: WALLET_EIP55, chain_id: 31337, truncated: false },
        note: expect.stringContaining("evidence of one owner, not proof"),
        summary: {
          wallets: 3,
          grades: { A: 0, B: 1, C: 0, D: 0, E: 0, F: 1, none: 1 },
          ...{ worst_grade: "F", sanctioned: 1, safe_amount_usd: 42.5 },
        },
        left_out: { wallets: 0, at_least: false },
        wallets: [
          {
            ...{ address: WALLET_EIP55, agents: [AGENT] },
            ...{ ahs_score: 84, grade: "B", confidence: 0.81, confidence_level: "HIGH", ...SCORED },
            ...{ trust_routing: "instant_settle", sanctioned: false, safe_amount_usd: 42.5 },
            ...{ last_active_at: "2026-11-20T09:00:00.000Z", owner_link: "itself", evidence: [] },
          },
          {
            ...{ address: toEip55(LISTED), agents: [] },
            ...{ ahs_score: 0, grade: "F", confidence: 1, confidence_level: "HIGH", ...SCORED },
            ...{ trust_routing: "reject", sanctioned: true, safe_amount_usd: 0 },
            ...{ last_active_at: null, owner_link: "first_funder" },
            evidence: [
              { kind: "first_funder", from: toEip55(FUNDER), to: toEip55(LISTED) },
              { kind: "first_funder", from: toEip55(FUNDER), to: WALLET_EIP55 },
            ],
          },
          {
            ...{ address: toEip55(NEW), agents: [] },
            ...{ ahs_score: null, grade: null, confidence: 0, confidence_level: "INSUFFICIENT" },
            ...{ scored_at: null, stale: null, trust_routing: "escrow", sanctioned: false },
            ...{ safe_amount_usd: null, last_active_at: null, owner_link: "creator" },
            evidence: [{ kind: "creator", from: WALLET_EIP55, to: toEip55(NEW) }],
          },
        ],
      },
    ]);
  });

  it("says what is left out, and does not take unknown safe amounts for zero", async () => {
    const wallets = CLUSTER.wallets.slice(2);
    const body = await bodyOf<OwnerClusterAnswer>(
      await clusterApp({ wallets, leftOut: 7, cut: true }).request(PATH),
    );
    expect(body).toMatchObject({
      ...{ truncated: true, left_out: { wallets: 7, at_least: true } },
      summary: { wallets: 1, safe_amount_usd: null },
    });
  });

  it.each([
    [404, walletSnapshot({ followed: false })],
    [503, walletSnapshot({ head: null })],
    [503, walletSnapshot({ head: { blockNumber: 1, timestamp: 1 } })],
  ])("is %s where the wallet or the lists of now are unknown", async (status, state) => {
    const { ports } = fakePorts();
    const { app } = fakeApp({
      scores: { ...ports.scores, snapshot: async () => state },
      readOwnerCluster: () => {
        throw new Error("nothing was to be read");
      },
    });
    expect((await app.request(PATH)).status).toBe(status);
  });
});
