import { describe, expect, it } from "vitest";
import { CardsOverloaded } from "../../../../service/api/report-card/render-pool.ts";
import type { ReportCard } from "../../../../service/api/routes/get-report-card-schema.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { plainLine, scoreTotal } from "../../../../service/model/score/score-total.ts";
import type { StoredScore } from "../../../../service/scores/stored-score.ts";
import {
  bodyOf,
  fakeApp,
  fakeLedger,
  insufficientScore,
  LISTING,
  storedScore,
  WALLET,
  WALLET_EIP55,
  WITH_KEY,
  walletSnapshot,
} from "../fake-ports.ts";

const PATH = `/report-card/${WALLET}`;

type Changes = Parameters<typeof fakeApp>[0];

async function ask(changes: Changes = {}, path = PATH) {
  const fake = fakeApp(changes);
  const response = await fake.app.request(path, WITH_KEY);
  return { ...fake, response };
}

/** Of a wallet that did well until it was listed, with the lines of its total as the model makes them. */
function sanctionedScore() {
  const listed = "the wallet is on a sanctions list";
  const { lines } = scoreTotal({ d1: 0, d2: 82_000_000, patterns: [], sanctioned: true }, AHS_2026_2);
  return storedScore({
    ...{ ahsScore: 0, d1Score: 0, grade: "F", sanctioned: true, sanctionsFlags: [LISTING] },
    features: [...storedScore().features, plainLine("D1", "sanctions", -8800, listed), ...lines],
  });
}

const cardOf = async (changes: Changes = {}) => bodyOf<ReportCard>((await ask(changes)).response);

describe("GET /report-card/{address}", () => {
  it("answers the score in words, with its rank, for two dollars", async () => {
    const { response, keys } = await ask();
    expect(response.status).toBe(200);
    expect(keys.balance()).toBe(3000);
    expect(await bodyOf<ReportCard>(response)).toMatchObject({
      ...{ chain_name: "Local chain", verify_url: expect.stringMatching(/\/wallet\/0x9965507D/) },
      grade_reason: expect.stringMatching(/^Grade B: /),
      ...{ address: WALLET_EIP55, name: null, ahs_score: 84, grade: "B", grade_label: "Good" },
      ...{ trust_routing: "instant_settle", confidence: 0.81, as_of_block: 970, model_version: "AHS-2026.2" },
      dimensions: [
        {
          ...{ dimension: "D1", title: "Wallet hygiene", weight: 0.3, score: 88 },
          features: [
            { title: "Success rate", says: "An estimated 98% of its calls succeed", contribution: 88 },
          ],
        },
        { dimension: "D2", title: "Behavioural patterns", weight: 0.7, score: 82, features: [] },
      ],
      benchmark: {
        scored_wallets: 10,
        rank: 6,
        percentile: 40,
        average_score: 65.3,
        grade_distribution: { A: 5, B: 2, C: 0, D: 0, E: 0, F: 3 },
      },
      history: [{ as_of_time: "2026-11-20T09:59:00.000Z", ahs_score: 84, grade: "B" }],
    });
  });

  it("shows the listing of a sanctioned wallet first and as the only reason", async () => {
    const { dimensions, adjustments } = await cardOf({
      scoreNow: async () => ({ kind: "stored", row: sanctionedScore() }),
    });
    expect(adjustments).toEqual([
      {
        ...{ dimension: "D1", name: "sanctions", title: "Sanctions", points: -88 },
        says: "The wallet is on a sanctions list",
      },
      {
        ...{ dimension: "AHS", name: "sanctions", title: "Sanctions", points: -57.4 },
        says: "The wallet is on a sanctions list, which alone makes the score 0",
      },
    ]);
    expect(dimensions[0]?.features.map(({ says }) => says)).toEqual([
      "An estimated 98% of its calls succeed",
    ]);
  });

  it("takes any percentile, also one that is no whole number", async () => {
    const card = await cardOf({
      scoreDistribution: async () => [
        { score: 10, wallets: 1 },
        { score: 84, wallets: 1 },
        { score: 90, wallets: 1 },
        { score: 91, wallets: 4 },
      ],
    });
    expect(card.benchmark.percentile).toBe(21.4);
  });

  it("shows a wallet without enough history without a rank, and one on a list as that", async () => {
    const early = await cardOf({ scoreNow: async () => ({ kind: "stored", row: insufficientScore() }) });
    expect(early).toMatchObject({
      ...{ ahs_score: null, grade: null, grade_label: "Insufficient history", trust_routing: "escrow" },
      benchmark: { rank: null, percentile: null },
    });
    const row = storedScore({
      ...{ ahsScore: 0, d1Score: 0, grade: "F", sanctioned: true, sanctionsFlags: [LISTING] },
    });
    expect(await cardOf({ scoreNow: async () => ({ kind: "stored", row }) })).toMatchObject({
      ...{ ahs_score: 0, trust_routing: "reject", sanctions_flags: [LISTING], benchmark: { rank: null } },
    });
  });

  it("shows the score of each day, and nothing where no score is stored", async () => {
    const scoreHistory = (...points: readonly StoredScore[]) => ({
      daily: async () => ({ points, next: null }),
      gradeChanges: async () => ({ points: [], next: null }),
    });
    const early = { ...insufficientScore(), asOfTime: new Date("2026-11-18T01:00:00Z") };
    const card = await cardOf({ scoreHistory: scoreHistory(storedScore(), early) });
    expect(card.history).toEqual([
      { as_of_time: "2026-11-18T01:00:00.000Z", ahs_score: null, grade: null },
      { as_of_time: "2026-11-20T09:59:00.000Z", ahs_score: 84, grade: "B" },
    ]);
    expect((await cardOf({ scoreHistory: scoreHistory() })).history).toEqual([]);
  });

  const named = (...names: readonly string[]) => ({
    describeAccounts: async () =>
      new Map([
        [
          WALLET,
          {
            ...{ address: WALLET, hasCode: false, score: null, sanctions: [] },
            agents: names.map((name, place) => ({ agentId: BigInt(place + 1), registry: null, name })),
          },
        ],
      ]),
  });

  it("shows the name of the agent without hidden characters, marked as unverified", async () => {
    expect(await cardOf(named("</text>\u202e<script>"))).toMatchObject({
      name: "</text><script>",
      name_verified: false,
    });
  });

  it("does not pass on a name that looks like another's", async () => {
    expect((await cardOf(named("Соinbase"))).name).toBeNull();
    expect((await cardOf(named("Соinbase", "Cobalt"))).name).toBe("Cobalt");
    const { response } = await ask(named("Соinbase"), `${PATH}?format=svg`);
    expect(await response.text()).toBe("svg of 0x996550…B0A4dc");
  });

  it.each([
    ["png", "image/png"],
    ["svg", "image/svg+xml"],
  ])("draws it as %s, which is not cached", async (format, type) => {
    const { response, keys } = await ask({}, `${PATH}?format=${format}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("cache-control")).toBe("private, no-store");
    expect(await response.text()).toBe(`${format} of 0x996550…B0A4dc`);
    expect(keys.balance()).toBe(3000);
  });

  it("draws nothing at no cost while too many pictures wait, and gives the price back for one that came too late", async () => {
    const late = async () => {
      throw new CardsOverloaded("no card within 10000 ms");
    };
    const full = await ask({ cards: { hasRoom: () => false, render: late } }, `${PATH}?format=png`);
    const tooLate = await ask({ cards: { hasRoom: () => true, render: late } }, `${PATH}?format=png`);
    const json = await ask({ cards: { hasRoom: () => false, render: late } });
    expect([full, tooLate, json].map(({ response }) => response.status)).toEqual([503, 503, 200]);
    expect(full.response.headers.get("retry-after")).toBe("5");
    for (const { keys } of [full, tooLate]) expect(keys.balance()).toBe(5000);
  });

  it("refuses other formats and wallets that are not followed at no cost", async () => {
    const gif = await ask({}, `${PATH}?format=gif`);
    const stranger = await ask({ scores: { snapshot: async () => walletSnapshot({ followed: false }) } });
    const poor = await fakeApp({}, fakeLedger({ balanceUnits: 1999 })).app.request(PATH, WITH_KEY);
    expect([gif.response.status, stranger.response.status, poor.status]).toEqual([422, 404, 402]);
    for (const { keys } of [gif, stranger]) expect(keys.balance()).toBe(5000);
  });
});
