import fc from "fast-check";
import { expect, test } from "vitest";
import { medianTip } from "../../../../service/ingest/enrich/median-tip.ts";

test.each([
  { name: "one transaction", prices: [12n], base: 10n, tip: 2n },
  { name: "an odd number", prices: [30n, 11n, 12n], base: 10n, tip: 2n },
  { name: "an even number, rounded down", prices: [11n, 14n], base: 10n, tip: 2n },
  { name: "deposits of a rollup, which pay nothing", prices: [0n, 0n, 0n, 15n], base: 10n, tip: 5n },
  { name: "transactions without a tip", prices: [10n, 10n, 90n], base: 10n, tip: 0n },
  { name: "nothing but deposits", prices: [0n], base: 10n, tip: null },
  { name: "no transaction", prices: [], base: 10n, tip: null },
])("of $name it is $tip", ({ prices, base, tip }) => {
  expect(medianTip(prices, base)).toBe(tip);
});

test("at most half of the paying transactions lie above it and at most half below", () => {
  const price = fc.bigInt({ min: 0n, max: 1_000n });
  fc.assert(
    fc.property(fc.array(price, { minLength: 1 }), price, (prices, base) => {
      const tip = medianTip(prices, base);
      const paying = prices.filter((paid) => paid >= base);
      if (tip === null) {
        expect(paying).toEqual([]);
        return;
      }
      expect(paying.filter((paid) => paid - base > tip).length).toBeLessThanOrEqual(paying.length / 2);
      expect(paying.filter((paid) => paid - base < tip).length).toBeLessThanOrEqual(paying.length / 2);
    }),
  );
});
