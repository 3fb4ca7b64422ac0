import { describe, expect, it } from "vitest";
import type { AlertScore, LiveSubscription } from "../../../service/alerts/alert-subscriptions.ts";
import { ALERT_EVENTS, planEvents, planExpiry, testEvent } from "../../../service/alerts/plan-events.ts";

import { WEBHOOK_EVENTS } from "../../../service/api/schemas/webhooks.ts";
import { storedSubscription } from "../api/routes/fake-alert-ports.ts";

const AT = new Date("2026-11-20T10:00:02.000Z");
const WALLET = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const subscription: LiveSubscription = {
  id: "0b0f7b8e-6a0e-4a43-9f0a-0d5c2d3f7f11",
  endpointId: "11111111-1111-4111-8111-111111111111",
  wallet: WALLET,
  events: ALERT_EVENTS,
  thresholds: {},
  isDisabled: false,
};

const LISTING = {
  source: "chainalysis-oracle",
  reference: `0x${"33".repeat(32)}`,
  detected_at: "2026-11-20T09:59:58.000Z",
} as const;

function score(changes: Partial<AlertScore> = {}): AlertScore {
  return {
    scoreId: 7,
    grade: "B",
    ahsScore: 78,
    d1Score: 81,
    d2Score: 77,
    confidenceMicros: 810_000,
    confidenceLevel: "HIGH",
    sanctioned: false,
    sanctionsFlags: [],
    asOfBlock: 970,
    asOfTime: new Date("2026-11-20T09:59:00.000Z"),
    inputsHash: `0x${"22".repeat(32)}`,
    ...changes,
  };
}
const B = score();
const C = score({ scoreId: 8, grade: "C", ahsScore: 71 });
const B_AGAIN = score({ scoreId: 8, ahsScore: 85 });
const INSUFFICIENT = score({ scoreId: 9, grade: null, ahsScore: null, confidenceLevel: "INSUFFICIENT" });
const LISTED = score({ scoreId: 10, grade: "F", ahsScore: 0, sanctioned: true, sanctionsFlags: [LISTING] });
const LISTED_AGAIN = score({ ...LISTED, scoreId: 11 });
const F = score({ scoreId: 12, grade: "F", ahsScore: 3 });
const LESS_SURE = score({ scoreId: 13, confidenceMicros: 550_000, confidenceLevel: "MEDIUM" });
const A_LITTLE_LESS_SURE = score({ scoreId: 14, confidenceMicros: 790_000 });

function planned(before: AlertScore | null, after: AlertScore, to = subscription) {
  return planEvents({ chainId: 31_337, wallet: WALLET, before, after }, to, AT);
}

describe("the event of a change of the current score", () => {
  it.each([
    ["another grade", B, C, ["ahs.grade_changed"]],
    ["another score of the same grade", B, B_AGAIN, []],
    ["the same score", B, B, []],
    ["no history any more", B, INSUFFICIENT, ["ahs.grade_changed", "ahs.confidence_changed"]],
    ["enough history", INSUFFICIENT, B, ["ahs.grade_changed", "ahs.confidence_changed"]],
    ["a first score", null, B, ["ahs.grade_changed", "ahs.confidence_changed"]],
    ["another level of confidence", B, LESS_SURE, ["ahs.confidence_changed"]],
    ["another confidence of the same level", B, A_LITTLE_LESS_SURE, []],
    ["a first score without history", null, INSUFFICIENT, []],
    ["a listing", B, LISTED, ["ahs.grade_changed", "ahs.sanctions_hit"]],
    ["a listing of a wallet that failed before", F, LISTED, ["ahs.sanctions_hit"]],
    [
      "a first score that is a listing",
      null,
      LISTED,
      ["ahs.grade_changed", "ahs.sanctions_hit", "ahs.confidence_changed"],
    ],
    ["a listing that goes on", LISTED, LISTED_AGAIN, []],
    ["the end of a listing", LISTED, B, ["ahs.grade_changed"]],
    ["the end of a listing of a wallet that fails", LISTED, F, []],
  ] as const)("%s", (_what, before, after, types) => {
    expect(planned(before, after).map(({ type }) => type)).toEqual(types);
  });

  it("is only what the subscription asked for", () => {
    const narrow = { ...subscription, events: ["ahs.sanctions_hit"] };
    expect(planned(B, LISTED, narrow).map(({ type }) => type)).toEqual(["ahs.sanctions_hit"]);
    expect(planned(B, C, narrow)).toEqual([]);
  });

  it("is one event of thresholds, however many were crossed", () => {
    const to = {
      ...subscription,
      thresholds: { ahsScore: 75, d1Score: 81, d2Score: 76, confidenceMicros: 0 },
    };
    const worse = score({ scoreId: 8, ahsScore: 74, d1Score: 81, d2Score: 70 });
    const events = planned(B, worse, to);
    expect(events.map(({ type }) => type)).toEqual(["ahs.threshold_breached"]);
    expect(JSON.parse(events[0]?.body ?? "").data.breached).toEqual([
      { value: "ahs_score", below: 75, previous: 78, current: 74 },
      { value: "d2_score", below: 76, previous: 77, current: 70 },
    ]);
    expect(planned(worse, score({ ...worse, scoreId: 9, ahsScore: 60 }), to)).toEqual([]);
    expect(planned(B, worse, { ...to, events: ["ahs.grade_changed"] })).toEqual([]);
  });

  it("says what was, what is and by which record", () => {
    const [event] = planned(B, C);
    expect(event).toMatchObject({
      endpointId: subscription.endpointId,
      subscriptionId: subscription.id,
      state: "pending",
      notBefore: AT,
      createdAt: AT,
    });
    expect(JSON.parse(event?.body ?? "")).toEqual({
      type: "ahs.grade_changed",
      timestamp: "2026-11-20T10:00:02.000Z",
      data: {
        subscription_id: subscription.id,
        address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
        chain_id: 31_337,
        previous: { grade: "B", ahs_score: 78, trust_routing: "instant_settle" },
        current: { grade: "C", ahs_score: 71, trust_routing: "escrow" },
        confidence: 0.81,
        confidence_level: "HIGH",
        as_of_block: 970,
        as_of_time: "2026-11-20T09:59:00.000Z",
        inputs_hash: C.inputsHash,
      },
    });
  });

  it("names a wallet never scored, one without history and a listed one by how they are routed", () => {
    const routes = [planned(null, LISTED), planned(INSUFFICIENT, LISTED)].map(([event]) => {
      const { data } = JSON.parse(event?.body ?? "");
      return [data.previous, data.current.trust_routing];
    });
    const unscored = { grade: null, ahs_score: null, trust_routing: "escrow" };
    expect(routes).toEqual([
      [unscored, "reject"],
      [unscored, "reject"],
    ]);
  });

  it("carries the flags of a listing", () => {
    const hit = planned(B, LISTED).find(({ type }) => type === "ahs.sanctions_hit");
    expect(JSON.parse(hit?.body ?? "").data.sanctions_flags).toEqual([LISTING]);
  });

  it("says how sure the record was, and is", () => {
    const [changed] = planned(B, LESS_SURE);
    expect(JSON.parse(changed?.body ?? "").data).toMatchObject({
      previous_confidence: 0.81,
      previous_confidence_level: "HIGH",
      confidence: 0.55,
      confidence_level: "MEDIUM",
    });
  });

  it("has one id each time it is planned, and another for another change, type or endpoint", () => {
    const ids = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
    expect(ids(planned(B, LISTED))).toEqual(ids(planned(B, LISTED)));
    const elsewhere = { ...subscription, endpointId: "22222222-2222-4222-8222-222222222222" };
    const all = [planned(B, LISTED), planned(B, C), planned(C, B), planned(B, LISTED, elsewhere)].flatMap(
      ids,
    );
    expect(new Set(all).size).toBe(all.length);
    for (const id of all) expect(id).toMatch(/^msg_[0-9a-f]{32}$/);
  });

  it("is only stored, not sent, for a disabled endpoint", () => {
    expect(planned(B, C, { ...subscription, isDisabled: true })[0]?.state).toBe("dropped");
  });
});

describe("bodies", () => {
  const watching = storedSubscription({ thresholds: { ahsScore: 80, confidenceMicros: 500_000 } });
  const expiresAt = new Date(AT.getTime() + 1_000);
  const all = [
    ...planned(null, LISTED, { ...subscription, thresholds: { ahsScore: 80 } }),
    testEvent(watching, { at: AT, ask: "1" }),
    planExpiry({ ...subscription, chainId: 31_337, expiresAt }, AT),
  ].filter((event) => event !== null);

  it("are of every event that there is", () => {
    expect(all.map(({ type }) => type)).toEqual(Object.keys(WEBHOOK_EVENTS));
  });

  it.each(all.map((event) => [event.type, event.body] as const))("%s fits its schema", (type, body) => {
    const payload = JSON.parse(body);
    expect(WEBHOOK_EVENTS[type as keyof typeof WEBHOOK_EVENTS].schema.parse(payload)).toEqual(payload);
    expect(body.length).toBeLessThan(20_000);
  });

  it("are described for every event that there is", () => {
    expect(Object.keys(WEBHOOK_EVENTS)).toEqual([
      ...ALERT_EVENTS,
      "subscription.test",
      "subscription.expiring",
    ]);
  });
});
