import { describe, expect, it } from "vitest";
import { appealUnits } from "../../../../service/verification/escrow/appeal-price.ts";

const USD = 1_000_000n;

describe("the price of an appeal", () => {
  it.each([
    ["at least that of a verdict", 0n, 500],
    ["the same up to two dollars", 2n * USD, 500],
    ["a quarter above that, rounded up to a thousandth of a dollar", 2n * USD + 1n, 501],
    ["a quarter of five dollars", 5n * USD, 1_250],
    ["a quarter of a thousand dollars", 1_000n * USD, 250_000],
    ["none for more than can be stored", 10n ** 40n, null],
  ])("is %s", (_, stake, units) => {
    expect(appealUnits(stake)).toBe(units);
  });
});
