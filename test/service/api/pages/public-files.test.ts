import { describe, expect, test } from "vitest";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { CardsOverloaded } from "../../../../service/api/report-card/render-pool.ts";
import { LISTING, NOW, WALLET, WALLET_EIP55, walletSnapshot } from "../fake-ports.ts";
import { fakePublicPages, pagesApp } from "./fake-public-pages.ts";

function requestOf(path: string, changes: Partial<PagePorts> = {}): Promise<Response> {
  return Promise.resolve(pagesApp(fakePublicPages(changes)).app.request(path));
}

function walletsWith(changes: Parameters<typeof walletSnapshot>[0]): Partial<PagePorts> {
  const { wallets } = fakePublicPages();
  return { wallets: { ...wallets, snapshot: async () => walletSnapshot(changes) } };
}

describe("a badge", () => {
  test.each([
    ["the grade and score", {}, "agent health: B 84"],
    ["a listing instead of the score", { sanctions: [LISTING] }, "agent health: F 0"],
    ["no score", { score: null }, "agent health: no score"],
  ])("shows %s, on any site", async (_, changes, words) => {
    const answer = await requestOf(`/badge/${WALLET_EIP55}.svg`, walletsWith(changes));
    expect(answer.headers.get("content-type")).toBe("image/svg+xml");
    expect(answer.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
    expect(await answer.text()).toContain(`<title>${words}</title>`);
  });

  test.each(["0x12.svg", `${WALLET_EIP55}.png`, "%3Cscript%3E.svg"])("is a 404 for %s", async (file) => {
    expect((await requestOf(`/badge/${file}`)).status).toBe(404);
  });
});

describe("the picture of a link preview", () => {
  test("has the name and the score of a wallet, and the service's own words elsewhere", async () => {
    const drawn: unknown[] = [];
    const drawPreview: PagePorts["drawPreview"] = async (view) => {
      drawn.push(view);
      return new Uint8Array([1]);
    };
    const card = {
      ...{
        agentId: 3n,
        registry: null,
        registeredBlock: 9,
        name: "Atlas 漢",
        description: null,
        services: [],
        state: "current" as const,
      },
      registeredAt: NOW,
    };
    const { wallets } = fakePublicPages();
    const agents = async () => ({ cards: [card], agents: 1 });
    for (const path of [`/og/${WALLET_EIP55}.png`, "/og.png"]) {
      const answer = await requestOf(path, { drawPreview, wallets: { ...wallets, agents } });
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
    }
    expect(drawn).toMatchObject([
      { title: "Atlas", reading: { score: 84, grade: "B", label: "Good" } },
      { title: "Know an agent before you pay it", reading: null },
    ]);
  });

  test("is refused for some seconds while too many are drawn", async () => {
    const drawPreview = () => Promise.reject(new CardsOverloaded("17 wait"));
    const answer = await requestOf("/og.png", { drawPreview });
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
  });
});

test("the feed has an entry for each change of grade, and the sitemap each public page", async () => {
  const transactionHash = `0x${"ab".repeat(32)}` as const;
  const changes: Partial<PagePorts> = {
    gradeChanges: async () => [{ wallet: WALLET, from: null, to: "D", at: NOW, transactionHash }],
  };
  const feed = await (await requestOf("/feed.xml", changes)).text();
  expect(feed).toMatch(
    /^<\?xml version="1.0" encoding="utf-8"\?>\n<feed xmlns="http:\/\/www.w3.org\/2005\/Atom">/,
  );
  expect(feed).toContain(`<id>https://health.example/wallet/${WALLET_EIP55}#${transactionHash}</id>`);
  expect(feed).toContain(`<updated>${NOW.toISOString()}</updated>`);
  const sitemap = await (await requestOf("/sitemap.xml")).text();
  expect(sitemap).toContain(`<url><loc>https://health.example/wallet/${WALLET_EIP55}</loc></url>`);
});
