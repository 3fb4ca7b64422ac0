import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  refilled,
  secondsToFull,
  secondsToNext,
  type TokenBucket,
  takeToken,
} from "../../../service/access/token-bucket.ts";

const perMinute = fc.integer({ min: 1, max: 10_000 });
/** Pauses between calls in milliseconds, now and then of a clock that goes back. */
const pauses = fc.array(
  fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: -1_000, max: 90_000 })),
  {
    minLength: 1,
    maxLength: 200,
  },
);

/** Times at which calls were granted. */
function grantedAt(
  rate: number,
  waits: readonly number[],
): { readonly granted: number[]; readonly last: TokenBucket } {
  let now = 1_000_000;
  let bucket: TokenBucket = { tokens: rate, at: now };
  const granted: number[] = [];
  for (const wait of waits) {
    now += wait;
    const taken = takeToken(bucket, rate, now);
    if (taken.granted) granted.push(taken.bucket.at);
    bucket = taken.bucket;
  }
  return { granted, last: bucket };
}

describe("a token bucket", () => {
  it("grants a whole quota at once, and then one call as often as the rate says", () => {
    let bucket: TokenBucket | null = null;
    for (let call = 0; call < 60; call += 1) {
      const taken = takeToken(bucket, 60, 0);
      expect(taken.granted).toBe(true);
      bucket = taken.bucket;
    }
    expect(takeToken(bucket, 60, 999).granted).toBe(false);
    expect(takeToken(bucket, 60, 1_000).granted).toBe(true);
  });

  it("never grants more in any time than it holds and what came back meanwhile", () => {
    fc.assert(
      fc.property(perMinute, pauses, (rate, waits) => {
        const { granted } = grantedAt(rate, waits);
        for (const [first, from] of granted.entries()) {
          for (const [last, to] of granted.entries()) {
            if (last < first) continue;
            expect(last - first + 1).toBeLessThanOrEqual(rate + ((to - from) * rate) / 60_000 + 1e-6);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it("holds between nothing and its quota, whatever the clock does, and loses nothing by a refusal", () => {
    fc.assert(
      fc.property(perMinute, pauses, fc.integer({ min: 0, max: 120_000 }), (rate, waits, later) => {
        const { last } = grantedAt(rate, waits);
        expect(last.tokens).toBeGreaterThanOrEqual(0);
        expect(last.tokens).toBeLessThanOrEqual(rate);
        const refused = takeToken(last, rate, last.at);
        if (!refused.granted)
          expect(refilled(refused.bucket, rate, last.at + later)).toBe(refilled(last, rate, last.at + later));
      }),
    );
  });

  it("grants the next call after the seconds that it names, and is full after the others", () => {
    fc.assert(
      fc.property(perMinute, pauses, (rate, waits) => {
        const { last } = grantedAt(rate, waits);
        expect(refilled(last, rate, last.at + secondsToFull(last.tokens, rate) * 1_000)).toBeCloseTo(rate, 6);
        if (last.tokens >= 1) return;
        const next = last.at + secondsToNext(last.tokens, rate) * 1_000;
        expect(refilled(last, rate, next)).toBeGreaterThanOrEqual(1 - 1e-9);
      }),
    );
  });
});
