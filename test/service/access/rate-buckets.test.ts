import fc from "fast-check";
import { expect, it } from "vitest";
import {
  createRateBuckets,
  dropIdleBuckets,
  type TokenBucket,
  takeToken,
} from "../../../service/access/rate-limits.ts";
import { useDatabase } from "../../support/test-database.ts";

const START = new Date("2026-11-20T10:00:00Z").getTime();

const db = useDatabase();

const at = (ms: number) => createRateBuckets({ db, now: () => new Date(START + ms) });

async function takeMany(
  servers: readonly ReturnType<typeof at>[],
  identity: string,
  perMinute: number,
  calls: number,
) {
  const asked = Array.from({ length: calls }, (_, call) =>
    servers[call % servers.length]?.take({ identity, perMinute }),
  );
  return (await Promise.all(asked)).filter((taken) => taken?.granted).length;
}

it("grants what the pure bucket grants, call for call, by whatever clock", async () => {
  const step = fc.record({
    wait: fc.oneof(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: -2_000, max: 70_000 })),
    calls: fc.integer({ min: 1, max: 6 }),
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 12 }),
      fc.array(step, { maxLength: 12 }),
      async (perMinute, steps) => {
        run += 1;
        let now = 0;
        let bucket: TokenBucket | null = null;
        for (const { wait, calls } of steps) {
          now += wait;
          const buckets = at(now);
          const asked = Array.from({ length: calls }, () =>
            buckets.take({ identity: `key:${run}`, perMinute }),
          );
          for (const taken of await Promise.all(asked)) {
            const expected = takeToken(bucket, perMinute, now);
            bucket = expected.bucket;
            expect(taken.granted).toBe(expected.granted);
            if (taken.granted) expect(taken.tokens).toBeCloseTo(expected.bucket.tokens, 3);
          }
        }
      },
    ),
    { numRuns: 25 },
  );
});

it("never grants more than the quota to a caller of several servers at once, from the first call on", async () => {
  for (let round = 0; round < 5; round += 1) {
    const servers = [at(0), at(0), at(-500)];
    expect(await takeMany(servers, `wallet:${round}`, 40, 150)).toBe(40);
    expect(await takeMany([at(15_000)], `wallet:${round}`, 40, 150)).toBe(10);
  }
});

it("refills a bucket that a clock an hour ahead has written, from now on", async () => {
  expect(await takeMany([at(3_600_000)], "key:ahead", 30, 40)).toBe(30);
  expect(await takeMany([at(0)], "key:ahead", 30, 40)).toBe(0);
  expect(await takeMany([at(10_000)], "key:ahead", 30, 40)).toBe(5);
});

it("counts many callers of one statement each for itself", async () => {
  const buckets = at(0);
  const granted = await Promise.all(
    Array.from({ length: 300 }, (_, call) => buckets.take({ identity: `many:${call % 100}`, perMinute: 2 })),
  );
  expect(granted.filter((taken) => taken.granted)).toHaveLength(200);
});

it("deletes buckets of calls that were idle for two minutes, and only those", async () => {
  await at(0).take({ identity: "idle", perMinute: 5 });
  await at(1_000).take({ identity: "used", perMinute: 5 });
  await dropIdleBuckets(db, new Date(START + 120_500));
  const { rows } = await db.$client.query(
    "select identity from ahs.rate_bucket where identity in ('idle', 'used')",
  );
  expect(rows).toEqual([{ identity: "used" }]);
});
