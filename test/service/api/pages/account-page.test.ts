import { describe, expect, test } from "vitest";
import { readTrustedProxies } from "../../../../service/access/client-address.ts";
import { createIpLimit } from "../../../../service/access/rate-limits.ts";
import { createApp } from "../../../../service/api/create-app.ts";
import type { PagePorts } from "../../../../service/api/pages/page-ports.ts";
import { paidBy, payingAccess } from "../../access/paying-access.ts";
import { fakeApp, fakeLedger, fakePorts, KEY } from "../fake-ports.ts";
import { KEY_ID, NEW_SECRET } from "../routes/fake-key-ports.ts";
import { fakeAccountPages } from "./fake-account-pages.ts";

const ORIGIN = "https://health.example";
const OWN = { origin: ORIGIN, "sec-fetch-site": "same-origin" };
const SIGNED_IN = { cookie: `__Host-ahs_key=${KEY}` };

type Fields = Readonly<Record<string, string>>;

function appOf(changes: Partial<PagePorts["account"]> = {}) {
  const pages = fakeAccountPages();
  return fakeApp({ pages: { ...pages, account: { ...pages.account, ...changes } } });
}

async function post(
  { app }: Pick<ReturnType<typeof appOf>, "app">,
  fields: Fields,
  headers: Fields = {},
): Promise<Response> {
  return app.request("/account", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...OWN, ...headers },
    body: new URLSearchParams(fields).toString(),
  });
}

describe("signing in", () => {
  const shared = appOf();

  test("puts the key into a cookie that no script and no other site's request has, and nowhere else", async () => {
    const one = appOf();
    const answer = await post(one, { action: "sign-in", key: ` ${KEY}\n` });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, "/account"]);
    expect(answer.headers.get("set-cookie")).toBe(
      `__Host-ahs_key=${KEY}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    const page = await one.app.request("/account", { headers: SIGNED_IN });
    const html = await page.text();
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "private, no-store"]);
    expect(html).toContain("25.00 USD");
    expect(html).not.toContain(KEY);
    expect(one.log.join("\n")).not.toContain(KEY);
  });

  test("takes a key from no cookie that another host could have set", async () => {
    const planted = await shared.app.request("/account", { headers: { cookie: `ahs_key=${KEY}` } });
    expect(await planted.text()).not.toContain("Sign out");
    const { ports } = fakePorts({ pages: fakeAccountPages() });
    const overHttp = createApp({
      ...ports,
      discovery: { ...ports.discovery, origin: "http://localhost:8080" },
    });
    const own = await overHttp.request("/account", { headers: { cookie: `ahs_key=${KEY}` } });
    expect(await own.text()).toContain("Sign out");
  });

  test("explains a malformed or unknown key and does not sign in", async () => {
    for (const [key, status, words] of [
      ["hello", 422, "Not an API key."],
      [`ahs_${"x".repeat(43)}`, 401, "No such key exists. Buy one below, or replace a lost one."],
    ] as const) {
      const answer = await post(shared, { action: "sign-in", key });
      expect([answer.status, answer.headers.get("set-cookie")]).toEqual([status, null]);
      const html = await answer.text();
      expect(html).toContain(words);
      expect(html).not.toContain(key);
    }
    const unsold = await post(appOf({ payment: null }), {
      action: "sign-in",
      key: `ahs_${"x".repeat(43)}`,
    });
    expect(await unsold.text()).toContain("No such key exists. Ask the operator for a key.");
  });

  test("leads to a wallet's page, and to no other place that a link names", async () => {
    const wallet = "/wallet/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc";
    const to = async (next: string) =>
      (await post(shared, { action: "sign-in", key: KEY, next })).headers.get("location");
    for (const next of [wallet, `${wallet}/gas`]) expect(await to(next)).toBe(next);
    for (const next of [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      `${wallet}/../..//evil.example`,
      `${wallet}\n`,
      "/docs",
      "",
    ])
      expect([next, await to(next)]).toEqual([next, "/account"]);
  });

  test("is limited by address beside all else", async () => {
    const trustedProxies = readTrustedProxies([]);
    if (trustedProxies === null) throw new Error("an empty list was taken for none");
    const signInLimit = createIpLimit({
      perMinute: 3,
      trustedProxies,
      monotonicMs: () => 0,
      maxAddresses: 10,
    });
    const one = appOf({ signInLimit, socketAddress: () => "192.0.2.1" });
    const statuses = [];
    for (let attempt = 0; attempt < 4; attempt += 1)
      statuses.push((await post(one, { action: "sign-in", key: "hello" })).status);
    expect(statuses).toEqual([422, 422, 422, 429]);
  });

  test("is refused from another site, and in any other form than a form", async () => {
    const fields = { action: "sign-in", key: KEY };
    expect(
      (await post(shared, fields, { origin: "https://evil.example", "sec-fetch-site": "cross-site" })).status,
    ).toBe(403);
    expect((await post(shared, fields, { "content-type": "text/plain" })).status).toBe(400);
    expect((await post(shared, { action: "else" })).status).toBe(400);
    for (const once of ["", "é世", "a".repeat(300)])
      expect((await post(shared, { action: "rotate", once }, SIGNED_IN)).status).toBe(400);
  });
});

describe("a browser that is signed in", () => {
  test("is signed out by its reader, and when the key is no longer good", async () => {
    const out = await post(appOf(), { action: "sign-out" }, SIGNED_IN);
    expect(out.headers.get("set-cookie")).toBe(
      "__Host-ahs_key=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure",
    );
    const stale = await appOf().app.request("/account", {
      headers: { cookie: `__Host-ahs_key=ahs_${"x".repeat(43)}` },
    });
    expect([stale.status, stale.headers.get("set-cookie")]).toEqual([
      200,
      expect.stringContaining("Max-Age=0"),
    ]);
    expect(await stale.text()).toContain("You were signed out.");
  });

  test("sees what is owed to the wallet that bought its key", async () => {
    const payers: string[] = [];
    const pages = fakeAccountPages({
      async owed(asked) {
        payers.push(...asked);
        return asked.map((payer) => ({
          ...{ endpoint: "GET /report-card/{address}", resource: "/report-card/0x1", payer },
          ...{ scheme: "exact" as const, amount: 2_000_000n, transactionHash: null },
          settledAt: new Date("2026-11-19T10:00:00.000Z"),
        }));
      },
    });
    const html = await (await fakeApp({ pages }).app.request("/account", { headers: SIGNED_IN })).text();
    expect(payers).toEqual(["0x70997970c51812dc3a010c7d01b50e0d17dc79c8"]);
    for (const words of ["Paid and not answered", "GET /report-card/0x1", "2.00 USD"])
      expect(html).toContain(words);
    const none = await appOf().app.request("/account", { headers: SIGNED_IN });
    expect(await none.text()).not.toContain("Paid and not answered");
  });

  test("sees what the key is, and how payments are routed for it", async () => {
    const one = appOf({
      keySummary: async () => ({
        scopes: ["review"],
        lastChargedAt: new Date("2026-11-19T10:00:00.000Z"),
        subscriptions: [
          {
            id: "s",
            wallet: "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc",
            expiresAt: new Date("2026-12-01T10:00:00.000Z"),
          },
        ],
      }),
      deliveries: async () => [
        {
          ...{ id: "msg_1", type: "score.changed", state: "delivered", body: "{}", attempts: [] },
          ...{ createdAt: new Date("2026-11-19T10:00:00.000Z"), deliveredAt: null, nextAttemptAt: null },
        },
      ],
      verdicts: async () => [
        {
          ...{ id: "7c9e6679-7425-40de-944b-e07fc1f90ae7", status: "completed", finalVerdict: "HOLD" },
          ...{ jobId: 7n, providerAddr: "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc" },
          createdAt: new Date("2026-11-19T10:00:00.000Z"),
        },
      ],
      usage: async () => [{ day: "2026-11-19", calls: 12, units: 1_200 }],
    });
    const html = await (await one.app.request("/account", { headers: SIGNED_IN })).text();
    for (const words of [
      "decisions on held verdicts",
      "19 Nov 2026",
      "You have the default policy.",
      '<option value="instant_settle" selected>',
      "/wallet/0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
      "<code>score.changed</code>",
      '<a class="mono" href="/verdict/7c9e6679-7425-40de-944b-e07fc1f90ae7">7c9e6679</a>',
      '<th scope="row">19 Nov 2026</th><td class="number">12</td><td class="number">1.20 USD</td>',
    ])
      expect(html).toContain(words);
  });

  test("saves a routing policy by its form, and says in words why one is refused", async () => {
    const one = appOf();
    const form = {
      ...{ action: "policy", tag: "*", escrow_disabled: "on", insufficient_action: "reject" },
      ...{
        "grade-A": "instant_settle",
        "grade-B": "escrow",
        max_instant_usd: "25",
        safe_amount_multiple: "1",
      },
      ...{ threat_action: "ignore", min_confidence_for_instant: "", allowlist: "" },
    };
    const refused = await post(one, { ...form, allowlist: "0x12" }, SIGNED_IN);
    expect(refused.status).toBe(422);
    const html = await refused.text();
    expect(html).toContain("The policy was not saved.");
    expect(html).toContain('rows="3" spellcheck="false">0x12</textarea>');
    expect(html).toContain(
      "Wallets that always settle at once: expected 0x and 40 hexadecimal digits, got 0x12.",
    );
    const amount = await post(one, { ...form, max_instant_usd: "12,5" }, SIGNED_IN);
    expect(await amount.text()).toContain(
      "Largest amount in USD: expected a number with at most 6 decimals, or nothing for no limit, got 12,5.",
    );
    const saved = await post(one, form, SIGNED_IN);
    expect([saved.status, saved.headers.get("location")]).toEqual([303, "/account#policy"]);
  });

  test("follows a key that it replaces, which is shown once", async () => {
    const one = appOf();
    const fields = { action: "rotate", once: "once-0123456789abcdef" };
    const first = await post(one, fields, SIGNED_IN);
    expect(first.headers.get("set-cookie")).toContain(`__Host-ahs_key=${NEW_SECRET};`);
    expect(first.headers.get("cache-control")).toBe("private, no-store");
    expect(await first.text()).toContain(NEW_SECRET);
    const again = await post(one, fields, SIGNED_IN);
    expect([again.status, again.headers.get("set-cookie")]).toEqual([200, null]);
    expect(await again.text()).not.toContain(NEW_SECRET);
  });
});

test("credits the key of the cookie, paid by any wallet, and refuses other sites", async () => {
  const pages = fakeAccountPages();
  const keys = fakeLedger({ id: KEY_ID });
  const { ports } = fakePorts({ pages }, keys);
  const { access, taken } = payingAccess({ keys: keys.ledger, clock: ports.clock, logger: ports.logger });
  const app = createApp({ ...ports, access });
  const send = async (headers: Fields) =>
    app.request("/account/topup", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: '{"credits_usd":5}',
    });
  expect((await send({ ...OWN, ...SIGNED_IN })).status).toBe(402);
  expect((await send({ ...OWN, ...paidBy(1) })).status).toBe(401);
  expect((await send({ ...SIGNED_IN, ...paidBy(1), origin: "https://evil.example" })).status).toBe(403);
  expect(taken).toEqual([]);
  const paid = await send({ ...OWN, ...SIGNED_IN, ...paidBy(1) });
  expect([paid.status, paid.headers.get("cache-control"), await paid.json()]).toMatchObject([
    200,
    "private, no-store",
    { balance_usd: 30, credited_usd: 5 },
  ]);
});

test("a server without keys has no account page, and one without verdicts none of those", async () => {
  const { app } = fakeApp({ pages: fakeAccountPages() });
  expect((await app.request("/verdict/7c9e6679-7425-40de-944b-e07fc1f90ae7")).status).toBe(404);
  expect((await app.request("/account")).status).toBe(200);
});

test("a wallet is given a text to sign in by, for this service and itself alone", async () => {
  const { app } = appOf();
  const ask = (body: unknown) =>
    app.request("/account/sign-in", { method: "POST", headers: OWN, body: JSON.stringify(body) });
  const answer = await ask({ address: "0x70997970c51812dc3a010c7d01b50e0d17dc79c8" });
  expect([answer.status, await answer.json()]).toEqual([
    200,
    {
      message: expect.stringContaining("health.example wants you to sign in"),
      fields: expect.objectContaining({
        address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        domain: "health.example",
        uri: ORIGIN,
        chainId: "eip155:31337",
        nonce: expect.stringMatching(/^[A-Za-z0-9]{8,}$/),
      }),
    },
  ]);
  for (const body of [{}, null, { address: "0x1" }]) expect((await ask(body)).status).toBe(400);
});
