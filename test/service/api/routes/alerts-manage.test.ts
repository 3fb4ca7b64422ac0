import { describe, expect, it } from "vitest";
import { Problem } from "../../../../service/access/problems.ts";
import type { Delivery, DeliveryPage } from "../../../../service/alerts/webhook-log.ts";
import { bodyOf, fakeApp, fakeLedger, NOW, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";
import {
  DELIVERY_ID,
  fakeAlertPorts,
  MANAGE_TOKEN,
  SECRET,
  SUBSCRIPTION_ID,
  storedSubscription,
} from "./fake-alert-ports.ts";

const PATH = `/alerts/${SUBSCRIPTION_ID}`;
const UNKNOWN_ID = "99999999-9999-4999-8999-999999999999";
const UNKNOWN = `/alerts/${UNKNOWN_ID}`;
const WITH_TOKEN = { headers: { Authorization: `Bearer ${MANAGE_TOKEN}` } };
const REPLAY = `/deliveries/${DELIVERY_ID}/replay`;

type Subscriptions = ReturnType<typeof fakeAlertPorts>["subscriptions"];

function desk(changes: Partial<Subscriptions> = {}) {
  const keys = fakeLedger();
  const ports = fakeAlertPorts(keys.ledger);
  return fakeApp({ ...ports, subscriptions: { ...ports.subscriptions, ...changes } }, keys).app;
}

const SUBSCRIPTION = {
  subscription_id: SUBSCRIPTION_ID,
  address: WALLET_EIP55,
  chain_id: 31337,
  webhook_url: "https://hooks.example.com/agent-health",
  events: ["ahs.grade_changed", "ahs.sanctions_hit"],
  thresholds: [],
  status: "active",
  disabled_reason: null,
  created_at: "2026-11-20T10:00:00.000Z",
  expires_at: "2026-12-20T10:00:00.000Z",
};

const ROUTES = [
  ["GET", ""],
  ["DELETE", ""],
  ["POST", "/test"],
  ["POST", "/rotate"],
  ["GET", "/deliveries"],
  ["POST", REPLAY],
] as const;

describe("GET /alerts", () => {
  it("lists the subscriptions of the caller, in pages", async () => {
    const asked: object[] = [];
    const app = desk({
      list: async (page) => {
        asked.push(page);
        return [storedSubscription(), storedSubscription({ id: UNKNOWN_ID })];
      },
    });
    const all = await app.request("/alerts", WITH_KEY);
    expect(await bodyOf(all)).toEqual({
      subscriptions: [SUBSCRIPTION, { ...SUBSCRIPTION, subscription_id: UNKNOWN_ID }],
      next_cursor: null,
    });
    const first = await app.request(`/alerts?limit=1&cursor=${UNKNOWN_ID}`, WITH_KEY);
    expect(await bodyOf(first)).toEqual({ subscriptions: [SUBSCRIPTION], next_cursor: SUBSCRIPTION_ID });
    const owner = "key:key-1";
    expect(asked).toEqual([
      { owner, limit: 51, after: null },
      { owner, limit: 2, after: UNKNOWN_ID },
    ]);
    expect((await app.request("/alerts")).status).toBe(401);
  });
});

describe.each(ROUTES)("%s /alerts/{subscription_id}%s", (method, rest) => {
  it.each([
    ["the manage token", WITH_TOKEN],
    ["the key that bought it", WITH_KEY],
  ])("is for %s, free", async (_who, credentials) => {
    const response = await desk().request(`${PATH}${rest}`, { method, ...credentials });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  it("answers unknown and foreign subscriptions, and wrong tokens, with the same 404", async () => {
    const foreign = desk({ find: async () => storedSubscription({ owner: "wallet:0x00" }) });
    const wrong = { headers: { Authorization: `Bearer ${MANAGE_TOKEN}x` } };
    const answers = [
      await foreign.request(`${PATH}${rest}`, { method, ...WITH_KEY }),
      await desk().request(`${PATH}${rest}`, { method, ...wrong }),
      await desk().request(`${UNKNOWN}${rest}`, { method, ...WITH_TOKEN }),
      await desk().request(`${UNKNOWN}${rest}`, { method, ...WITH_KEY }),
    ];
    for (const answer of answers) {
      const { type, detail } = await bodyOf(answer);
      expect([answer.status, type]).toEqual([404, "/docs#problem-not-found"]);
      expect(detail).toMatch(/^The caller has no subscription [0-9a-f-]{36}\.$/);
    }
  });

  it("answers a wrong token with 404 even beside the key of the owner", async () => {
    const headers = { ...WITH_KEY.headers, Authorization: "Bearer amt_guess" };
    expect((await desk().request(`${PATH}${rest}`, { method, headers })).status).toBe(404);
  });

  it("asks an unproven caller for proof, and refuses a malformed id", async () => {
    expect((await desk().request(`${PATH}${rest}`, { method })).status).toBe(401);
    const response = await desk().request(`/alerts/x${rest}`, { method, ...WITH_TOKEN });
    expect([response.status, await bodyOf(response)]).toMatchObject([
      422,
      { detail: [{ type: "uuid_parsing", loc: ["path", "subscription_id"] }] },
    ]);
  });
});

describe.each(ROUTES.filter(([method, rest]) => method === "POST" && rest !== ""))(
  "%s /alerts/{subscription_id}%s",
  (method, rest) => {
    it.each([
      ["was ended", { endedAt: NOW }],
      ["expired", { expiresAt: NOW }],
    ])("is 404 for a subscription that %s", async (what, changes) => {
      const find = async () => storedSubscription(changes);
      const response = await desk({ find }).request(`${PATH}${rest}`, { method, ...WITH_TOKEN });
      expect(response.status).toBe(404);
      expect((await bodyOf(response)).detail).toContain(what);
    });
  },
);

describe("a subscription", () => {
  it.each([
    ["active", {}],
    ["unverified", { verifiedAt: null }],
    ["disabled", { disabledAt: NOW, disabledReason: "The endpoint answered 410." }],
    ["expired", { expiresAt: NOW, disabledAt: NOW }],
    ["ended", { endedAt: NOW, expiresAt: NOW }],
  ])("is shown as %s", async (status, changes) => {
    const subscription = storedSubscription(changes);
    const response = await desk({ find: async () => subscription }).request(PATH, WITH_TOKEN);
    expect(await bodyOf(response)).toEqual({
      ...SUBSCRIPTION,
      status,
      disabled_reason: subscription.disabledReason,
      expires_at: subscription.expiresAt.toISOString(),
    });
  });

  it("is ended by DELETE", async () => {
    const ended: string[] = [];
    const app = desk({
      end: async (id) => {
        ended.push(id);
      },
    });
    const response = await app.request(PATH, { method: "DELETE", ...WITH_TOKEN });
    expect(await bodyOf(response)).toEqual({ ...SUBSCRIPTION, status: "ended" });
    expect(ended).toEqual([SUBSCRIPTION_ID]);
  });

  it("is tested by an event whose id is answered", async () => {
    const response = await desk().request(`${PATH}/test`, { method: "POST", ...WITH_TOKEN });
    expect(await bodyOf(response)).toEqual({
      subscription_id: SUBSCRIPTION_ID,
      delivery_id: DELIVERY_ID,
      state: "pending",
    });
  });

  it.each([
    ["the manage token, which stays", WITH_TOKEN, null],
    ["its owner, who gets a new manage token", WITH_KEY, MANAGE_TOKEN],
  ])("is given a new secret by %s", async (_who, credentials, manage_token) => {
    const response = await desk().request(`${PATH}/rotate`, { method: "POST", ...credentials });
    expect(await bodyOf(response)).toEqual({
      subscription_id: SUBSCRIPTION_ID,
      secret: SECRET,
      previous_valid_until: "2026-11-21T10:00:00.000Z",
      older_secret_ended: false,
      manage_token,
    });
  });
});

describe("deliveries", () => {
  const delivery: Delivery = {
    id: DELIVERY_ID,
    type: "subscription.test",
    state: "pending",
    createdAt: NOW,
    deliveredAt: null,
    nextAttemptAt: new Date("2026-11-20T10:05:05.000Z"),
    body: '{"type":"subscription.test","data":{}}',
    attempts: [{ at: NOW, status: null, latencyMs: 10_000, failure: "No answer." }],
  };

  it("are shown with what is sent and every attempt", async () => {
    const app = desk({ deliveries: async () => [delivery] });
    expect(await bodyOf(await app.request(`${PATH}/deliveries`, WITH_TOKEN))).toEqual({
      subscription_id: SUBSCRIPTION_ID,
      deliveries: [
        {
          id: DELIVERY_ID,
          type: "subscription.test",
          state: "pending",
          created_at: "2026-11-20T10:00:00.000Z",
          delivered_at: null,
          next_attempt_at: "2026-11-20T10:05:05.000Z",
          payload: { type: "subscription.test", data: {} },
          attempts: [
            { at: "2026-11-20T10:00:00.000Z", status: null, latency_ms: 10_000, failure: "No answer." },
          ],
        },
      ],
      next_cursor: null,
    });
  });

  it("come in pages", async () => {
    const asked: DeliveryPage[] = [];
    const app = desk({
      deliveries: async (_id, page) => {
        asked.push(page);
        return Array.from({ length: 3 }, () => delivery);
      },
    });
    const path = `${PATH}/deliveries?limit=2&cursor=${DELIVERY_ID}`;
    const body = await bodyOf<{ deliveries: unknown[] }>(await app.request(path, WITH_TOKEN));
    expect(body).toMatchObject({ next_cursor: DELIVERY_ID });
    expect(body.deliveries).toHaveLength(2);
    expect(asked).toEqual([{ limit: 3, after: DELIVERY_ID }]);
  });

  it.each(["limit=0", "limit=101", "limit=x", "cursor=x"])("refuse %s", async (query) => {
    expect((await desk().request(`${PATH}/deliveries?${query}`, WITH_TOKEN)).status).toBe(422);
  });

  it("are replayed with the id that they have", async () => {
    const response = await desk().request(`${PATH}${REPLAY}`, { method: "POST", ...WITH_TOKEN });
    expect(await bodyOf(response)).toEqual({
      subscription_id: SUBSCRIPTION_ID,
      delivery_id: DELIVERY_ID,
      state: "pending",
    });
  });

  it("returns 404 for unknown deliveries and 422 for malformed ids", async () => {
    const replay = (id: string) =>
      desk().request(`${PATH}/deliveries/${id}/replay`, { method: "POST", ...WITH_TOKEN });
    expect((await replay(`msg_${"00".repeat(16)}`)).status).toBe(404);
    expect((await replay("x")).status).toBe(422);
  });
});

describe("an action on a subscription", () => {
  it.each([
    ["/test", "test"],
    ["/rotate", "rotate"],
    [REPLAY, "replay"],
  ] as const)(
    "%s happens once under one Idempotency-Key, and its repeat shows no secret",
    async (path, port) => {
      let times = 0;
      const { subscriptions } = fakeAlertPorts(fakeLedger().ledger);
      const counted = async (...given: never[]) => {
        times += 1;
        return (subscriptions[port] as (...given: never[]) => Promise<unknown>)(...given);
      };
      const app = desk({ [port]: counted });
      const ask = (credentials: { readonly headers: Record<string, string> }, key: string) =>
        app.request(`${PATH}${path}`, {
          method: "POST",
          headers: { ...credentials.headers, "Idempotency-Key": key },
        });
      const first = await bodyOf<object>(await ask(WITH_TOKEN, "1"));
      const hidden = port === "rotate" ? { secret: null, manage_token: null } : {};
      expect(await bodyOf(await ask(WITH_TOKEN, "1"))).toEqual({ ...first, ...hidden });
      expect(times).toBe(1);
      await ask(WITH_KEY, "1");
      await ask(WITH_TOKEN, "2");
      expect(times).toBe(3);
    },
  );

  it.each([
    ["/test", { test: async () => ({ id: DELIVERY_ID, outcome: "recent" }) }],
    [REPLAY, { replay: async () => "recent" }],
  ] satisfies [string, Partial<Subscriptions>][])(
    "%s within a minute of the last attempt is 429",
    async (path, changes) => {
      const response = await desk(changes).request(`${PATH}${path}`, { method: "POST", ...WITH_TOKEN });
      expect([response.status, response.headers.get("retry-after")]).toEqual([429, "60"]);
    },
  );

  it("counts against the rate of the manage token", async () => {
    const count = async () => {
      throw new Problem("rate-limited", "Too many.");
    };
    expect((await desk({ count }).request(PATH, WITH_TOKEN)).status).toBe(429);
    const stranger = { headers: { Authorization: "Bearer amt_x" } };
    expect((await desk({ count }).request(PATH, stranger)).status).toBe(404);
  });
});
