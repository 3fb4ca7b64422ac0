import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { rankOf, searchFor, shownQuery } from "../../../../service/api/pages/leaderboard.ts";
import type { RankQuery } from "../../../../service/scores/leaderboard.ts";
import { WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { fakePublicPages, htmlOf, NO_NAMES, pagesApp, rankedWallet } from "./fake-public-pages.ts";

const HOSTILE = '<img src=x onerror=alert(1)>"\u202Egnp.exe\u0000';

function appOf(changes: Parameters<typeof fakePublicPages>[0] = {}) {
  return pagesApp(fakePublicPages(changes)).app;
}

/** Reads of one page, of so many wallets. */
function ranks(wallets: number) {
  const asked: RankQuery[] = [];
  const page = async (query: RankQuery) => {
    asked.push(query);
    return Array.from({ length: Math.min(wallets, query.limit) }, (_, index) =>
      rankedWallet({ wallet: `0x${String(index).padStart(40, "0")}` }),
    );
  };
  const none = async () => [];
  const leaderboard = { page, byPrefix: none, byName: async () => NO_NAMES, byAgentId: async () => null };
  return { asked, leaderboard };
}

describe("a search", () => {
  test.each([
    ["", { kind: "all" }],
    [WALLET_EIP55, { kind: "address", address: WALLET }],
    [`0X${WALLET.slice(2).toUpperCase()}`, { kind: "address", address: WALLET }],
    ["0xAb", { kind: "prefix", prefix: "0xab" }],
    ["0x", { kind: "prefix", prefix: "0x" }],
    ["#12", { kind: "agent", agentId: 12n, name: "#12" }],
    ["9".repeat(78), { kind: "name", name: "9".repeat(78) }],
    [`${WALLET}0`, { kind: "name", name: `${WALLET}0` }],
    ["0xyz", { kind: "name", name: "0xyz" }],
  ])("for %j looks for what that can be", (query, expected) => {
    expect(searchFor(query)).toEqual(expected);
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
    const found = { agentId: 7n, name: "Atlas", wallet: WALLET, ranked: rankedWallet() };
    const leaderboard = {
      ...ranks(0).leaderboard,
      byName: async (_name: string, part: unknown) => {
        parts.push(part);
        return { agents: [found], total: 1_000, isCut: true };
      },
    };
    const first = await htmlOf("/leaderboard?q=at%20las", { leaderboard });
    const next = /rel="next" href="([^"]+)"/.exec(first)?.[1]?.replace("&amp;", "&");
    expect(next).toBe("/leaderboard?q=at%20las&page=2");
    expect(first).not.toContain("There may be more");
    await htmlOf(next ?? "", { leaderboard });
    expect(first).toContain("The best scores first.");
    expect(first).toContain('<a href="/leaderboard">Back to all wallets by score</a>');
    const last = await htmlOf("/leaderboard?q=at%20las&page=20", { leaderboard });
    expect(last).toContain('rel="prev" href="/leaderboard?q=at%20las&amp;page=19"');
    expect(last).not.toContain('rel="next"');
    expect(last).toContain("There may be more; a longer query narrows them down.");
    expect(parts).toEqual([0, 50, 950].map((offset) => ({ offset, limit: 50 })));
    for (const page of ["21", "0", "x"])
      expect((await appOf({ leaderboard }).request(`/leaderboard?q=at&page=${page}`)).status).toBe(400);
  });

  test("shows a hostile query and a hostile name as text, and says that names are unchecked", async () => {
    const found = { agentId: 7n, name: HOSTILE, wallet: WALLET, ranked: rankedWallet() };
    const html = await htmlOf(`/leaderboard?q=${encodeURIComponent('"><script>')}`, {
      leaderboard: {
        ...ranks(0).leaderboard,
        byName: async () => ({ agents: [found], total: 1, isCut: false }),
      },
    });
    expect(html).toContain("<bdi>&lt;img src=x onerror=alert(1)&gt;&quot;gnp.exe</bdi>");
    expect(html).toContain('value="&quot;&gt;&lt;script&gt;"');
    for (const sign of ["<script>", "<img", "\u202E", "\u0000"]) expect(html).not.toContain(sign);
    expect(html).toContain("they are not verified");
  });

  test("shows no name that could be taken for another's", async () => {
    const html = await htmlOf("/leaderboard", {
      agentNames: async () => new Map([[WALLET, [{ agentId: 7n, name: "C\u043Einbase" }]]]),
    });
    expect(html).toContain("unnamed agent");
    expect(html).not.toContain("inbase");
  });

  test("says so where nothing is found, and shows an agent without a wallet as one", async () => {
    expect(await htmlOf("/leaderboard?q=nobody")).toContain("Nothing was found.");
    const html = await htmlOf("/leaderboard?q=5", {
      leaderboard: {
        ...ranks(0).leaderboard,
        byAgentId: async () => ({ agentId: 5n, name: null, wallet: null, ranked: null }),
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

  test("goes on behind the last wallet that it showed, within the grade", async () => {
    const { asked, leaderboard } = ranks(51);
    const html = await htmlOf("/leaderboard?grade=B", { leaderboard });
    const next = /href="(\/leaderboard\?grade=B&amp;after=[^"]+)"/.exec(html)?.[1]?.replace("&amp;", "&");
    expect(next).toBe(`/leaderboard?grade=B&after=84-810000-0x${"49".padStart(40, "0")}`);
    await htmlOf(next ?? "", { leaderboard });
    expect(asked).toEqual([
      { scores: [75, 89], after: null, limit: 51 },
      {
        scores: [75, 89],
        after: { ahsScore: 84, confidenceMicros: 810_000, wallet: `0x${"49".padStart(40, "0")}` },
        limit: 51,
      },
    ]);
    expect(html.match(/<tr><td data-name="Rank">/g)).toHaveLength(50);
  });

  test("marks a wallet that was listed after its score, and refuses payments to it", async () => {
    const html = await htmlOf("/leaderboard", {
      sanctionedAmong: async () => new Set<Address>([WALLET]),
    });
    expect(html).toContain("Sanctioned");
    expect(html).toContain("Reject");
    expect(html).not.toContain("Settle at once");
  });

  test("says so if no wallet has a score, or the grade", async () => {
    expect(await htmlOf("/leaderboard", ranks(0))).toContain("No wallet has a score yet.");
    expect(await htmlOf("/leaderboard?grade=c", ranks(0))).toContain(
      "No wallet has grade C, a score of 60 to 74.",
    );
  });

  test.each(["after=1", `after=101-0-${WALLET}`, "grade=Z", `after=84-1-${WALLET}'--`])(
    "refuses %s in words",
    async (query) => {
      const answer = await appOf().request(`/leaderboard?${query}`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("Request malformed");
    },
  );
});
