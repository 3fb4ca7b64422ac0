import pino from "pino";
import { Registry } from "prom-client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { watchScores } from "../../bin/metrics.ts";
import type { Database } from "../../service/db/database.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A database that counts how often the ages of all scores are read, and how often the queues. */
function countingDatabase() {
  const reads = { ages: 0, queues: 0 };
  const query = async (text: string) => {
    if (!text.includes("percentile_cont")) {
      reads.queues += 1;
      return { rows: [] };
    }
    reads.ages += 1;
    return { rows: [{ wallets: 3, median: 30 * reads.ages, oldest: 500, cut: 2, postponed: 1 }] };
  };
  return { reads, db: { $client: { query } } as unknown as Database };
}

test("scrapes every five seconds read the ages of all scores once a minute", async () => {
  const { reads, db } = countingDatabase();
  const registry = new Registry();
  const market = {
    native: { symbol: "ETH", decimals: 18, feed: null },
    wrappedNative: null,
    tokens: [],
  };
  watchScores(registry, {
    db,
    deployment: { chainId: 1, market },
    logger: pino({ level: "silent" }),
    clock: { now: () => new Date(0), monotonicMs: () => 0, aheadSeconds: () => 0, renew: async () => {} },
  });
  for (let seconds = 0; seconds < 60; seconds += 5) {
    expect(await registry.metrics()).toContain("ahs_score_age_median_seconds 30\n");
    vi.advanceTimersByTime(5_000);
  }
  expect(reads).toEqual({ ages: 1, queues: 12 });
  expect(await registry.metrics()).toContain("ahs_score_cut_wallets 2\n");
  expect(await registry.metrics()).toContain("ahs_score_age_median_seconds 60\n");
});
