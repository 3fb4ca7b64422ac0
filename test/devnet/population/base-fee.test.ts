import fc from "fast-check";
import { expect, test } from "vitest";
import { baseFeeAt } from "../../../devnet/population/base-fee.ts";

const NOW = 1_795_000_000;

test("the base fee stays between 0.05 and 2 gwei at any time", () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 0, max: 4_000_000_000 }), (seed, at) => {
      const fee = baseFeeAt(seed, at);
      expect(fee).toBeGreaterThan(50_000_000n);
      expect(fee).toBeLessThan(2_000_000_000n);
    }),
  );
});

test("from one block of two seconds to the next it moves no more than a chain would let it, an eighth", () => {
  for (let at = NOW; at < NOW + 20_000; at += 2) {
    const [before, after] = [Number(baseFeeAt("1", at)), Number(baseFeeAt("1", at + 2))];
    expect(Math.abs(after / before - 1)).toBeLessThan(0.125);
  }
});

test("over a day it moves by more than half", () => {
  const day = Array.from({ length: 96 }, (_, i) => Number(baseFeeAt("1", NOW + i * 900)));
  expect(Math.max(...day) / Math.min(...day)).toBeGreaterThan(1.5);
});
