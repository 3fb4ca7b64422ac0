import { describe, expect, test } from "vitest";
import { perMonth, sumMoney } from "../../../../service/reports/diagnosis/report-facts.ts";
import { asOfTime, DAY, GWEI, HOUR, START, TOKENS } from "../../model/features/histories.ts";
import { factsOfSteps } from "./reports.ts";

const UNPRICED_CHAIN = { ...TOKENS, native: { ...TOKENS.native, prices: [] } };

describe("the cost of calls", () => {
  test("is the fee at the price of the day, and what was paid above the market's price of the block", () => {
    const { paid } = factsOfSteps([{ at: START, gasPrice: 3n * GWEI, marketPrice: GWEI }]);
    expect(paid.calls.map(({ fee, overpaid }) => ({ fee, overpaid }))).toEqual([
      {
        fee: { wei: 210_000n * GWEI, microUsd: 420_000 },
        overpaid: { wei: 140_000n * GWEI, microUsd: 280_000 },
      },
    ]);
  });

  test.each([
    ["a price below the market's", { gasPrice: GWEI / 2n, marketPrice: GWEI }, 0n],
    ["a block that tells no market price", { marketPrice: null }, null],
    ["a receipt that was not read", { read: false }, null],
    ["a fee that others paid", { gasPrice: 3n * GWEI, marketPrice: GWEI, fee: 5n }, 5n],
  ])("distinguishes %s", (_case, step, overpaid) => {
    const [only] = factsOfSteps([{ at: START, ...step }]).paid.calls;
    expect(only?.overpaid?.wei ?? null).toBe(overpaid);
  });

  test("has no worth where no feed prices the native coin, which is not zero", () => {
    const { paid } = factsOfSteps([{ at: START }], { tokens: UNPRICED_CHAIN });
    expect(sumMoney(paid.calls.map(({ fee }) => fee))).toEqual({ wei: 70_000n * GWEI, microUsd: null });
  });

  test("counts a fee that executions of one transaction share once", () => {
    const facts = factsOfSteps([
      { at: START, position: 4 },
      { at: START, position: 9 },
      { at: START + 1, position: 2 },
    ]);
    const [first, second, third] = facts.rows.calls;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three calls");
    const calls = [first, { ...second, hash: first.hash, blockNumber: first.blockNumber }, third];
    const shared = factsOfSteps([], { calls }).paid.calls.map(({ fee }) => fee.wei);
    expect(shared).toEqual([70_000n * GWEI, 0n, 70_000n * GWEI]);
  });

  test("leaves out calls before the window of the report's block", () => {
    const { rows } = factsOfSteps([{ at: START }, { at: START + 100 * DAY }]);
    const facts = factsOfSteps([], { calls: rows.calls });
    expect(facts.paid.calls).toHaveLength(2);
    expect(asOfTime(START).timestamp).toBe(START);
  });
});

describe("amounts of a month", () => {
  test.each([
    ["a wallet of a day is not said to go on like that", [START, START + HOUR], 30],
    ["days are counted from the first call of the window", [START, START + 89 * DAY], 90],
  ])("%s", (_case, times, days) => {
    expect(factsOfSteps(times.map((at) => ({ at }))).paid.days).toBe(days);
  });

  test("are rounded down", () => {
    expect(perMonth({ wei: 100n, microUsd: 100 }, 90)).toEqual({ wei: 33n, microUsd: 33 });
    expect(perMonth({ wei: 100n, microUsd: null }, 30)).toEqual({ wei: 100n, microUsd: null });
  });
});
