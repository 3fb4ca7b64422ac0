import { describe, expect, test } from "vitest";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import type { OwnerClusterAnswer } from "../../../../service/api/routes/get-owner-cluster.ts";
import { toEip55 } from "../../../../service/api/schemas/values.ts";
import { account } from "../../model/features/histories.ts";
import { WALLET, WALLET_EIP55, walletSnapshot } from "../fake-ports.ts";
import { fakePublicPages, htmlOf, pagesApp } from "./fake-public-pages.ts";

const PATH = `/wallet/${WALLET_EIP55}/owner`;
const [FUNDER, SIBLING] = [toEip55(account(0xf1)), toEip55(account(0xa2))];

const ITSELF: OwnerClusterAnswer["wallets"][number] = {
  ...{ address: WALLET_EIP55, agents: [], ahs_score: 84, grade: "B" },
  ...{ confidence: 0.81, confidence_level: "HIGH", scored_at: "2026-11-20T09:59:00.000Z", stale: false },
  ...{ trust_routing: "instant_settle", sanctioned: false, safe_amount_usd: 42.509999 },
  ...{ last_active_at: "2026-11-20T09:00:00.000Z", owner_link: "itself", evidence: [] },
};

const LISTED: OwnerClusterAnswer["wallets"][number] = {
  ...{ ...ITSELF, address: SIBLING, agents: [], ahs_score: 0, grade: "F", trust_routing: "reject" },
  ...{ sanctioned: true, safe_amount_usd: null, last_active_at: null, owner_link: "first_funder" },
  evidence: [
    { kind: "first_funder", from: FUNDER, to: SIBLING },
    { kind: "first_funder", from: FUNDER, to: WALLET_EIP55 },
  ],
};

function clusterOf(
  wallets: OwnerClusterAnswer["wallets"],
  left: OwnerClusterAnswer["left_out"] = { wallets: 0, at_least: false },
): Partial<PagePorts> {
  const answer: OwnerClusterAnswer = {
    ...{ address: WALLET_EIP55, chain_id: 31337, note: "Evidence, not proof.", wallets },
    summary: {
      ...{ wallets: wallets.length, grades: { A: 0, B: 1, C: 0, D: 0, E: 0, F: 1, none: 0 } },
      ...{ worst_grade: "F", sanctioned: 1, safe_amount_usd: 42.5 },
    },
    ...{ truncated: left.wallets > 0 || left.at_least, left_out: left },
  };
  const agentNames = async () => new Map([[WALLET, [{ agentId: 142n, name: "<keeper>", registry: null }]]]);
  return { ownerCluster: async () => answer, agentNames };
}

describe("the owner of a wallet", () => {
  test("is shown by its wallets, their sum, and the evidence of each link, which is no proof", async () => {
    const html = await htmlOf(PATH, clusterOf([ITSELF, LISTED]));
    expect(html).toContain('<p class="notice">Evidence, not proof.</p>');
    expect(html).toContain("&lt;keeper&gt;");
    expect(html).toContain('data-name="Safe amount">42.50 USD</td>');
    expect(html).toMatch(
      new RegExp(`href="/wallet/${FUNDER}".*</a> first funded <a.*href="/wallet/${SIBLING}"`, "s"),
    );
    expect(html).toContain('<span class="chip alarm">1 wallet</span>');
    expect(html).toContain('<td class="number" data-name="Safe amount">not known</td>');
    expect(html).toContain(`<a href="${PATH}" aria-current="page">Owner</a>`);
    expect(html).not.toContain("not shown");
  });

  test("is said to be unknown where no other wallet is, and where the index does not follow it", async () => {
    expect(await htmlOf(PATH, clusterOf([ITSELF]))).toContain("No other followed wallet is known");
    const { wallets } = fakePublicPages();
    const html = await htmlOf(PATH, {
      wallets: { ...wallets, snapshot: async () => walletSnapshot({ followed: false }) },
    });
    expect(html).toContain("The index does not follow this wallet");
  });

  test("says what is left out of a long list", async () => {
    const html = await htmlOf(PATH, clusterOf([ITSELF, LISTED], { wallets: 401, at_least: true }));
    expect(html).toContain("At least 401 wallets more are linked and not shown.");
    expect(html).toContain("may be a service");
  });

  test("goes to the address in EIP-55", async () => {
    const moved = await pagesApp(fakePublicPages()).app.request(`/wallet/${WALLET}/owner`);
    expect([moved.status, moved.headers.get("location")]).toEqual([308, PATH]);
  });
});
