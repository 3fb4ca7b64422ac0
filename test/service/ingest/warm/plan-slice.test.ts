import fc from "fast-check";
import { expect, test } from "vitest";
import { firstBlockSince, planSlice } from "../../../../service/ingest/warm/plan-slice.ts";

test("slices meet without a gap from the newest block to the edge, each three times as long as all before it", () => {
  const slices: { from: number; to: number }[] = [];
  let coveredFrom: number | null = null;
  for (
    let slice = planSlice({ edge: 1_000, newest: 181_000, coveredFrom, mostBlocks: null });
    slice !== null;
  ) {
    slices.push(slice);
    coveredFrom = slice.from;
    slice = planSlice({ edge: 1_000, newest: 181_000, coveredFrom, mostBlocks: null });
  }
  expect(slices).toEqual([
    { from: 180_000, to: 181_000 },
    { from: 176_997, to: 179_999 },
    { from: 164_985, to: 176_996 },
    { from: 116_937, to: 164_984 },
    { from: 1_000, to: 116_936 },
  ]);
});

test("the first block since a moment is found, however uneven the times between blocks are, with few questions", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 300 }),
      fc.double({ min: -0.1, max: 1.1, noNaN: true }),
      async (gaps, share) => {
        const times = [1_000];
        for (const gap of gaps) times.push((times.at(-1) ?? 0) + gap);
        const newest = { number: gaps.length, timestamp: times.at(-1) ?? 0 };
        const moment = Math.round(1_000 + share * (newest.timestamp - 1_000));
        let asked = 0;
        const timeOf = async (block: number) => {
          asked += 1;
          return times[block] ?? Number.NaN;
        };
        const expected = Math.max(
          1,
          times.findIndex((time) => time >= moment),
        );
        const found = await firstBlockSince(moment, newest, timeOf);
        expect(found).toBe(moment > newest.timestamp ? newest.number : expected);
        expect(asked).toBeLessThanOrEqual(30);
      },
    ),
    { numRuns: 200 },
  );
});
