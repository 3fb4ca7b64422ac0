import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decayNanos, divideRound, logTwo, powerOfTwo } from "../../../../service/model/score/fixed-point.ts";

const SCORING = ["features", "score"].map(
  (folder) => new URL(`../../../../service/model/${folder}`, import.meta.url).pathname,
);

describe("decay", () => {
  test.each([
    [0, 1_000_000_000],
    [45, 500_000_000],
    [90, 250_000_000],
    [180, 62_500_000],
    [22.5, 707_106_781],
    [45 * 64, 0],
  ])("after %d days of a half-life of 45 is %d billionths", (elapsed, nanos) => {
    expect(decayNanos(elapsed, 45)).toBe(nanos);
  });

  test("is within 1e-8 of two to the power, and never rises", () => {
    fc.assert(
      fc.property(fc.nat(10_000_000), fc.nat(1_000_000), (elapsed, more) => {
        const decayed = decayNanos(elapsed, 3_888_000);
        expect(Math.abs(decayed / 1e9 - 2 ** (-elapsed / 3_888_000))).toBeLessThan(1e-8);
        expect(decayNanos(elapsed + more, 3_888_000)).toBeLessThanOrEqual(decayed);
      }),
    );
  });
});

describe("logarithm and power", () => {
  test("log2 is within 2e-8, and exact at powers of two", () => {
    for (const exponent of [0, 1, 10, 31, 32, 52]) expect(logTwo(2 ** exponent)).toBe(exponent);
    fc.assert(
      fc.property(fc.double({ min: 1, max: 2 ** 53, noNaN: true }), (x) => {
        expect(Math.abs(logTwo(x) - Math.log2(x))).toBeLessThan(2e-8);
      }),
    );
  });

  test("a power of two undoes its logarithm", () => {
    fc.assert(
      fc.property(fc.double({ min: 1, max: 1e6, noNaN: true }), (x) => {
        expect(Math.abs(powerOfTwo(logTwo(x)) / x - 1)).toBeLessThan(5e-8);
      }),
    );
  });
});

test.each([
  [5, 2, 3],
  [4, 3, 1],
  [-5, 2, -2],
  [0, 7, 0],
])("%d / %d rounds to %d", (dividend, divisor, quotient) => {
  expect(divideRound(dividend, divisor)).toBe(quotient);
});

test("scoring uses no function that engines may round differently", () => {
  const files = SCORING.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  expect(files.length).toBeGreaterThan(20);
  // Powers of integer literals are exact.
  const inexact =
    /Math\.(pow|exp|expm1|log|log2|log10|log1p|cbrt|hypot|sin|cos|tan|tanh)\b|(?<!\b\d+n)(?<=[\w)\]]) \*\* /;
  expect(files.filter((file) => inexact.test(readFileSync(file, "utf8")))).toEqual([]);
});
