import { describe, expect, it } from "vitest";
import type { SubscribeRequest } from "../../../../service/alerts/subscriptions.ts";

import type { Services } from "../../../../service/api/services.ts";
import { bodyOf, fakeApp, fakeLedger, KEY, WALLET, WALLET_EIP55, WITH_KEY } from "../fake-ports.ts";
import { fakeAlertPorts, MANAGE_TOKEN, SECRET, SUBSCRIPTION_ID } from "./fake-alert-ports.ts";

const HOOK = "https://hooks.example.com/agent-health";

function pathOf(query: Readonly<Record<string, string>> = { webhook_url: HOOK }): string {
  return `/alerts/subscribe/${WALLET}?${new URLSearchParams(query)}`;
}

function shop(changes: Parameters<typeof fakeApp>[0] = {}) {
  const keys = fakeLedger();
  const bought: SubscribeRequest[] = [];
  return { bought, ...fakeApp({ ...fakeAlertPorts(keys.ledger, bought), ...changes }, keys) };
}

describe("GET /alerts/subscribe/{address}", () => {
  it("sells 30 days of monitoring for 2 dollars and shows the secrets", async () => {
    const { app, keys, bought, read } = shop();
    const response = await app.request(pathOf(), WITH_KEY);
    expect([response.status, await bodyOf(response)]).toEqual([
      200,
      {
        subscription_id: SUBSCRIPTION_ID,
        address: WALLET_EIP55,
        chain_id: 31337,
        webhook_url: HOOK,
        events: ["ahs.grade_changed", "ahs.sanctions_hit"],
        thresholds: [],
        status: "unverified",
        disabled_reason: null,
        created_at: "2026-11-20T10:00:00.000Z",
        expires_at: "2026-12-20T10:00:00.000Z",
        secret: SECRET,
        manage_token: MANAGE_TOKEN,
      },
    ]);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(keys.balance()).toBe(3000);
    expect(bought).toEqual([
      {
        wallet: WALLET,
        owner: "key:key-1",
        webhookUrl: HOOK,
        events: null,
        thresholds: null,
        purchase: `debit ${bought[0]?.debitId}`,
        debitId: expect.stringMatching(/^2000:/),
      },
    ]);
    expect(read).toEqual([WALLET]);
  });

  it("takes the events that are asked for, each once", async () => {
    const { app, bought } = shop();
    const events = "ahs.sanctions_hit,ahs.grade_changed,ahs.sanctions_hit";
    await app.request(pathOf({ webhook_url: HOOK, events }), WITH_KEY);
    expect(bought[0]?.events).toEqual(["ahs.sanctions_hit", "ahs.grade_changed"]);
  });

  it("takes thresholds, and shows their current values", async () => {
    const { app, bought } = shop();
    const chosen = { score_below: "70", d2_below: "0", confidence_below: "0.125" };
    const answer = await bodyOf(await app.request(pathOf({ webhook_url: HOOK, ...chosen }), WITH_KEY));
    expect(bought[0]).toMatchObject({
      events: null,
      thresholds: { ahsScore: 70, d2Score: 0, confidenceMicros: 125_000 },
    });
    expect(answer.thresholds).toEqual([
      { value: "ahs_score", below: 70, current: 78 },
      { value: "d2_score", below: 0, current: 77 },
      { value: "confidence", below: 0.125, current: 0.81 },
    ]);
  });

  it("takes the event of thresholds alone for a subscription that has some", async () => {
    const asked: unknown[] = [];
    const hasThresholds: Services["hasThresholds"] = async (place) => {
      asked.push(place);
      return true;
    };
    const { app, bought } = shop({ hasThresholds });
    const query = { webhook_url: HOOK, events: "ahs.threshold_breached" };
    expect((await app.request(pathOf(query), WITH_KEY)).status).toBe(200);
    expect(bought[0]).toMatchObject({ events: ["ahs.threshold_breached"], thresholds: null });
    expect(asked).toEqual([{ wallet: WALLET, owner: "key:key-1", webhookUrl: HOOK }]);
  });

  it("repeats the answer without its secrets", async () => {
    const { app, keys, bought } = shop();
    const headers = { "X-API-Key": KEY, "Idempotency-Key": "once" };
    const first = await bodyOf(await app.request(pathOf(), { headers }));
    const second = await bodyOf(await app.request(pathOf(), { headers }));
    expect(second).toEqual({ ...first, secret: null, manage_token: null });
    expect([bought.length, keys.balance()]).toEqual([1, 3000]);
  });

  it.each([
    ["no webhook_url", {}, "missing", ["query", "webhook_url"]],
    ["an empty webhook_url", { webhook_url: "" }, "string_too_short", ["query", "webhook_url"]],
    [
      "an event that is not delivered",
      { events: "ahs.score_changed" },
      "literal_error",
      ["query", "events", 0],
    ],
    [
      "thresholds as an event without any",
      { events: "ahs.grade_changed,ahs.threshold_breached" },
      "value_error",
      ["query", "events"],
    ],
    [
      "a threshold that nobody would be told of",
      { events: "ahs.grade_changed", d1_below: "50" },
      "value_error",
      ["query", "events"],
    ],
    ["a threshold above 100", { score_below: "101" }, "less_than_equal", ["query", "score_below"]],
    ["a threshold below 0", { d1_below: "-1" }, "greater_than_equal", ["query", "d1_below"]],
    ["a threshold between two scores", { d2_below: "50.5" }, "int_parsing", ["query", "d2_below"]],
    ["a threshold that is a word", { score_below: "low" }, "int_parsing", ["query", "score_below"]],
    [
      "a confidence above 1",
      { confidence_below: "1.001" },
      "string_pattern_mismatch",
      ["query", "confidence_below"],
    ],
    [
      "a confidence in four decimals",
      { confidence_below: "0.1234" },
      "string_pattern_mismatch",
      ["query", "confidence_below"],
    ],
    ["an empty list of events", { events: "" }, "literal_error", ["query", "events", 0]],
    [
      "a test event",
      { events: "ahs.grade_changed,subscription.test" },
      "literal_error",
      ["query", "events", 1],
    ],
  ] as const)("refuses %s with 422, uncharged", async (_what, query, type, loc) => {
    const { app, keys, bought } = shop();
    const given: Record<string, string> =
      loc[1] === "webhook_url" ? { ...query } : { webhook_url: HOOK, ...query };
    const response = await app.request(pathOf(given), WITH_KEY);
    expect(response.status).toBe(422);
    expect(await bodyOf(response)).toMatchObject({ detail: [{ type, loc }] });
    expect([keys.balance(), bought]).toEqual([5000, []]);
  });
});
