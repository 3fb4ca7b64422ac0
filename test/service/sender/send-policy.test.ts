import fc from "fast-check";
import { expect, test } from "vitest";
import { bumpFees, kindOfSettlement, suggestFees } from "../../../service/sender/send-policy.ts";

const wei = fc.bigInt({ min: 0n, max: 10n ** 13n });

test("a new transaction has room for the base fee to double", () => {
  expect(suggestFees({ baseFeePerGas: 1_000n, priorityFeePerGas: 50n }, 10_000n)).toEqual({
    maxFeePerGas: 2_050n,
    maxPriorityFeePerGas: 50n,
  });
});

test("no fee is ever above the ceiling, nor the tip above the whole", () => {
  fc.assert(
    fc.property(wei, wei, wei, wei, (baseFeePerGas, priorityFeePerGas, extra, ceiling) => {
      const suggested = suggestFees({ baseFeePerGas, priorityFeePerGas }, ceiling);
      const previous = {
        maxFeePerGas: suggested.maxFeePerGas + extra,
        maxPriorityFeePerGas: suggested.maxPriorityFeePerGas,
      };
      for (const fees of [suggested, bumpFees(previous, suggested, ceiling)]) {
        if (fees === null) continue;
        expect(fees.maxFeePerGas).toBeLessThanOrEqual(ceiling);
        expect(fees.maxPriorityFeePerGas).toBeLessThanOrEqual(fees.maxFeePerGas);
      }
    }),
  );
});

test("a replacement raises both fees by at least an eighth", () => {
  fc.assert(
    fc.property(wei, wei, wei, (maxPriorityFeePerGas, rest, market) => {
      const previous = { maxFeePerGas: maxPriorityFeePerGas + rest, maxPriorityFeePerGas };
      const bumped = bumpFees(previous, { maxFeePerGas: market, maxPriorityFeePerGas: market }, 10n ** 15n);
      expect(bumped === null).toBe(false);
      if (bumped === null) return;
      expect(bumped.maxFeePerGas * 8n).toBeGreaterThanOrEqual(previous.maxFeePerGas * 9n);
      expect(bumped.maxPriorityFeePerGas * 8n).toBeGreaterThanOrEqual(previous.maxPriorityFeePerGas * 9n);
      expect(bumped.maxPriorityFeePerGas).toBeGreaterThan(previous.maxPriorityFeePerGas);
    }),
  );
});

test("at the ceiling there is no replacement", () => {
  const previous = { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 10n };
  expect(bumpFees(previous, previous, 1_124n)).toBeNull();
  expect(bumpFees(previous, previous, 1_125n)).toEqual({ maxFeePerGas: 1_125n, maxPriorityFeePerGas: 12n });
});

test.each([
  ["never paid", { paid: 0n, reverted: 0n }, 120_000n, "newcomer"],
  ["never paid, and needs much gas", { paid: 0n, reverted: 0n }, 120_001n, "unproven"],
  ["never paid, and made gas revert", { paid: 0n, reverted: 1n }, 60_000n, "unproven"],
  ["paid for little gas, and needs much", { paid: 120_000n, reverted: 0n }, 200_000n, "unproven"],
  ["paid for as much", { paid: 200_000n, reverted: 0n }, 200_000n, "payer"],
  ["made a tenth of what it paid for revert", { paid: 1_000_000n, reverted: 100_000n }, 60_000n, "payer"],
  ["made as much gas revert as it paid for", { paid: 200_000n, reverted: 200_000n }, 60_000n, "unproven"],
] as const)("a payer that %s", (_, gas, needed, kind) => {
  expect(kindOfSettlement({ ...gas, today: 0n }, needed)).toBe(kind);
});
