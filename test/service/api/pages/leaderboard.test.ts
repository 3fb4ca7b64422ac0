import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { searchFor, shownQuery } from "../../../../service/api/pages/search.ts";
import { rankOf } from "../../../../service/reports/report-card.ts";
import type { ListQuery } from "../../../../service/scores/leaderboard.ts";
import { WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { fakePublicPages, htmlOf, NO_NAMES, pagesApp, rankedWallet } from "./fake-public-pages.ts";

const HOSTILE = '<img src=x onerror=alert(1)>"\u202Egnp.exe\u0000';

function appOf(changes: Parameters<typeof fakePublicPages>[0] = {}) {
  return pagesApp(fakePublicPages(changes)).app;
}

/** Reads of one page, of so many wallets. */
function ranks(wallets: number) {
  const asked: ListQuery[] = [];
  const list = async (query: ListQuery) => {
    asked.push(query);
    return Array.from({ length: Math.min(wallets, query.limit) }, (_, index) =>
      rankedWallet({ wallet: `0x${String(index).padStart(40, "0")}` }),
    );
  };
  const none = async () => [];
  const leaderboard = { list, byPrefix: none, byName: async () => NO_NAMES, byAgentId: async () => [] };
  return { asked, leaderboard };
}

describe("a search", () => {
  test.each([
    [WALLET_EIP55, { address: WALLET }],
    [WALLET.slice(2), { address: WALLET, name: WALLET.slice(2) }],
    [`0X${WALLET.slice(2).toUpperCase()}`, { address: WALLET }],
    ["0xAb", { prefix: "0xab" }],
    ["0x", { prefix: "0x" }],
    ["abc", { name: "abc" }],
    ["abcd", { prefix: "0xabcd", name: "abcd" }],
    ["#12", { agentId: 12n, name: "#12" }],
    ["1234", { prefix: "0x1234", agentId: 1234n, name: "1234" }],
    ["9".repeat(78), { name: "9".repeat(78) }],
    [`${WALLET}0`, { name: `${WALLET}0` }],
    ["0xyz", { name: "0xyz" }],
  ])("for %j looks for all that it can be", (query, expected) => {
    const nothing = { address: null, prefix: null, agentId: null, name: null };
    expect(searchFor(query)).toEqual({ ...nothing, ...expected });
  });

  test("keeps nothing that is not seen, and no more than a line", () => {
    expect(shownQuery(" a\u0000\u202E \n b\uD800 ")).toBe("a b");
    expect(shownQuery("x".repeat(10_000))).toHaveLength(128);
    expect(shownQuery(`${"x".repeat(127)}\u{1F600}`)).toBe("x".repeat(127));
  });

  test("for a whole address leads to its page", async () => {
    const answer = await appOf().request(`/leaderboard?q=${WALLET}`);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, `/wallet/${WALLET_EIP55}`]);
  });

  test("by name goes on for as many pages as it looks at, and says where there may be more", async () => {
    const parts: unknown[] = [];
    const found = { agentId: 7n, registry: null, name: "Atlas", wallet: WALLET, ranked: rankedWallet() };
    const leaderboard = {
      ...ranks(0).leaderboard,
      byName: async (_name: string, part: unknown) => {
        parts.push(part);
        return { agents: [found], total: 2_000, isCut: true };
      },
    };
    const first = await htmlOf("/leaderboard?q=at%20las", { leaderboard });
    const next = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replace("&amp;", "&");
    expect(next).toBe("/leaderboard?q=at%20las&page=2");
    expect(first).not.toContain("There may be more");
    await htmlOf(next ?? "", { leaderboard });
    expect(first).toContain('<a href="/leaderboard">Back to the leaderboard</a>');
    const last = await htmlOf("/leaderboard?q=at%20las&page=40", { leaderboard });
    expect(last).toContain('rel="prev" href="/leaderboard?q=at%20las&amp;page=39"');
    expect(last).not.toContain('rel="next"');
    expect(last).toContain("There may be more results. A longer query narrows them down.");
    expect(parts).toEqual([0, 50, 1950].map((offset) => ({ offset, limit: 50 })));
    for (const page of ["41", "0", "x"])
      expect((await appOf({ leaderboard }).request(`/leaderboard?q=at&page=${page}`)).status).toBe(400);
  });

  test("shows a hostile query and a hostile name as text, and says that names are unchecked", async () => {
    const found = { agentId: 7n, registry: null, name: HOSTILE, wallet: WALLET, ranked: rankedWallet() };
    const html = await htmlOf(`/leaderboard?q=${encodeURIComponent('"><script>')}`, {
      leaderboard: {
        ...ranks(0).leaderboard,
        byName: async () => ({ agents: [found], total: 1, isCut: false }),
      },
    });
    expect(html).toContain("<bdi>&lt;img src=x onerror=alert(1)&gt;&quot;gnp.exe</bdi>");
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;"');
    for (const sign of ["<script>", "<img", "\u202E", "\u0000"]) expect(html).not.toContain(sign);
    expect(html).toContain("are not verified");
  });

  test("shows a wallet once, however many of its agents are found", async () => {
    const found = (agentId: bigint) => ({
      agentId,
      registry: null,
      name: "Twin",
      wallet: WALLET,
      ranked: rankedWallet(),
    });
    const registry = { name: "Agent Bazaar", address: WALLET };
    const agents = [found(1n), { ...found(2n), registry }];
    const html = await htmlOf("/leaderboard?q=twin", {
      leaderboard: { ...ranks(0).leaderboard, byName: async () => ({ agents, total: 2, isCut: false }) },
    });
    expect(html.match(/<tr><td class="who">/g)).toHaveLength(1);
    expect(html).toMatch(/#1<\/span>.*#2 in Agent Bazaar<\/span>/s);
  });

  test("shows no name that could be taken for another's", async () => {
    const html = await htmlOf("/leaderboard", {
      agentNames: async () => new Map([[WALLET, [{ agentId: 7n, registry: null, name: "C\u043Einbase" }]]]),
    });
    expect(html).toContain("unnamed agent");
    expect(html).not.toContain("inbase");
  });

  test("says so where nothing is found, and shows an agent without a wallet as one", async () => {
    expect(await htmlOf("/leaderboard?q=nobody")).toContain("Nothing was found.");
    const html = await htmlOf("/leaderboard?q=5", {
      leaderboard: {
        ...ranks(0).leaderboard,
        byAgentId: async () => [{ agentId: 5n, registry: null, name: null, wallet: null, ranked: null }],
      },
    });
    expect(html).toContain("no wallet");
    expect(html).toContain("unnamed agent");
    expect(html).toContain("never scored");
  });
});

describe("the leaderboard", () => {
  test("ranks by how many are better, so that equal scores share a rank", () => {
    const distribution = [
      { score: 40, wallets: 5 },
      { score: 84, wallets: 2 },
      { score: 90, wallets: 3 },
    ];
    expect([rankOf(90, distribution), rankOf(84, distribution), rankOf(40, distribution)]).toEqual([1, 4, 6]);
    expect(rankOf(null, distribution)).toBeNull();
  });

  test("goes on page by page within its filters and order, and links its CSV", async () => {
    const { asked, leaderboard } = ranks(51);
    const html = await htmlOf("/leaderboard?grade=b&confidence=high&sort=d1", { leaderboard });
    const next = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    expect(next).toBe("/leaderboard?grade=B&confidence=HIGH&sort=d1&page=2");
    expect(html).toContain('href="/leaderboard.csv?grade=B&amp;confidence=HIGH&amp;sort=d1"');
    expect(html).toContain('<th scope="col" aria-sort="descending">');
    await htmlOf(next ?? "", { leaderboard });
    const query = { confidence: "HIGH", order: "d1", isRising: false, limit: 51 };
    expect(asked).toEqual(
      [0, 50].map((offset) => ({ ...query, scope: { kind: "scored", from: 75, to: 89 }, offset })),
    );
    expect(html.match(/<tr><td data-name="Rank">/g)).toHaveLength(50);
  });

  test("is a table for programs, in which no name is a formula", async () => {
    const answer = await appOf({
      agentNames: async () => new Map([[WALLET, [{ agentId: 7n, registry: null, name: '=1+"a"' }]]]),
    }).request("/leaderboard.csv?show=sanctioned");
    expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect((await answer.text()).split("\r\n")[1]).toBe(
      `1,${WALLET_EIP55},7,"'=1+""a""",,84,B,71,93,81,0.81,HIGH,2026-11-20T09:00:00.000Z,false`,
    );
  });

  test("marks a wallet that was listed after its score", async () => {
    const html = await htmlOf("/leaderboard", {
      sanctionedAmong: async () => new Set<Address>([WALLET]),
    });
    expect(html).toContain('<span class="chip alarm">Sanctioned</span>');
  });

  test("says so if no wallet has a score, or the grade", async () => {
    expect(await htmlOf("/leaderboard", ranks(0))).toContain("No wallet has a score yet.");
    expect(await htmlOf("/leaderboard?grade=c", ranks(0))).toContain(
      "No wallet has grade C, a score of 60 to 74.",
    );
  });

  test.each(["page=101", "sort=name", "grade=Z", "show=all", "confidence=INSUFFICIENT", "dir=up"])(
    "refuses %s in words",
    async (query) => {
      const answer = await appOf().request(`/leaderboard?${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("Request malformed");
    },
  );
});
