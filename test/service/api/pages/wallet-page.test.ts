import { describe, expect, test } from "vitest";
import { type ApiPorts, SCORING_INTERFACE } from "../../../../service/api/create-app.ts";
import { createInterfaceApp } from "../../../../service/api/create-interface.ts";
import type { Endpoint } from "../../../../service/api/endpoint.ts";
import { getKeysSelf } from "../../../../service/api/keys/get-keys-self.ts";
import { newOffer } from "../../../../service/api/pages/offer.ts";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { getAhs } from "../../../../service/api/scores/get-ahs.ts";
import {
  fakeLedger,
  fakePorts,
  KEY,
  LISTING,
  NOW,
  standing,
  storedScore,
  WALLET,
  WALLET_EIP55,
} from "../fake-ports.ts";
import { fakePublicPages, pagesApp } from "./fake-public-pages.ts";

const PATH = `/wallet/${WALLET_EIP55}`;
const SIGNED_IN = { cookie: `ahs_key=${KEY}` };
const OFFER = newOffer(NOW, "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90");

type World = {
  readonly pages?: Partial<PagePorts>;
  readonly balanceUnits?: number | null;
  readonly isKnown?: boolean;
};

/** The pages, with the two endpoints that they ask; `scored` counts what was scored. */
function worldOf({ pages = {}, balanceUnits = 5_000, isKnown = true }: World = {}) {
  const scored: string[] = [];
  const keys = fakeLedger({ balanceUnits });
  const { ports } = fakePorts(
    {
      pages: fakePublicPages(pages),
      scoreNow: async (address) => {
        scored.push(address);
        if (!isKnown) return { kind: "not-indexed" };
        return { kind: "stored", row: storedScore({ ahsScore: 84, d1Score: 71, d2Score: 93 }) };
      },
    },
    keys,
  );
  const endpoints: readonly Endpoint<ApiPorts>[] = [getAhs, getKeysSelf];
  return { app: createInterfaceApp(ports, [{ ...SCORING_INTERFACE, endpoints }]), keys, scored };
}

async function htmlOf(pages: Partial<PagePorts>): Promise<string> {
  const answer = await pagesApp(fakePublicPages(pages)).app.request(PATH);
  expect(answer.status).toBe(200);
  return answer.text();
}

/** Ports of a wallet that stands so. */
function standingAs(changes: Parameters<typeof standing>[0]): Partial<PagePorts> {
  const { wallets } = fakePublicPages();
  return { wallets: { ...wallets, standing: async () => standing(changes) } };
}

async function buy(
  { app }: Pick<ReturnType<typeof worldOf>, "app">,
  { offer = OFFER, headers = {} }: { offer?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  return app.request(PATH, {
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

describe("what everybody sees of a wallet", () => {
  test("is its score, how payments go by default, and how to check both, and nothing of what is paid for", async () => {
    const answer = await pagesApp(fakePublicPages()).app.request(PATH);
    const html = await answer.text();
    expect(html).toContain("84 on a scale of 0 to 100, grade B");
    expect(html).toContain("Settle at once");
    expect(html).toContain("1 of 1");
    expect(html).toContain(`/inputs/0x${"22".repeat(32)}`);
    expect(html).toContain(`verify-score ${WALLET_EIP55}`);
    expect(html).toContain("eth_call");
    expect(html).toContain("It costs 1.00 USD a wallet.");
    expect(html).not.toMatch(/hygiene|Behavioural|success rate|<form class="buy"|d1_score/i);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=30");
    expect(answer.headers.get("vary")).toBe("Cookie");
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

  test.each(["0x12", `${WALLET_EIP55.slice(0, -1)}C`, "%3Cscript%3E"])(
    "is a readable 404 for %s",
    async (address) => {
      const answer = await pagesApp(fakePublicPages()).app.request(`/wallet/${address}`);
      expect(answer.status).toBe(404);
      expect(await answer.text()).toContain("This is no wallet address");
    },
  );

  test("says that too little history is no bad score", async () => {
    const score = {
      ...standing().score,
      ahsScore: null,
      grade: null,
      confidenceLevel: "INSUFFICIENT",
    } as const;
    const html = await htmlOf(standingAs({ score: { ...storedCurrent(), ...score } }));
    expect(html).toContain("Not enough history");
    expect(html).toContain("That is not a bad score and says nothing against it");
    expect(html).toContain("Hold in escrow");
    expect(html).not.toMatch(/grade-[A-F]"|of 100<|Failing/);
  });

  test("explains a wallet that was never scored, followed or not", async () => {
    const unknown = await htmlOf(standingAs({ score: null, followed: false }));
    expect(unknown).toContain("The index does not follow this wallet, so nothing is known of it.");
    expect(unknown).toContain('<meta name="robots" content="noindex">');
    const followed = await htmlOf(standingAs({ score: null }));
    expect(followed).toContain("its first score is still to come");
    for (const html of [unknown, followed]) expect(html).not.toMatch(/grade-[A-F]"/);
  });

  test("begins with the listing of a sanctioned wallet, whatever its score", async () => {
    const html = await htmlOf(standingAs({ sanctions: [LISTING] }));
    expect(html).toContain("This wallet is sanctioned.");
    expect(html).toContain("<b>Refuse</b>");
    expect(html).not.toContain("Settle at once");
  });

  test("shows a hostile name as text", async () => {
    const name = "<script>\u202Eevil";
    const html = await htmlOf({ agentNames: async () => new Map([[WALLET, [{ agentId: 3n, name }]]]) });
    expect(html).toContain('<bdi>&lt;script&gt;evil</bdi> <span class="quiet">#3</span>');
  });
});

describe("what is bought of a wallet", () => {
  test("is named with its price to who is signed in, on a page of their own", async () => {
    const answer = await pagesApp(fakePublicPages()).app.request(PATH, { headers: SIGNED_IN });
    const html = await answer.text();
    expect(answer.headers.get("cache-control")).toBe("private, no-store");
    expect(html).toContain("Show it for 1.00 USD");
    expect(html).toContain(`name="offer" value="${OFFER}"`);
    expect(html).not.toContain(KEY);
  });

  test("is shown for its price, once however often the form is sent", async () => {
    const world = worldOf();
    const first = await buy(world);
    const html = await first.text();
    expect(first.status).toBe(200);
    expect(html).toContain("Wallet hygiene: 71 of 100");
    expect(html).toContain("Behavioural patterns: 93 of 100");
    expect(html).toContain("An estimated 98 % of its calls succeed");
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
    expect(await refused.text()).toContain("Nothing was bought, and nothing was charged.");
    expect(poor.keys.balance()).toBe(999);
    const lost = worldOf({ isKnown: false });
    const answer = await buy(lost);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("nothing was charged");
    expect(lost.keys.balance()).toBe(5_000);
  });

  test("is not sold by a form that is old, made up, or without a key", async () => {
    const world = worldOf();
    const old = newOffer(new Date(NOW.getTime() - 24 * 3_600_000), "0f8a1c1e-7c1d-4d57-8c27-2b1f0d3f5a90");
    for (const offer of [old, "", "page-1-x", newOffer(new Date(NOW.getTime() + 60_000), "x")]) {
      const answer = await buy(world, { offer });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain("This form is too old");
    }
    expect((await buy(world, { headers: { cookie: "" } })).status).toBe(401);
    expect((await buy(world, { headers: { cookie: `ahs_key=ahs_${"z".repeat(43)}` } })).status).toBe(401);
    expect(world.keys.balance()).toBe(5_000);
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

function storedCurrent() {
  const { score } = standing();
  if (score === null) throw new Error("a scored wallet was expected");
  return score;
}
