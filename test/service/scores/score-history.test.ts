import type { Address } from "viem";
import { expect, it } from "vitest";
import type { Grade } from "../../../service/model/score/record.ts";
import { createScoreHistory } from "../../../service/scores/score-history.ts";
import { rowsRead } from "../../support/rows-read.ts";
import { insertScore } from "../../support/score-rows.ts";
import { useDatabase } from "../../support/test-database.ts";

const CHAIN = 31337;
const NEWEST = { before: null, limit: 100 };

const db = useDatabase();
const history = createScoreHistory(db, CHAIN);

function wallet(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

/** Stores a score as of so many hours before 09:00 of 20 November 2026. */
async function store(address: Address, hoursAgo: number, grade: Grade | null = "B"): Promise<void> {
  const asOfTime = new Date(Date.parse("2026-11-20T09:00:00Z") - hoursAgo * 3_600_000);
  const asOfBlock = 1_000_000 - hoursAgo;
  await insertScore(db, { wallet: address, asOfBlock, asOfTime, ahsScore: hoursAgo % 100, grade });
}

it("a wallet scored every hour has a score of each of its days, not of its last hours", async () => {
  // Five days and a part of a sixth.
  const hourly = wallet(400);
  await Promise.all(Array.from({ length: 125 }, (_, hours) => store(hourly, hours)));
  const { points, next } = await history.daily(hourly, NEWEST);
  expect(points.map(({ asOfTime, ahsScore }) => [asOfTime.toISOString(), ahsScore])).toEqual([
    ["2026-11-20T09:00:00.000Z", 0],
    ["2026-11-19T23:00:00.000Z", 10],
    ["2026-11-18T23:00:00.000Z", 34],
    ["2026-11-17T23:00:00.000Z", 58],
    ["2026-11-16T23:00:00.000Z", 82],
    ["2026-11-15T23:00:00.000Z", 6],
  ]);
  expect(next).toBeNull();
  expect(await createScoreHistory(db, 1).daily(hourly, NEWEST)).toEqual({ points: [], next: null });
});

it("parts of a history follow one another without a gap or a repeated day", async () => {
  const whole = await history.daily(wallet(400), NEWEST);
  const read = [];
  let before: Date | null = null;
  do {
    const part = await history.daily(wallet(400), { before, limit: 2 });
    expect(part.points.length).toBeLessThanOrEqual(2);
    read.push(...part.points);
    before = part.next;
  } while (before !== null);
  expect(read).toEqual(whole.points);
});

it("days are those of UTC in any time zone of the database", async () => {
  const address = wallet(401);
  // 22:00 and 23:00 of one day and 01:00 of the next.
  for (const hours of [11, 10, 8]) await store(address, hours);
  const client = await db.$client.connect();
  try {
    await client.query("set timezone to 'Asia/Tokyo'");
  } finally {
    client.release();
  }
  const { points } = await history.daily(address, NEWEST);
  expect(points.map(({ ahsScore }) => ahsScore)).toEqual([8, 10]);
});

it("the last score as of one block counts, in whatever order days were stored", async () => {
  const address = wallet(402);
  await store(address, 1, "A");
  await store(address, 60, "C");
  const again = await insertScore(db, {
    wallet: address,
    asOfTime: new Date("2026-11-20T08:00:00Z"),
    grade: "D",
  });
  const { points } = await history.daily(address, NEWEST);
  expect(points.map(({ grade }) => grade)).toEqual(["D", "C"]);
  expect(points[0]?.inputsHash).toBe(again.inputsHash);
});

it("changes of grade are the first score and each with another grade than the one before, and no others", async () => {
  const address = wallet(403);
  const grades = [null, null, "C", "C", "B", null, "B", "B", "A"] as const;
  for (const [index, grade] of grades.entries()) await store(address, grades.length - index, grade);
  const { points, next } = await history.gradeChanges(address, NEWEST);
  expect(points.map(({ grade, previousGrade }) => [previousGrade, grade])).toEqual([
    ["B", "A"],
    [null, "B"],
    ["B", null],
    ["C", "B"],
    [null, "C"],
    [null, null],
  ]);
  expect(next).toBeNull();
  expect(points[0]).toMatchObject({ features: [], patterns: [], modelVersion: "AHS-2026.2" });
  const first = await history.gradeChanges(address, { before: null, limit: 4 });
  const rest = await history.gradeChanges(address, { before: first.next, limit: 4 });
  expect([...first.points, ...rest.points]).toEqual(points);
  expect([first.points.length, rest.next]).toEqual([4, null]);
  expect(await history.gradeChanges(wallet(999), NEWEST)).toEqual({ points: [], next: null });
});

it.each(["0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])(
  "any time may be asked for: %s",
  async (time) => {
    const query = { before: new Date(time), limit: 1 };
    const days = time.startsWith("9") ? 1 : 0;
    expect((await history.daily(wallet(400), query)).points).toHaveLength(days);
    expect((await history.gradeChanges(wallet(400), query)).points).toHaveLength(days);
  },
);

it("a long history is read in parts of 5,000 scores, each change once", async () => {
  const address = wallet(404);
  // One score a minute: the grade changes at the first, the 5,000th, the 5,001st and the 7,000th.
  await db.$client.query(
    `insert into ahs.score (chain_id, wallet, as_of_block, as_of_hash, as_of_time, model_version, ahs_score, d1_score, d2_score, grade,
       confidence_micros, confidence_level, sanctioned, sanctions_flags, patterns, features, coverage, inputs_hash)
     select $1, $2, n, 'h', '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 minute', 'AHS-2026.2', 50, 50, 50,
       case when n < 5000 then 'D' when n = 5000 then 'C' when n < 7000 then 'B' else 'A' end,
       0, 'LOW', false, '[]', '[]', '[]', '{}', 'long ' || n
     from generate_series(1, 10001) n`,
    [CHAIN, address],
  );
  const parts: (string | null)[][] = [];
  let before: Date | null = null;
  do {
    const part = await history.gradeChanges(address, { before, limit: 365 });
    parts.push(part.points.map(({ grade }) => grade));
    before = part.next;
  } while (before !== null);
  expect(parts).toEqual([["A"], ["B", "C"], ["D"]]);
});

it("a day takes one search of the index, however many scores the wallet has", async () => {
  await db.$client.query("analyze ahs.score");
  const rows = await rowsRead(db.$client, ["score"], async (session: unknown) => {
    const own = { $client: session } as Parameters<typeof createScoreHistory>[0];
    const { points } = await createScoreHistory(own, CHAIN).daily(wallet(404), NEWEST);
    expect(points).toHaveLength(7);
  });
  expect(rows).toBeGreaterThan(0);
  expect(rows).toBeLessThan(50);
});
