import type { Address } from "viem";
import { expect, it } from "vitest";
import { score } from "../../../service/db/tables/score.ts";
import { createDailyScores } from "../../../service/scores/scores.ts";
import { useDatabase } from "../../support/test-database.ts";

const CHAIN = 31337;
const WALLET: Address = "0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc";
const HOUR_MS = 3_600_000;
const NEWEST = Date.parse("2026-11-20T09:00:00Z");

const db = useDatabase();

async function store(wallet: Address, hoursAgo: readonly number[]): Promise<void> {
  await db.insert(score).values(
    hoursAgo.map((hours) => ({
      chainId: CHAIN,
      wallet,
      asOfBlock: 100_000 - hours,
      asOfHash: "0x" as const,
      asOfTime: new Date(NEWEST - hours * HOUR_MS),
      modelVersion: "AHS-2026.1",
      ahsScore: hours % 100,
      d1Score: 5,
      d2Score: 5,
      grade: "B" as const,
      confidenceMicros: 800_000,
      confidenceLevel: "HIGH" as const,
      sanctioned: false,
      sanctionsFlags: [],
      patterns: [],
      features: [],
      coverage: { fromBlock: 1, fromTimestamp: 1, toBlock: 970, complete: true, sources: ["index"] },
      inputsHash: `${wallet}-${hours}` as const,
    })),
  );
}

it("a wallet scored every hour has a score of each of its days, not of its last hours", async () => {
  // Five days and a part of a sixth, newest first.
  await store(
    WALLET,
    Array.from({ length: 125 }, (_, hours) => hours),
  );
  const read = createDailyScores(db, { chainId: CHAIN, days: 90 });
  const days = await read(WALLET);
  expect(days.map(({ asOfTime }) => asOfTime.toISOString())).toEqual([
    "2026-11-15T23:00:00.000Z",
    "2026-11-16T23:00:00.000Z",
    "2026-11-17T23:00:00.000Z",
    "2026-11-18T23:00:00.000Z",
    "2026-11-19T23:00:00.000Z",
    "2026-11-20T09:00:00.000Z",
  ]);
  expect(days.map(({ ahsScore }) => ahsScore)).toEqual([6, 82, 58, 34, 10, 0]);
  const [first] = await createDailyScores(db, { chainId: CHAIN, days: 2 })(WALLET);
  expect(first?.asOfTime.toISOString()).toBe("2026-11-19T23:00:00.000Z");
  expect(await createDailyScores(db, { chainId: 1, days: 90 })(WALLET)).toEqual([]);
});

it("days are those of UTC, wherever the database stands", async () => {
  const wallet: Address = "0x1965507d1a55bcc2695c58ba16fb37d819b0a4dc";
  // 22:00 and 23:00 of one day and 01:00 of the next.
  await store(wallet, [11, 10, 8]);
  const client = await db.$client.connect();
  try {
    await client.query("set timezone to 'Asia/Tokyo'");
  } finally {
    client.release();
  }
  const days = await createDailyScores(db, { chainId: CHAIN, days: 90 })(wallet);
  expect(days.map(({ ahsScore }) => ahsScore)).toEqual([10, 8]);
});
