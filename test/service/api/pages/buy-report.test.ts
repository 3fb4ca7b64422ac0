import { hash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hashApiKey } from "../../../../service/access/api-keys.ts";
import type { PurchaseQuery, StoredPurchase } from "../../../../service/access/idempotent-answers.ts";
import { SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../../service/api/create-interface.ts";
import type { Endpoint } from "../../../../service/api/kit/endpoint.ts";
import { newOffer, purchaseHashes, purchaseKey } from "../../../../service/api/pages/buy-report.ts";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { getAhs } from "../../../../service/api/routes/get-ahs.ts";
import { getKeysSelf } from "../../../../service/api/routes/get-keys-self.ts";
import { getOptimize } from "../../../../service/api/routes/get-optimize.ts";
import { fakeLedger, fakePorts, KEY, NOW, storedScore, WALLET, WALLET_EIP55 } from "../fake-ports.ts";
import { storedKey } from "../routes/fake-key-ports.ts";
import { fakePublicPages, pagesApp } from "./fake-public-pages.ts";

const PATH = `/wallet/${WALLET_EIP55}/score`;
const REPORT = { address: WALLET, report: { slug: "score" } } as const;
const SIGNED_IN = { cookie: `__Host-ahs_key=${KEY}` };
const OFFER = newOffer(NOW);
const HOUR_MS = 3_600_000;
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

type World = {
  readonly pages?: Partial<PagePorts>;
  readonly balanceUnits?: number | null;
  readonly isKnown?: boolean;
  /** Scoring waits for this promise. */
  readonly scoring?: () => Promise<void>;
  /** Turns the body of the first answer into that of the repeated one. */
  readonly replayed?: (body: string) => string;
};

/** GET /optimize/{address} of a wallet that has nothing to save. */
const EMPTY_GAS: Endpoint<unknown> = {
  ...getOptimize,
  async handle(context) {
    const isPreview = context.req.query("preview") === "true";
    const summary = isPreview ? "No failed transaction in 30 days." : "Nothing to save.";
    return Response.json({ address: WALLET_EIP55, charged: isPreview, summary });
  },
};

/** The pages, with the endpoints that they ask; `scored` counts what was scored. */
function worldOf({
  pages = {},
  balanceUnits = 5_000,
  isKnown = true,
  scoring = async () => {},
  replayed = (body) => body,
}: World = {}) {
  const scored: string[] = [];
  const ledger = fakeLedger({ balanceUnits });
  const begin: typeof ledger.answers.begin = async (slot) => {
    const known = await ledger.answers.begin(slot);
    if (known.kind !== "answered") return known;
    return { ...known, answer: { ...known.answer, body: replayed(String(known.answer.body)) } };
  };
  const keys = { ...ledger, answers: { ...ledger.answers, begin } };
  const { ports } = fakePorts(
    {
      pages: fakePublicPages(pages),
      scoreNow: async (address) => {
        scored.push(address);
        await scoring();
        if (!isKnown) return { kind: "not-indexed" };
        return { kind: "stored", row: storedScore({ ahsScore: 84, d1Score: 71, d2Score: 93 }) };
      },
    },
    keys,
  );
  const endpoints = [getAhs, getKeysSelf, EMPTY_GAS];
  const find = async () => storedKey({ balanceUnits: keys.balance() });
  const asked = { ...ports, keys: { ...ports.keys, find } };
  return { app: createInterfaceApp(asked, [{ ...SCORING_INTERFACE, endpoints }]), keys, scored };
}

/** The JSON behind the link that downloads it. */
function downloadIn(html: string): string {
  const [, base64 = ""] =
    /<a [^>]*download="score-0x\w{40}\.json" href="data:application\/json;base64,([^"]+)"/.exec(html) ?? [];
  return Buffer.from(base64, "base64").toString("utf8");
}

async function htmlSignedIn(pages: Partial<PagePorts>): Promise<string> {
  return (await pagesApp(fakePublicPages(pages)).app.request(PATH, { headers: SIGNED_IN })).text();
}

async function buy(
  { app }: Pick<ReturnType<typeof worldOf>, "app">,
  {
    offer = OFFER,
    headers = {},
    path = PATH,
  }: { offer?: string; headers?: Readonly<Record<string, string>>; path?: string } = {},
): Promise<Response> {
  return app.request(path, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      origin: "https://health.example",
      "sec-fetch-site": "same-origin",
      ...SIGNED_IN,
      ...headers,
    },
    body: new URLSearchParams({ offer }).toString(),
  });
}

describe("the report for sale of a wallet", () => {
  test("is named with its price to who is signed in, on a page of their own", async () => {
    const answer = await pagesApp(fakePublicPages()).app.request(PATH, { headers: SIGNED_IN });
    const html = await answer.text();
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    expect(html).toContain("Show it for 1.00 USD");
    expect(html).toContain(`name="offer" value="${OFFER}"`);
    expect(html).not.toContain(KEY);
  });

  test("is offered by what is on the key: at no price without a limit, and not where the balance does not reach", async () => {
    const offered = async (balanceUnits: number | null) =>
      (await worldOf({ balanceUnits }).app.request(PATH, { headers: SIGNED_IN })).text();
    expect(await offered(1_000)).toContain("Show it for 1.00 USD");
    const unlimited = await offered(null);
    expect(unlimited).toContain(">Show it (1.00 USD)</button>");
    expect(unlimited).toContain("Your key has no limit, so nothing is charged.");
    const poor = await offered(500);
    expect(poor).toContain("It costs 1.00 USD, and your key has 0.50 USD.");
    expect(poor).toContain(">Add credits</a>");
    expect(poor).not.toContain('<form class="buy"');
  });

  test("is shown for its price, once however often the form is sent", async () => {
    const world = worldOf();
    const first = await buy(world);
    const html = await first.text();
    expect(first.status).toBe(200);
    expect(html).toContain("Wallet hygiene: 71 of 100");
    expect(html).toContain("Behavioural patterns: 93 of 100");
    expect(html).toContain("An estimated 98% of its calls succeed");
    expect(html).not.toContain(KEY);
    const again = await buy(world);
    expect(again.status).toBe(200);
    expect(await again.text()).toContain("Wallet hygiene: 71 of 100");
    expect(world.keys.balance()).toBe(4_000);
    expect(world.scored).toHaveLength(1);
  });

  test("costs nothing where the balance does not reach, or the wallet cannot be scored", async () => {
    const poor = worldOf({ balanceUnits: 999 });
    const refused = await buy(poor);
    expect(refused.status).toBe(402);
    const refusal = await refused.text();
    expect(refusal).toContain("Nothing was bought, and nothing was charged.");
    expect(refusal).toContain("costs 1.00 USD and the balance of this key is 0.999 USD");
    expect(refusal).toContain('<a class="button" href="/account#top-up">Add credits</a>');
    expect(refusal).not.toContain('<form class="buy"');
    expect(poor.keys.balance()).toBe(999);
    const lost = worldOf({ isKnown: false });
    const answer = await buy(lost);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("nothing was charged");
    expect(lost.keys.balance()).toBe(5_000);
  });

  test("is not sold by a form that is old, made up, or without a key", async () => {
    const world = worldOf();
    for (const offer of [newOffer(later(-23 * HOUR_MS)), "", "page-1-x", newOffer(later(60_001))]) {
      const answer = await buy(world, { offer });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("This form is too old");
    }
    expect((await buy(world, { headers: { cookie: "" } })).status).toBe(401);
    expect((await buy(world, { headers: { cookie: `__Host-ahs_key=ahs_${"z".repeat(43)}` } })).status).toBe(
      401,
    );
    expect(world.keys.balance()).toBe(5_000);
  });

  test("is charged once for all forms of a day, on servers whose clocks differ a little", async () => {
    const world = worldOf();
    for (const offer of [newOffer(later(-9 * HOUR_MS)), newOffer(NOW), newOffer(later(60_000))])
      expect((await buy(world, { offer })).status).toBe(200);
    expect(world.keys.balance()).toBe(4_000);
    expect(world.scored).toHaveLength(1);
  });

  test("is not called free while it is being answered: the same form asks for that answer", async () => {
    const gate = Promise.withResolvers<void>();
    const world = worldOf({ scoring: () => gate.promise });
    const first = buy(world);
    await expect.poll(() => world.scored).toHaveLength(1);
    const second = await buy(world);
    const html = await second.text();
    expect(second.status).toBe(409);
    expect(html).toContain("The report is still being made.");
    expect(html).toContain(`name="offer" value="${OFFER}"`);
    expect(html).not.toMatch(/nothing was (bought|charged)/i);
    gate.resolve();
    expect((await first).status).toBe(200);
    expect((await buy(world)).status).toBe(200);
    expect(world.keys.balance()).toBe(4_000);
  });

  test("is not called free where the service failed, and asked for by the same form again", async () => {
    let failing = true;
    const world = worldOf({
      scoring: async () => {
        if (failing) throw new Error("no score");
      },
    });
    const failed = await buy(world);
    const html = await failed.text();
    expect(failed.status).toBe(500);
    expect(html).toContain("There is no answer yet.");
    expect(html).toContain(`name="offer" value="${OFFER}"`);
    expect(html).not.toMatch(/nothing was (bought|charged)/i);
    failing = false;
    expect((await buy(world)).status).toBe(200);
    expect(world.keys.balance()).toBe(4_000);
  });

  test("is shown by the page's address, and by any form, for as long as it is stored", async () => {
    const bought = await worldOf().app.request(`/ahs/${WALLET_EIP55}?include=features,history`, {
      headers: { "x-api-key": KEY },
    });
    const body = await bought.text();
    const asked: PurchaseQuery[] = [];
    const storedPurchase = async (query: PurchaseQuery) => {
      asked.push(query);
      return { kind: "answered", body, until: later(5 * HOUR_MS) } as const;
    };
    const world = worldOf({ pages: { storedPurchase } });
    const shown = await world.app.request(PATH, { headers: SIGNED_IN });
    const html = await shown.text();
    expect(html).toContain("Wallet hygiene: 71 of 100");
    expect(html).toContain("15:00 UTC");
    expect(html).not.toContain('name="offer"');
    expect(shown.headers.get("cache-control")).toBe("private, no-store");
    for (const offer of [OFFER, "", newOffer(later(-40 * HOUR_MS))])
      expect(await (await buy(world, { offer })).text()).toContain("Wallet hygiene: 71 of 100");
    expect(world.keys.balance()).toBe(5_000);
    expect(world.scored).toEqual([]);
    expect(asked[0]).toEqual({
      apiKeyHash: hashApiKey(KEY),
      keyHashes: purchaseHashes(REPORT, NOW),
      now: NOW,
    });
  });

  test("is given as it is stored where it is of an earlier version, and not sold again", async () => {
    const body = JSON.stringify({
      address: WALLET_EIP55,
      ahs_score: 84,
      features: [],
      history: [],
      d9_score: "ü",
    });
    const storedPurchase = async () => ({ kind: "answered", body, until: later(5 * HOUR_MS) }) as const;
    const world = worldOf({ pages: { storedPurchase } });
    for (const answer of [await world.app.request(PATH, { headers: SIGNED_IN }), await buy(world)]) {
      const html = await answer.text();
      expect(answer.status).toBe(200);
      expect(downloadIn(html)).toBe(body);
      expect(html).toContain("15:00 UTC");
      expect(html).not.toContain('name="offer"');
    }
    expect(world.keys.balance()).toBe(5_000);
    expect(world.scored).toEqual([]);
  });

  test("is given as it is stored where the answer to a repeated form is of an earlier version", async () => {
    const world = worldOf({ replayed: (body) => body.replace('"mode":"2D"', '"mode":"1D"') });
    expect(await (await buy(world)).text()).toContain("Wallet hygiene: 71 of 100");
    const again = await buy(world);
    expect(again.status).toBe(200);
    expect(JSON.parse(downloadIn(await again.text()))).toMatchObject({ address: WALLET_EIP55, mode: "1D" });
    expect(world.keys.balance()).toBe(4_000);
    expect(world.scored).toHaveLength(1);
  });

  test("is on offer where the stored answer is of something else, and asked for again while it is under way", async () => {
    const pageOf = async (stored: StoredPurchase) => htmlSignedIn({ storedPurchase: async () => stored });
    const other = await pageOf({ kind: "answered", body: '{"api_key":"x"}', until: NOW });
    expect(other).toContain("Show it for 1.00 USD");
    const running = await pageOf({ kind: "running" });
    expect(running).toContain("The report is still being made.");
    expect(running).toContain(`name="offer" value="${OFFER}"`);
  });

  test("is known by a key of wallet and day until a day after the last form of that day may have bought it", () => {
    expect(purchaseKey(REPORT, NOW)).toBe(`page-score-${WALLET}-2026-11-20`);
    const shownAt = new Date("2026-11-18T23:59:59.999Z");
    const keyHash = hash("sha256", purchaseKey(REPORT, shownAt), "hex");
    for (const hours of [0, 1, 22, 46]) {
      const now = new Date(shownAt.getTime() + hours * HOUR_MS);
      expect(purchaseHashes(REPORT, now), `${hours} h`).toContain(keyHash);
    }
    expect(purchaseHashes(REPORT, new Date(shownAt.getTime() - 60_000))).toContain(keyHash);
    expect(purchaseHashes(REPORT, new Date("2026-11-18T23:59:30Z"))).toHaveLength(4);
  });

  test("has a free preview where its endpoint has one, and is not called paid where there was nothing to do", async () => {
    const world = worldOf();
    const path = `/wallet/${WALLET_EIP55}/gas`;
    const shown = await (await world.app.request(path, { headers: SIGNED_IN })).text();
    expect(shown).toContain("<b>Free preview.</b> No failed transaction in 30 days.");
    const bought = await (await buy(world, { path })).text();
    expect(bought).toContain("There is nothing to do, so nothing was charged.");
    expect(bought).toContain("Nothing to save.");
  });

  test("is not sold to a form of another site", async () => {
    const world = worldOf();
    const answer = await buy(world, {
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    });
    expect(answer.status).toBe(403);
    expect(world.keys.balance()).toBe(5_000);
  });
});
