import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { type Attestation, ahsRecordSchema } from "../../../../service/api/schemas/ahs-record.ts";
import { paidBy, payingAccess } from "../../access/paying-access.ts";
import {
  bodyOf,
  fakeApp,
  fakeBacking,
  fakeLedger,
  insufficientScore,
  LISTING,
  NOW,
  ORACLE,
  SHOWN_BACKING,
  SHOWN_SELLER,
  storedScore,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";

const PATH = `/ahs/${WALLET}`;

async function unexpected(): Promise<never> {
  throw new Error("not expected to be called");
}

const RECORD = {
  address: WALLET_EIP55,
  ahs_score: 84,
  grade: "B",
  grade_label: "Good",
  d1_score: 88,
  d2_score: 82,
  d3_score: null,
  mode: "2D",
  sanctions_flags: [],
  threats: [],
  grade_reason: "Grade B: an estimated 98% of its calls succeed (success rate, −4 points).",
  improvement: {
    ...{ feature: "success_rate", title: "Success rate", points: 3.6 },
    says: "Simulate each call before sending it, and hold back the calls that would fail",
  },
  reason_codes: [],
  trust_routing: "instant_settle",
  confidence: 0.81,
  confidence_level: "HIGH",
  patterns: [],
  trend: null,
  timestamp: NOW.toISOString(),
  model_version: "AHS-2026.2",
  chain_id: 31337,
  as_of_block: 970,
  as_of_time: "2026-11-20T09:59:00.000Z",
  inputs_hash: `0x${"22".repeat(32)}`,
  coverage: { from_block: 1, to_block: 970, complete: true, sources: ["index"] },
  published: null,
  backing: SHOWN_BACKING,
  seller_profile: SHOWN_SELLER,
  stale: false,
};

describe("GET /ahs/{address}", () => {
  it("answers the whole record, flat, for one dollar", async () => {
    const { app, keys, read } = fakeApp();
    const response = await app.request(PATH, WITH_KEY);
    expect([response.status, await response.json()]).toEqual([200, RECORD]);
    expect(keys.balance()).toBe(4000);
    expect(keys.states()).toEqual(["kept"]);
    expect(read).toEqual([WALLET]);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
  });

  it("shows no backing while it is unknown", async () => {
    const { app } = fakeApp({ backing: fakeBacking(null).ledger });
    expect(await bodyOf(await app.request(PATH, WITH_KEY))).toEqual({
      ...RECORD,
      backing: null,
      seller_profile: null,
    });
  });

  it("adds the parts that include names, in any order and number", async () => {
    const attestation: Attestation = {
      typed_data: {
        domain: { name: "AgentHealthScore", version: "2", chainId: 31337, verifyingContract: ORACLE },
        types: { Score: [{ name: "wallet", type: "address" }] },
        primaryType: "Score",
        message: { wallet: WALLET_EIP55, score: 84, asOf: "970" },
      },
      signer: ORACLE,
      signature: "0x12",
    };
    const { app } = fakeApp({ attest: async () => attestation });
    const response = await app.request(`${PATH}?include=attestation,features&include=history`, WITH_KEY);
    const body = await response.json();
    expect(body).toEqual({
      ...RECORD,
      attestation,
      features: storedScore().features.map((line) => ({
        ...{ ...line, title: "Success rate", says: "An estimated 98% of its calls succeed" },
        ...{ contribution: 88, inputs: {} },
      })),
      ...{ dimensions: [], adjustments: [] },
      history: [
        {
          ahs_score: 84,
          grade: "B",
          d1_score: 88,
          d2_score: 82,
          confidence: 0.81,
          confidence_level: "HIGH",
          as_of_block: 970,
          as_of_time: "2026-11-20T09:59:00.000Z",
          model_version: "AHS-2026.2",
          inputs_hash: `0x${"22".repeat(32)}`,
        },
      ],
    });
    expect(ahsRecordSchema.parse(body)).toEqual(body);
  });

  it("refuses an unknown part with the accepted ones, uncharged", async () => {
    const { app, keys } = fakeApp();
    const response = await app.request(`${PATH}?include=features,weather`, WITH_KEY);
    const expected = "'features', 'history', 'attestation' or 'infrastructure'";
    expect([response.status, await response.json()]).toEqual([
      422,
      {
        detail: [
          {
            type: "literal_error",
            loc: ["query", "include", 1],
            msg: `Input should be ${expected}`,
            input: "weather",
            ctx: { expected },
          },
        ],
      },
    ]);
    expect(keys.states()).toEqual([]);
  });

  it.each([
    [42_500_000n, 42.5],
    [0n, 0],
    [null, null],
  ])("shows what the oracle holds, with its grade and %s as safe amount", async (safeMicroUsd, shown) => {
    const published = {
      ...{ ahsScore: 91, safeMicroUsd },
      asOfBlock: 960,
      transactionHash: `0x${"33".repeat(32)}`,
      publishedAt: new Date("2026-11-20T09:58:00.000Z"),
    } as const;
    const { app } = fakeApp({ scores: { published: async () => published } });
    const body = await bodyOf(await app.request(PATH, WITH_KEY));
    expect(body.published).toEqual({
      oracle: ORACLE,
      ahs_score: 91,
      grade: "A",
      safe_amount_usd: shown,
      as_of_block: 960,
      tx_hash: `0x${"33".repeat(32)}`,
      published_at: "2026-11-20T09:58:00.000Z",
    });
  });

  it("says INSUFFICIENT with nulls and escrow, never with a low grade", async () => {
    const { app } = fakeApp({ scoreNow: async () => ({ kind: "stored", row: insufficientScore() }) });
    const body = await bodyOf(await app.request(PATH, WITH_KEY));
    expect(body).toEqual({
      ...RECORD,
      ahs_score: null,
      grade: null,
      grade_label: "Insufficient history",
      grade_reason: "No grade: too little history, or none that is recent; this is no sign of risk.",
      improvement: null,
      d1_score: null,
      d2_score: null,
      confidence: 0.15,
      confidence_level: "INSUFFICIENT",
      trust_routing: "escrow",
    });
  });

  it("scores a sanctioned wallet 0 and rejects it", async () => {
    const row = storedScore({
      ahsScore: 0,
      d1Score: 0,
      grade: "F",
      confidenceMicros: 1_000_000,
      sanctioned: true,
      sanctionsFlags: [LISTING],
    });
    const { app } = fakeApp({ scoreNow: async () => ({ kind: "stored", row }) });
    const body = await bodyOf(await app.request(PATH, WITH_KEY));
    expect(body).toMatchObject({
      ahs_score: 0,
      d1_score: 0,
      grade: "F",
      trust_routing: "reject",
      confidence: 1,
    });
    expect(body.sanctions_flags).toEqual([LISTING]);
  });

  it.each([
    ["improving", { points: 3, change: 5.1 }],
    ["declining", { points: 9, change: -5.1 }],
    ["stable", { points: 3, change: -5 }],
    [null, { points: 2, change: 40 }],
    [null, { points: 3, change: null }],
  ])("calls the trend %s for %o", async (trend, stored) => {
    const { app } = fakeApp({ scores: { trend: async () => stored } });
    expect((await bodyOf(await app.request(PATH, WITH_KEY))).trend).toBe(trend);
  });

  it("is stale once the score's block is older than a day", async () => {
    const row = storedScore({ asOfTime: new Date(NOW.getTime() - 24 * 3_600_000 - 1) });
    const { app } = fakeApp({ scoreNow: async () => ({ kind: "stored", row }) });
    expect((await bodyOf(await app.request(PATH, WITH_KEY))).stale).toBe(true);
  });

  it.each([
    [404, { kind: "not-indexed" }, "/docs#problem-not-indexed", null],
    [
      503,
      { kind: "unavailable", detail: "No finalized block yet.", retryAfterSeconds: 7 },
      "/docs#problem-scoring-unavailable",
      "7",
    ],
  ] as const)("gives the price back when scoring ends in %i", async (status, result, type, retryAfter) => {
    const { app, keys } = fakeApp({ scoreNow: async () => result });
    const response = await app.request(PATH, WITH_KEY);
    expect([response.status, response.headers.get("retry-after")]).toEqual([status, retryAfter]);
    expect(await response.json()).toMatchObject({ type });
    expect(keys.balance()).toBe(5000);
    expect(keys.states()).toEqual(["returned"]);
  });

  it("asks the history source for whatever wallet it is, where there is one, and charges for what comes of it", async () => {
    for (const followed of [true, false]) {
      const { app, keys } = fakeApp({
        scores: { snapshot: async () => walletSnapshot({ followed, score: null }) },
        scoreNow: unexpected,
        scoreOnDemand: async () => ({ kind: "stored", row: storedScore() }),
      });
      expect((await app.request(PATH, WITH_KEY)).status).toBe(200);
      expect(keys.states()).toEqual(["kept"]);
    }
  });

  it("is paid before a history may be fetched, and after the work where none can be", async () => {
    const settlements: unknown[] = [];
    for (const scoreOnDemand of [async () => ({ kind: "stored", row: storedScore() }) as const, null]) {
      const ledger = fakeLedger();
      const { access, taken } = payingAccess({
        keys: ledger.ledger,
        clock: { now: () => NOW },
        logger: pino({ level: "silent" }),
      });
      const { app } = fakeApp({ access, scoreOnDemand });
      expect((await app.request(PATH, { headers: paidBy(1) })).status).toBe(200);
      settlements.push(taken[0]?.settlement);
    }
    expect(settlements).toEqual(["before", "after"]);
  });

  it.each<[string, () => Promise<boolean>, number, string]>([
    ["has sent no transaction", async () => false, 404, "not-indexed"],
    [
      "may have, while the node does not answer",
      () => Promise.reject(new Error("timeout")),
      503,
      "history-unavailable",
    ],
  ])("charges nothing for a wallet outside the index that %s", async (_name, hasSent, status, code) => {
    const { app, keys } = fakeApp({
      ...{ scores: { snapshot: async () => walletSnapshot({ followed: false, score: null }) }, hasSent },
      scoreOnDemand: unexpected,
    });
    const response = await app.request(PATH, WITH_KEY);
    expect([response.status, keys.states(), keys.balance()]).toEqual([status, [], 5000]);
    const { type, detail } = (await response.json()) as { type: string; detail: string };
    expect(type).toBe(`/docs#problem-${code}`);
    if (status === 404)
      expect(detail).toContain("The index follows it from the moment that an agent registers it");
  });

  it("gives the price back while a history is read, or when its source fails", async () => {
    const detail = "The wallet's history is still being read.";
    const { app, keys } = fakeApp({
      scores: { snapshot: async () => walletSnapshot({ followed: false, score: null }) },
      scoreOnDemand: async () => ({ kind: "history-unavailable", detail, retryAfterSeconds: 5 }),
    });
    const response = await app.request(PATH, WITH_KEY);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({ type: "/docs#problem-history-unavailable", detail });
    expect(keys.states()).toEqual(["returned"]);
  });

  it("does not ask the history source for a listed wallet", async () => {
    const { app } = fakeApp({
      scores: {
        snapshot: async () => walletSnapshot({ followed: false, score: null, sanctions: [LISTING] }),
      },
      scoreOnDemand: unexpected,
    });
    expect((await app.request(PATH, WITH_KEY)).status).toBe(200);
  });

  it("gives the price back when the work throws, and hides the reason", async () => {
    const { app, keys, log } = fakeApp({
      scoreNow: async () => {
        throw new Error("a secret detail");
      },
    });
    const response = await app.request(PATH, WITH_KEY);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).not.toContain("secret");
    expect(keys.states()).toEqual(["returned"]);
    expect(log.join("")).toContain("a secret detail");
  });

  it("answers although interest could not be recorded", async () => {
    const { app, log } = fakeApp({
      recordInterest: async () => {
        throw new Error("no");
      },
    });
    expect((await app.request(PATH, WITH_KEY)).status).toBe(200);
    expect(log.join("")).toContain("interest not recorded");
  });

  it("costs an unlimited key nothing", async () => {
    const { app, keys } = fakeApp({}, fakeLedger({ balanceUnits: null }));
    expect((await app.request(PATH, WITH_KEY)).status).toBe(200);
    expect(keys.states()).toEqual([]);
  });
});
