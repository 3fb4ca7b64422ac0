import { describe, expect, it } from "vitest";
import { type AhsRecord, ahsRecordSchema } from "../../../../service/api/schemas/ahs-record.ts";
import type { Services } from "../../../../service/api/services.ts";
import { plainLine } from "../../../../service/model/score/score-total.ts";
import type { StoredProbe, WalletAgent } from "../../../../service/registries/probes/probes-of-wallet.ts";
import type { ReservedVisit } from "../../../../service/registries/probes/url-visit.ts";
import type { StoredScore } from "../../../../service/scores/stored-score.ts";
import {
  bodyOf,
  fakeApp,
  fakeLedger,
  insufficientScore,
  NOW,
  storedScore,
  WALLET,
  WITH_KEY,
} from "../fake-ports.ts";

const PATH = `/ahs/${WALLET}?include=infrastructure`;
const ENDPOINT = "https://agent.example/a2a";

const AGENT: WalletAgent = {
  registry: null,
  agentId: "22",
  state: "current",
  detail: null,
  fetchedAt: new Date("2026-11-20T04:00:00.000Z"),
  services: [
    { name: "A2A", endpoint: ENDPOINT, version: "0.3.0" },
    { name: "ENS", endpoint: "agent.eth", version: null },
  ],
};

/** One good probe an hour, the newest last. */
function probes(count: number, changes: Partial<StoredProbe> = {}): StoredProbe[] {
  return Array.from({ length: count }, (_, i) => ({
    endpoint: ENDPOINT,
    at: new Date(NOW.getTime() - (count - 1 - i) * 3_600_000),
    outcome: "ok",
    status: 200,
    latencyMs: 150,
    valid: true,
    detail: null,
    quarters: 1,
    ...changes,
  }));
}

/** 84 = 0.30 · 88 + 0.70 · 82, rounded. */
const ROW = storedScore({
  features: [
    { ...plainLine("D1", "success_rate", 8_800), score: 88, weight: 1 },
    { ...plainLine("D2", "adaptation", 8_200), score: 82, weight: 1 },
    { ...plainLine("AHS", "d1", 2_640), value: 88, score: 88, weight: 0.3 },
    { ...plainLine("AHS", "d2", 5_740), value: 82, score: 82, weight: 0.7 },
    plainLine("AHS", "rounding", 20),
  ],
});

type Infrastructure = Partial<Services["infrastructure"]>;

function app(infrastructure: Infrastructure, row: StoredScore = ROW) {
  return fakeApp({
    scoreNow: async () => ({ kind: "stored", row }),
    infrastructure: {
      agents: async () => [AGENT],
      probes: async () => probes(30),
      probing: async () => new Map([[ENDPOINT, "regular"]]),
      ...infrastructure,
    },
  });
}

/** A place for a visit that logs what becomes of it. */
function fakePlace() {
  const log: string[] = [];
  const reserve = (): ReservedVisit => {
    log.push("reserved");
    return {
      visit: async (asked) => {
        log.push(`visited ${asked}`);
        return { outcome: "error", status: 503, latencyMs: 12, valid: null, detail: "It answered 503." };
      },
      release: () => {
        log.push("released");
      },
    };
  };
  return { log, reserve };
}

async function ask(path: string, infrastructure: Infrastructure = {}, row: StoredScore = ROW) {
  const response = await app(infrastructure, row).app.request(path, WITH_KEY);
  expect(response.status).toBe(200);
  return bodyOf<AhsRecord>(response);
}

describe("GET /ahs/{address}?include=infrastructure", () => {
  it("answers in 3D for this answer alone, and routes by the stored score", async () => {
    const body = await ask(PATH);
    // 0.25 · 88 + 0.45 · 82 + 0.30 · 100 = 88.9
    expect(body).toMatchObject({
      mode: "3D",
      d3_score: 100,
      ahs_score: 89,
      grade: "B",
      grade_label: "Good",
      d1_score: 88,
      d2_score: 82,
      trust_routing: "instant_settle",
      confidence: 0.81,
      inputs_hash: ROW.inputsHash,
    });
    expect(body.infrastructure).toEqual({
      window: { from: "2026-11-13T10:00:00.000Z", to: "2026-11-20T10:00:00.000Z" },
      probes: 30,
      availability: 1,
      error_rate: 0,
      latency_p50_ms: 150,
      latency_p95_ms: 150,
      validity: 1,
      reason: null,
      agents: [
        {
          agent_id: "22",
          registry: null,
          document: "current",
          detail: null,
          fetched_at: "2026-11-20T04:00:00.000Z",
        },
      ],
      endpoints: [
        {
          url: ENDPOINT,
          services: [{ agent_id: "22", registry: null, name: "A2A", version: "0.3.0" }],
          probing: "regular",
          probes: 30,
          availability: 1,
          error_rate: 0,
          latency_p50_ms: 150,
          latency_p95_ms: 150,
          validity: 1,
          last: {
            at: NOW.toISOString(),
            outcome: "ok",
            status: 200,
            latency_ms: 150,
            valid: true,
            detail: null,
          },
          history: [],
        },
      ],
      endpoints_declared: 1,
      agent_url: null,
    });
    expect(ahsRecordSchema.parse(body)).toEqual(body);
  });

  it("says of an endpoint that is not probed that nothing is known of it", async () => {
    const body = await ask(PATH, { probes: async () => [], probing: async () => new Map() });
    expect(body.mode).toBe("2D");
    expect(body.infrastructure?.endpoints).toEqual([
      expect.objectContaining({
        probing: "none",
        probes: 0,
        availability: null,
        error_rate: null,
        last: null,
      }),
    ]);
  });

  it("explains every point when features are asked for as well", async () => {
    const answer = await ask(`/ahs/${WALLET}?include=features,infrastructure`);
    const { features = [], dimensions = [], adjustments = [] } = answer;
    const parts = [
      ...features.map(({ dimension, contribution }) => ({ dimension, points: contribution ?? 0 })),
      ...dimensions.map(({ points }) => ({ dimension: "AHS", points })),
      ...adjustments,
    ];
    const sumOf = (wanted: string) =>
      parts.filter(({ dimension }) => dimension === wanted).reduce((sum, { points }) => sum + points, 0);
    expect(["D1", "D2", "D3", "AHS"].map(sumOf)).toEqual([88, 82, 100, 89]);
  });

  it("counts a visit to a dead endpoint for every quarter hour that it represents", async () => {
    const dead = probes(5, { outcome: "timeout", status: null, latencyMs: null, valid: null, quarters: 4 });
    const body = await ask(PATH, { probes: async () => [...probes(60).slice(0, 20), ...dead] });
    const figures = { probes: 40, availability: 0.5, error_rate: 0.5, latency_p95_ms: 10_000 };
    expect(body.infrastructure).toMatchObject({ ...figures, endpoints: [figures] });
  });

  it("shows each day of an endpoint", async () => {
    const day = {
      endpoint: ENDPOINT,
      day: "2026-11-19",
      probes: 96,
      alive: 72,
      latencyP50Ms: 120,
      latencyP95Ms: 10_000,
    };
    const body = await ask(PATH, { days: async () => [day] });
    expect(body.infrastructure?.endpoints[0]?.history).toEqual([
      {
        day: "2026-11-19",
        probes: 96,
        availability: 0.75,
        error_rate: 0.25,
        latency_p50_ms: 120,
        latency_p95_ms: 10_000,
      },
    ]);
  });

  it.each([
    [
      "too few probes",
      { probes: async () => probes(19) },
      "19 of at least 20 probes, over 18 of at least 24 hours",
    ],
    [
      "no agent",
      { agents: async () => [], probes: async () => [] },
      "no agent of the wallet declares an http(s) endpoint",
    ],
    [
      "no http endpoint",
      {
        agents: async () => [{ ...AGENT, services: [{ name: "ENS", endpoint: "a.eth", version: null }] }],
        probes: async () => [],
      },
      "no agent of the wallet declares an http(s) endpoint",
    ],
  ])("stays 2D with %s, and says so", async (_name, infrastructure, reason) => {
    const body = await ask(`/ahs/${WALLET}?include=features,infrastructure`, infrastructure);
    expect(body).toMatchObject({ mode: "2D", d3_score: null, ahs_score: 84, grade: "B" });
    expect(body.infrastructure?.reason).toBe(reason);
    const d3 = body.features?.filter((line) => line.dimension === "D3");
    expect(d3?.map(({ contribution }) => contribution)).toEqual(Array(5).fill(null));
  });

  it("gives no score to a wallet without enough history, however good its services", async () => {
    const body = await ask(PATH, {}, { ...insufficientScore(), features: [] });
    expect(body).toMatchObject({ mode: "2D", d3_score: null, ahs_score: null, grade: null });
    expect(body.infrastructure?.availability).toBe(1);
  });

  it("falls with failing services", async () => {
    const dead = { outcome: "error", status: 503, valid: null } as const;
    const body = await ask(PATH, { probes: async () => probes(30, dead) });
    // 22 + 36.9 + 0
    expect(body).toMatchObject({ mode: "3D", d3_score: 0, ahs_score: 59, grade: "D" });
  });

  it("shows what is known of a document that vanished", async () => {
    const gone = { ...AGENT, state: "unreachable", detail: "The host answered 404." } as const;
    const body = await ask(PATH, { agents: async () => [gone] });
    expect(body.infrastructure?.agents).toEqual([
      {
        agent_id: "22",
        registry: null,
        document: "unreachable",
        detail: "The host answered 404.",
        fetched_at: "2026-11-20T04:00:00.000Z",
      },
    ]);
    expect(body.mode).toBe("3D");
  });

  it("shows at most fifty endpoints and says how many there are", async () => {
    const services = Array.from({ length: 60 }, (_, i) => ({
      name: "web",
      endpoint: `https://agent.example/${i}`,
      version: null,
    }));
    const asked: number[] = [];
    const body = await ask(PATH, {
      agents: async () => [{ ...AGENT, services }],
      probes: async (urls) => {
        asked.push(urls.length);
        return [];
      },
    });
    expect([body.infrastructure?.endpoints.length, body.infrastructure?.endpoints_declared, asked]).toEqual([
      50,
      60,
      [50],
    ]);
  });

  it.each([
    ["agents", []],
    ["probes", ["returned"]],
  ] as const)("costs nothing when its %s cannot be read", async (table, states) => {
    const { app: broken, keys } = app({
      [table]: async () => {
        throw new Error("timeout exceeded when trying to connect");
      },
    });
    const response = await broken.request(PATH, WITH_KEY);
    expect([response.status, keys.states()]).toEqual([503, states]);
  });
});

describe("agent_url", () => {
  const url = (text: string) => `/ahs/${WALLET}?agent_url=${encodeURIComponent(text)}`;

  it.each([
    [ENDPOINT, ENDPOINT],
    [`${ENDPOINT}/tasks?id=1#x`, `${ENDPOINT}/tasks?id=1`],
    ["HTTPS://AGENT.example:443/a2a", ENDPOINT],
  ])("%s counts as part of the endpoint that is declared, without a visit", async (given, shown) => {
    const body = await ask(url(given));
    expect(body.infrastructure?.agent_url).toEqual({
      url: shown,
      bound: true,
      endpoint: ENDPOINT,
      probe: null,
    });
    expect(body).toMatchObject({ mode: "3D", d3_score: 100, ahs_score: 89 });
  });

  it.each(["https://agent.example/a2a-other", "https://elsewhere.example/a2a", "https://agent.example/"])(
    "%s is visited once, shown, and scores nothing",
    async (given) => {
      const place = fakePlace();
      const body = await ask(url(given), { reserve: place.reserve });
      expect(place.log).toEqual(["reserved", `visited ${given}`, "released"]);
      expect(body.infrastructure?.agent_url).toEqual({
        url: given,
        bound: false,
        endpoint: null,
        probe: {
          at: NOW.toISOString(),
          outcome: "error",
          status: 503,
          latency_ms: 12,
          valid: null,
          detail: "It answered 503.",
        },
      });
      expect(body).toMatchObject({ mode: "3D", d3_score: 100, ahs_score: 89 });
    },
  );

  it("names the nearest endpoint above it", async () => {
    const endpoints = ["https://agent.example/", "https://agent.example/a/b", "https://agent.example/a"];
    const services = endpoints.map((endpoint) => ({ name: "web", endpoint, version: null }));
    const body = await ask(url("https://agent.example/a/b/c"), {
      agents: async () => [{ ...AGENT, services }],
    });
    expect(body.infrastructure?.agent_url?.endpoint).toBe("https://agent.example/a/b");
  });

  it.each([
    ["", "string_too_short"],
    [`https://agent.example/${"a".repeat(2_048)}`, "string_too_long"],
  ])("of a wrong length is refused by the schema", async (given, type) => {
    const { app: any, keys } = app({});
    const response = await any.request(url(given), WITH_KEY);
    expect([response.status, await bodyOf<object>(response)]).toEqual([
      422,
      { detail: [expect.objectContaining({ type, loc: ["query", "agent_url"] })] },
    ]);
    expect(keys.states()).toEqual([]);
  });

  it("answers 503 before the debit and the work while too many are visited", async () => {
    const scored: string[] = [];
    const { app: busy, keys } = fakeApp({
      scoreNow: async (address) => {
        scored.push(address);
        return { kind: "stored", row: ROW };
      },
      infrastructure: { reserve: () => null },
    });
    const response = await busy.request(url("https://elsewhere.example/"), WITH_KEY);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "10"]);
    expect([keys.states(), scored]).toEqual([[], []]);
  });

  it("takes no place when the price cannot be paid, and frees it when there is no score", async () => {
    const unpaid = fakePlace();
    const poor = fakeApp({ infrastructure: { reserve: unpaid.reserve } }, fakeLedger({ balanceUnits: 999 }));
    const refused = await poor.app.request(url("https://elsewhere.example/"), WITH_KEY);
    expect([refused.status, unpaid.log]).toEqual([402, []]);

    const unscored = fakePlace();
    const { app: without, keys } = fakeApp({
      scoreNow: async () => ({ kind: "unavailable", detail: "not yet", retryAfterSeconds: 1 }),
      infrastructure: { reserve: unscored.reserve },
    });
    const response = await without.request(url("https://elsewhere.example/"), WITH_KEY);
    expect([response.status, keys.states(), unscored.log]).toEqual([
      503,
      ["returned"],
      ["reserved", "released"],
    ]);
  });
});
