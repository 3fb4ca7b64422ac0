import { describe, expect, test } from "vitest";
import { fakeComparison, LISTING, WALLET, WALLET_EIP55, walletSnapshot } from "../fake-ports.ts";
import { fakePublicPages, htmlOf as htmlOfPage, pagesApp } from "./fake-public-pages.ts";

const OTHER = "0x976EA74026E726554dB657fA54763abd0C3a0aa9";
const BOTH = `/compare?addresses=${WALLET_EIP55},${OTHER}`;
const BROWSER = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

async function ask(path: string, changes: Parameters<typeof fakePublicPages>[0] = {}) {
  const answer = await pagesApp(fakePublicPages(changes)).app.request(path, BROWSER);
  return { answer, html: await answer.text() };
}

/** Cells of a row by its name, without markup. */
function rowOf(html: string, name: string): readonly string[] {
  const row = html.split("<tr>").find((one) => one.startsWith(`<th scope="row">${name}</th>`)) ?? "";
  return row
    .split("<td>")
    .slice(1)
    .map((cell) => cell.replaceAll(/<[^>]*>/g, "").trim());
}

/** The first wallet is better in every respect. */
const UNEQUAL = fakeComparison({
  snapshot: async (address) => {
    const { score, ...rest } = walletSnapshot();
    if (score === null || address === WALLET) return { score, ...rest };
    return { ...rest, score: { ...score, ahsScore: 55, grade: "D", confidenceMicros: 500_000 } };
  },
});

describe("the page of a comparison", () => {
  test("marks the best value of each row in words, and none where all are equal", async () => {
    const { answer, html } = await ask(BOTH, { compare: UNEQUAL });
    expect(answer.status).toBe(200);
    expect(rowOf(html, "Score")).toEqual(["Grade B 84 Best", "Grade D 55"]);
    expect(rowOf(html, "Payments by default")).toEqual([
      "Settle at once by its grade Best",
      "Reject by its grade",
    ]);
    expect(rowOf(html, "Confidence")).toEqual(["High (81%) Best", "High (50%)"]);
    expect(rowOf(html, "Safe amount")).toEqual(["42.50 USD", "42.50 USD"]);
    expect(html).toContain("No feature sets the scores apart by 2 points or more.");
  });

  test("shows what is not known as such, never as zero, and a listing first", async () => {
    const { html } = await ask(BOTH, {
      compare: fakeComparison({
        snapshot: async (address) =>
          address === WALLET
            ? walletSnapshot({ score: null, followed: false })
            : walletSnapshot({ sanctions: [LISTING] }),
        backing: async () => null,
      }),
    });
    expect(rowOf(html, "Safe amount")).toEqual(["Not known", "Not known"]);
    expect(rowOf(html, "Confidence")).toEqual(["–", "High (100%)"]);
    expect(rowOf(html, "Why")[0]).toContain("the index does not follow the wallet");
    expect(rowOf(html, "Payments by default")[1]).toBe("Reject on a sanctions list");
    expect(html).toContain('<span class="chip alarm">Sanctioned</span>');
  });

  test("ranks no value of a sanctioned wallet, not even its full confidence", async () => {
    const { html } = await ask(BOTH, {
      compare: fakeComparison({
        snapshot: async (address) => walletSnapshot(address === WALLET ? {} : { sanctions: [LISTING] }),
      }),
    });
    expect(rowOf(html, "Confidence")).toEqual(["High (81%)", "High (100%)"]);
  });

  test("adds and removes wallets by its form and links, and has one URL for one choice", async () => {
    const { html } = await ask(BOTH);
    expect(html).toContain(`<input type="hidden" name="addresses" value="${WALLET_EIP55},${OTHER}">`);
    expect(html).toContain(`href="/compare?addresses=${OTHER}"`);
    const sent = `/compare?addresses=${WALLET}%2C${OTHER}&addresses=${WALLET}%20${OTHER.toLowerCase()}`;
    const { answer } = await ask(sent);
    expect([answer.status, answer.headers.get("location")]).toEqual([303, BOTH]);
    expect((await ask(BOTH.replace(",", "%2C"))).answer.status).toBe(200);
  });

  test("without two wallets is the form, in which a fault is named and the rest stays", async () => {
    expect((await ask("/compare")).html).toContain("Addresses of wallets");
    const one = await ask(`/compare?addresses=${WALLET_EIP55}`);
    expect([one.answer.status, one.html.includes("Add a wallet")]).toEqual([200, true]);
    const hostile = await ask(`/compare?addresses=${WALLET_EIP55},${encodeURIComponent("<script>")}`);
    expect(hostile.answer.status).toBe(422);
    expect(hostile.html).toContain("got &lt;script&gt;.");
    expect(hostile.html).toContain(`value="${WALLET_EIP55}"`);
    const many = Array.from({ length: 11 }, (_, place) => `0x${String(place).padStart(40, "0")}`);
    const crowd = await ask(`/compare?addresses=${many}`);
    expect([crowd.answer.status, crowd.html.includes("Expected at most 10 wallets, got 11.")]).toEqual([
      422,
      true,
    ]);
  });

  test("shares its path with the endpoint: programs get JSON, and caches keep both apart", async () => {
    const { app } = pagesApp(fakePublicPages());
    const [page, json] = [await app.request(BOTH, BROWSER), await app.request(BOTH)];
    const facts = [page, json].map(({ headers }) => [headers.get("content-type"), headers.get("vary")]);
    expect(facts).toEqual([
      ["text/html; charset=utf-8", expect.stringContaining("Accept, ")],
      ["application/json", expect.stringMatching(/^Accept\b/)],
    ]);
    const refused = await app.request("/compare", { method: "POST", ...BROWSER });
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  test("is reached from a wallet and from ticks on the leaderboard", async () => {
    expect(await htmlOfPage(`/wallet/${WALLET_EIP55}`)).toContain(
      `href="/compare?addresses=${WALLET_EIP55}"`,
    );
    const leaderboard = await htmlOfPage("/leaderboard");
    expect(leaderboard).toContain('<form class="actions" id="compare" action="/compare" method="get">');
    expect(leaderboard).toContain(`form="compare" name="addresses" value="${WALLET_EIP55}"`);
  });
});
