import { describe, expect, it } from "vitest";
import type { WalletSnapshot } from "../../../../service/scores/stored-score.ts";
import {
  bodyOf,
  fakeApp,
  fakeBacking,
  LISTING,
  NOW,
  PHISHING,
  SHOWN_BACKING,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";

const PATH = `/ahs/route/${WALLET}`;

const DECISION = {
  address: WALLET_EIP55,
  action: "instant_settle",
  ahs_score: 84,
  grade: "B",
  grade_label: "Good",
  confidence: 0.81,
  confidence_level: "HIGH",
  reason: "grade",
  scored_at: "2026-11-20T09:59:00.000Z",
  stale: false,
  policy_applied: false,
  allowlisted: false,
  backing: SHOWN_BACKING,
  threats: [],
  reason_codes: [],
  warning: null,
  agent_health_score: 84,
  routing_recommendation: "instant_settle",
};

const scored = walletSnapshot().score;

function score(changes: Partial<NonNullable<WalletSnapshot["score"]>>): Partial<WalletSnapshot> {
  if (scored === null) throw new Error("the fake standing has a score");
  return { score: { ...scored, ...changes } };
}

async function route(changes: Partial<WalletSnapshot>) {
  const fake = fakeApp({ scores: { snapshot: async () => walletSnapshot(changes) } });
  const response = await fake.app.request(PATH, WITH_KEY);
  return { ...fake, response, body: await bodyOf(response) };
}

const F = {
  ahs_score: 0,
  agent_health_score: 0,
  grade: "F",
  grade_label: "Failing",
  confidence: 1,
  confidence_level: "HIGH",
};

describe("GET /ahs/route/{address}", () => {
  it("answers the decision for one cent", async () => {
    const { response, body, keys, read } = await route({});
    expect([response.status, body]).toEqual([200, DECISION]);
    expect(keys.balance()).toBe(4990);
    expect(read).toEqual([WALLET]);
  });

  it("names lists of threats with a warning, and decides as without them", async () => {
    const { body } = await route({ threats: [PHISHING, { ...PHISHING, list: "other" }] });
    expect(body).toEqual({
      ...DECISION,
      threats: [PHISHING, { ...PHISHING, list: "other" }],
      reason_codes: ["listed_phishing"],
      warning:
        "The wallet is on a list of threats: scamsniffer (phishing), other (phishing). The decision does not take this into account.",
    });
  });

  it.each([
    ["A", "instant_settle"],
    ["B", "instant_settle"],
    ["C", "escrow"],
    ["D", "reject"],
    ["E", "reject"],
    ["F", "reject"],
  ] as const)("routes grade %s to %s", async (grade, action) => {
    const { body } = await route(score({ grade }));
    expect(body).toMatchObject({ grade, action, routing_recommendation: action, reason: "grade" });
  });

  it("sends a wallet never scored to escrow with confidence 0, and records no interest", async () => {
    const { body, read } = await route({ score: null, followed: false });
    expect(body).toEqual({
      ...DECISION,
      action: "escrow",
      routing_recommendation: "escrow",
      ahs_score: null,
      agent_health_score: null,
      grade: null,
      grade_label: "Not scored",
      confidence: 0,
      confidence_level: "INSUFFICIENT",
      reason: "not_scored",
      scored_at: null,
      stale: null,
    });
    expect(read).toEqual([]);
  });

  it("sends a wallet without enough history to escrow", async () => {
    const { body } = await route(
      score({ ahsScore: null, grade: null, confidenceMicros: 150_000, confidenceLevel: "INSUFFICIENT" }),
    );
    expect(body).toMatchObject({
      action: "escrow",
      reason: "insufficient_history",
      ahs_score: null,
      agent_health_score: null,
      grade: null,
      grade_label: "Insufficient history",
      confidence: 0.15,
    });
  });

  it.each([
    ["scored A", score({ grade: "A", ahsScore: 95 })],
    ["never scored", { score: null, followed: false }],
  ])("rejects a listed wallet that is %s", async (_name, changes) => {
    const { body } = await route({ ...changes, sanctions: [LISTING] });
    expect(body).toMatchObject({
      action: "reject",
      reason: "sanctioned",
      routing_recommendation: "reject",
      ...F,
    });
  });

  it("shows no backing while it is unknown", async () => {
    const { app } = fakeApp({ backing: fakeBacking(null).ledger });
    const body = await bodyOf(await app.request(PATH, WITH_KEY));
    expect(body).toEqual({ ...DECISION, backing: null });
  });

  it("is stale once the score is older than a day", async () => {
    const { body } = await route(score({ asOfTime: new Date(NOW.getTime() - 25 * 3_600_000) }));
    expect(body).toMatchObject({ stale: true, action: "instant_settle" });
  });

  it("answers from an index of exactly the allowed age", async () => {
    const { response } = await route({ head: { blockNumber: 5, timestamp: NOW.getTime() / 1000 - 120 } });
    expect(response.status).toBe(200);
  });

  it.each([
    [
      "is out of reach",
      Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect" }),
      "database",
    ],
    ["misses a deadline", Object.assign(new Error("canceling statement"), { code: "57014" }), "database"],
    ["gives no connection", new Error("timeout exceeded when trying to connect"), "database"],
    [
      "has no index yet",
      Object.assign(new Error('relation "chain_31337.block" does not exist'), { code: "42P01" }),
      "index",
    ],
  ])("answers 503 with Retry-After while the database %s", async (_name, error, part) => {
    const fake = fakeApp({
      scores: {
        snapshot: async () => {
          throw error;
        },
      },
    });
    const response = await fake.app.request(PATH, WITH_KEY);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({ type: `/docs#problem-${part}-unavailable` });
    expect(fake.keys.states()).toEqual([]);
  });
});
