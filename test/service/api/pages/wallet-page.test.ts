import { describe, expect, test } from "vitest";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { BACKING, LISTING, PHISHING, WALLET, WALLET_EIP55, walletSnapshot } from "../fake-ports.ts";
import { fakePublicPages, htmlOf, pagesApp } from "./fake-public-pages.ts";

const PATH = `/wallet/${WALLET_EIP55}`;

/** Ports whose wallet has this standing. */
function walletsWith(changes: Parameters<typeof walletSnapshot>[0]): Partial<PagePorts> {
  const { wallets } = fakePublicPages();
  return { wallets: { ...wallets, snapshot: async () => walletSnapshot(changes) } };
}

describe("the public page of a wallet", () => {
  test("is its score, how payments go by default, and how to check both, and nothing of what is paid for", async () => {
    const answer = await pagesApp(fakePublicPages()).app.request(PATH);
    const html = await answer.text();
    expect(html).toContain("84 on a scale of 0 to 100, grade B");
    expect(html).toContain("Settle at once");
    expect(html).toContain("1 of 1");
    expect(html).toContain(`/inputs/0x${"22".repeat(32)}`);
    expect(html).toContain(`verify-score ${WALLET_EIP55}`);
    expect(html).toContain("eth_call");
    expect(html).toContain(`<a href="${PATH}/score"><b>Score</b> <span class="price">1.00 USD</span></a>`);
    expect(html).toContain(
      `<meta property="og:image" content="https://health.example/og/${WALLET_EIP55}.png">`,
    );
    expect(html).toContain(`<link rel="canonical" href="https://health.example${PATH}">`);
    expect(html).toMatch(/<title>Wallet 0x996550…B0A4dc: Score 84, grade B · Agent Health<\/title>/);
    expect(html).not.toMatch(/hygiene|Behavioural|success rate|<form class="buy"|d1_score/i);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=30");
    expect(answer.headers.get("vary")).toBe("Cookie");
  });

  test("says which model version a score is of, and whether it is another one than today's", async () => {
    const { wallets } = fakePublicPages();
    const reference = {
      ...{ modelVersion: "AHS-2026.1", inputsHash: `0x${"22".repeat(32)}` as const },
      ...{ features: [], patterns: [] },
    };
    const html = await htmlOf(PATH, { wallets: { ...wallets, reference: async () => reference } });
    expect(html).toContain("AHS-2026.1 ");
    expect(html).toContain("Another model version than AHS-2026.2");
    expect(await htmlOf(PATH)).not.toContain("Another model version");
  });

  test("is health beside backing, and what each of them says", async () => {
    const html = await htmlOf(PATH);
    expect(html).toMatch(
      /<div class="grid">\s*<section class="panel" aria-labelledby="score"><h2 id="score">Score<\/h2>/,
    );
    expect(html).toContain('<h2 id="backing">Backing</h2>');
    expect(html).toContain('<span class="reading-number">42.50</span> <b>USD</b>');
    expect(html).toContain("<dt>Available</dt><dd><b>30.50 USD</b></dd>");
    expect(html).toContain("<dt>Outstanding</dt><dd>12.00 USD");
    expect(html).toContain("<dt>Cost basis</dt><dd>85.00 USD");
    expect(html).toContain(
      "The score predicts failures; it is not a fraud score. The safe amount is how much money to have at stake with the wallet at once, each day anew: no failed delivery lowers it.",
    );
  });

  test("shows large amounts in groups, and none that is rounded up", async () => {
    const { wallets } = fakePublicPages();
    const backing = { ...BACKING, safeMicroUsd: 1_234_567_899_999n, availableMicroUsd: 9_999n };
    const html = await htmlOf(PATH, { wallets: { ...wallets, backing: async () => backing } });
    expect(html).toContain('<span class="reading-number">1,234,567.89</span>');
    expect(html).toContain("<dt>Available</dt><dd><b>0.00 USD</b></dd>");
  });

  test("shows how a seller earns, and no such section for a wallet that was never paid", async () => {
    const { wallets } = fakePublicPages();
    expect(await htmlOf(PATH)).toContain("<dd>4 independent payers, 2 of them in two weeks or more</dd>");
    expect(await htmlOf(PATH)).toContain(
      '<dd>of 2 payers, <q>starred</q>: 87.5 <span class="quiet">(median of 2)</span></dd>',
    );
    const backing = { ...BACKING, sellerProfile: null };
    const html = await htmlOf(PATH, { wallets: { ...wallets, backing: async () => backing } });
    expect(html).not.toContain("independent payer");
  });

  test("leads to the chain's explorer, if it has one", async () => {
    expect(await htmlOf(PATH)).not.toContain("View on");
    const { chain } = fakePublicPages();
    const html = await htmlOf(PATH, { chain: { ...chain, explorer: "https://basescan.org" } });
    const { score } = walletSnapshot();
    for (const path of [`address/${WALLET_EIP55}`, `address/${chain.oracle}`, `block/${score?.asOfBlock}`])
      expect(html).toContain(`href="https://basescan.org/${path}"`);
  });

  test("does not take an unknown backing for zero", async () => {
    const { wallets } = fakePublicPages();
    const html = await htmlOf(PATH, { wallets: { ...wallets, backing: async () => null } });
    expect(html).toContain("The backing of this wallet is not computed yet, which does not mean zero.");
    expect(html).not.toContain("0.00 USD</b>");
  });

  test.each([
    [
      1_234_567_890_000n,
      '<dd>1,234,567.89 USD <span class="quiet">when it was published, rounded down</span>',
    ],
    [0n, "<dd>0.00 USD "],
    [null, "<dd>None "],
  ])("shows the safe amount of the record on chain: %s", async (safeMicroUsd, shown) => {
    const { wallets } = fakePublicPages();
    const record = {
      ...{ ahsScore: 84, safeMicroUsd, asOfBlock: 960, transactionHash: `0x${"33".repeat(32)}` as const },
      publishedAt: new Date("2026-11-20T09:58:00.000Z"),
    };
    const html = await htmlOf(PATH, { wallets: { ...wallets, published: async () => record } });
    expect(html).toContain(`<dt>Safe amount</dt>${shown}`);
  });

  test("is not sent again to who has it", async () => {
    const { app } = pagesApp(fakePublicPages());
    const tag = (await app.request(PATH)).headers.get("etag") ?? "";
    const again = await app.request(PATH, { headers: { "if-none-match": tag } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  test("is one page, whatever the case of the address", async () => {
    const answer = await pagesApp(fakePublicPages()).app.request(`/wallet/${WALLET}`);
    expect([answer.status, answer.headers.get("location")]).toEqual([308, PATH]);
  });

  test.each([
    ["0x12", "got <code>0x12</code>"],
    ["%3Cscript%3E", "got <code>&lt;script&gt;</code>"],
    [`${WALLET_EIP55.slice(0, -1)}C`, `Did you mean <code>${WALLET_EIP55}</code>?`],
  ])("is a readable 404 for %s", async (address, words) => {
    const answer = await pagesApp(fakePublicPages()).app.request(`/wallet/${address}`);
    expect(answer.status).toBe(404);
    const html = await answer.text();
    expect(html).toContain("<title>Not a valid address · Agent Health</title>");
    expect(html).toContain(words);
  });

  test("says that too little history is no bad score", async () => {
    const { score } = walletSnapshot();
    if (score === null) throw new Error("a scored wallet was expected");
    const unscored = { ahsScore: null, grade: null, confidenceLevel: "INSUFFICIENT" } as const;
    const html = await htmlOf(PATH, walletsWith({ score: { ...score, ...unscored } }));
    expect(html).toContain("Not enough history");
    expect(html).toContain("this is no sign of risk.");
    expect(html).toContain("<b>Escrow</b>");
    expect(html).toContain("A score needs enough calls over enough days, and recent ones.");
    expect(html).not.toMatch(/grade-[A-F]"|of 100<|Failing/);
  });

  test.each([
    ["settles at once", {}, "a payment settles at once up to the available amount"],
    ["waits in escrow", { score: null }, "every payment to this wallet waits in escrow"],
    ["is rejected", { sanctions: [LISTING] }, "every payment to this wallet is rejected"],
  ])("says what the backing changes where a payment %s by default", async (_, changes, words) => {
    const { wallets } = { ...fakePublicPages(), ...walletsWith(changes) };
    const known = await htmlOf(PATH, { wallets });
    const unknown = await htmlOf(PATH, { wallets: { ...wallets, backing: async () => null } });
    const settling = "a payment settles at once up to";
    expect(known).toContain(words);
    expect(known.includes(settling)).toBe(words.includes(settling));
    expect(unknown).not.toContain(settling);
    expect(unknown.includes(words)).toBe(!words.includes(settling));
  });

  test("explains a wallet that was never scored, followed or not", async () => {
    const unknown = await htmlOf(PATH, walletsWith({ score: null, followed: false }));
    expect(unknown).toContain("The index does not follow this wallet.");
    expect(unknown).toContain('<meta name="robots" content="noindex">');
    const followed = await htmlOf(PATH, walletsWith({ score: null }));
    expect(followed).toContain("its first score is not computed yet");
    for (const html of [unknown, followed]) expect(html).not.toMatch(/grade-[A-F]"/);
  });

  test("names lists of threats beside an unchanged score", async () => {
    const html = await htmlOf(PATH, walletsWith({ threats: [PHISHING] }));
    expect(html).toContain("This wallet is on a list of threats.");
    expect(html).toContain("<b>phishing</b> by <code>scamsniffer</code>");
  });

  test("begins with the listing of a sanctioned wallet, whatever its score", async () => {
    const html = await htmlOf(PATH, walletsWith({ sanctions: [LISTING] }));
    expect(html).toContain("This wallet is sanctioned.");
    expect(html).toContain("<b>Reject</b>");
    expect(html).not.toContain("Settle at once");
  });

  test("shows a hostile name as text", async () => {
    const name = "<script>\u202Eevil";
    const card = {
      ...{
        agentId: 3n,
        registry: null,
        registeredBlock: 9,
        name,
        description: `Trades. ${name}`,
        services: [],
        state: "current" as const,
      },
      registeredAt: new Date("2026-08-20T09:00:00.000Z"),
    };
    const { wallets } = fakePublicPages();
    const html = await htmlOf(PATH, {
      wallets: { ...wallets, agents: async () => ({ cards: [card], agents: 1 }) },
    });
    expect(html).toContain("<h1><bdi>&lt;script&gt;evil</bdi></h1>");
    expect(html).toContain("<bdi>Trades. &lt;script&gt; evil</bdi>");
    expect(html).toContain("<dt>Registered</dt>");
  });
});
