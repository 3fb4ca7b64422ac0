import { describe, expect, it } from "vitest";
import type { HistoryQuery } from "../../../../service/scores/score-history.ts";
import { bodyOf, fakeApp, storedScore, WALLET, WALLET_EIP55, walletSnapshot } from "../fake-ports.ts";

const PATH = `/ahs/history/${WALLET}`;

const POINT = {
  ...{ as_of_block: 970, as_of_time: "2026-11-20T09:59:00.000Z", model_version: "AHS-2026.2" },
  ...{ ahs_score: 84, grade: "B", confidence: 0.81, confidence_level: "HIGH", d1_score: 88, d2_score: 82 },
  ...{ inputs_hash: `0x${"22".repeat(32)}`, sanctioned: false },
};

/** A history that notes what was asked of it. */
function asked() {
  const queries: unknown[] = [];
  const { app } = fakeApp({
    scoreHistory: {
      async daily(wallet, query) {
        queries.push(["daily", wallet, query]);
        return { points: [storedScore()], next: new Date("2026-11-20T00:00:00Z") };
      },
      async gradeChanges(wallet, query) {
        queries.push(["gradeChanges", wallet, query]);
        const listed = storedScore({ ahsScore: 0, grade: "F", sanctioned: true });
        return { points: [{ ...listed, previousGrade: null }], next: null };
      },
    },
  });
  return { app, queries };
}

describe("GET /ahs/history/{address}", () => {
  it("answers the last score of each day, newest first, without a key", async () => {
    const { app, queries } = asked();
    const response = await app.request(PATH);
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        ...{ address: WALLET_EIP55, chain_id: 31337, points: "days", history: [POINT] },
        next_cursor: "2026-11-20T00:00:00.000Z",
      },
    ]);
    expect(queries).toEqual([["daily", WALLET, { before: null, limit: 90 }]]);
    expect(response.headers.get("cache-control")).toBe("public, max-age=30");
  });

  it("answers changes of grade with the grade before and the stored reason", async () => {
    const { app } = asked();
    const body = await bodyOf<{ history: unknown[] }>(await app.request(`${PATH}?points=grade_changes`));
    expect(body.history).toEqual([
      {
        ...{ ...POINT, ahs_score: 0, grade: "F", sanctioned: true, previous_grade: null },
        grade_reason: expect.stringContaining("sanctions list"),
      },
    ]);
  });

  it.each<[string, HistoryQuery]>([
    ["?limit=1", { before: null, limit: 1 }],
    ["?limit=365&cursor=2026-11-20T00:00:00.000Z", { before: new Date("2026-11-20T00:00:00Z"), limit: 365 }],
    ["?cursor=2026-11-20T00:00:00Z", { before: new Date("2026-11-20T00:00:00Z"), limit: 90 }],
  ])("reads what %s asks for", async (query, read) => {
    const { app, queries } = asked();
    expect((await app.request(`${PATH}${query}`)).status).toBe(200);
    expect(queries).toEqual([["daily", WALLET, read]]);
  });

  it.each([
    "?limit=0",
    "?limit=366",
    "?limit=x",
    "?points=weeks",
    "?cursor=yesterday",
    "?cursor=2026-13-01T00:00:00Z",
    "?cursor=2026-11-20",
  ])("is 422 for %s", async (query) => {
    const { app, queries } = asked();
    expect((await app.request(`${PATH}${query}`)).status).toBe(422);
    expect(queries).toEqual([]);
  });

  it("is 404 for a wallet that the index does not follow, unless it was scored before", async () => {
    const of = (changes: Parameters<typeof walletSnapshot>[0]) =>
      fakeApp({ scores: { snapshot: async () => walletSnapshot(changes) } }).app.request(PATH);
    const unknown = await of({ followed: false, score: null });
    expect([unknown.status, (await bodyOf(unknown)).type]).toEqual([
      404,
      expect.stringMatching(/not-indexed$/),
    ]);
    expect((await of({ followed: false })).status).toBe(200);
  });

  it("is an empty list for a followed wallet without a score, however old the index is", async () => {
    const none = async () => ({ points: [], next: null });
    const { app } = fakeApp({
      scores: { snapshot: async () => walletSnapshot({ head: null, score: null }) },
      scoreHistory: { daily: none, gradeChanges: none },
    });
    expect(await bodyOf(await app.request(PATH))).toEqual({
      ...{ address: WALLET_EIP55, chain_id: 31337, points: "days", history: [], next_cursor: null },
    });
  });
});
