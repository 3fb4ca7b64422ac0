import { describe, expect, test } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { alwaysFailing, dirtyRows, diverseTrader, gasWarrior } from "../../model/features/archetypes.ts";
import {
  account,
  callsOf,
  DAY,
  payment,
  rowsOf,
  START,
  type Step,
  UNPRICED,
  USDC,
} from "../../model/features/histories.ts";
import { factsOf } from "./reports.ts";

const PLAN = { days: 90, seed: 5 };

function healthOf(rows: WalletRows) {
  return diagnoseHealth(factsOf(rows), { drawnTokens: new Set() });
}

function healthOfSteps(steps: readonly Step[], parts: Partial<WalletRows> = {}) {
  return healthOf(rowsOf(callsOf(steps), parts));
}

describe("the health of", () => {
  test("a wallet whose calls all fail is waste throughout, and the first advice is to simulate", () => {
    const health = healthOfSteps(alwaysFailing(PLAN));
    expect(health).toMatchObject({ successRate: 0, failures: health.calls, wasted: health.spent });
    expect(health.failureGroups).toHaveLength(1);
    expect(health.failureGroups[0]).toMatchObject({ longestRun: health.calls, succeededSince: false });
    expect(health.advice[0]).toMatchObject({ kind: "simulate_first" });
    expect(health.advice[0]?.saves?.microUsd).toBeGreaterThan(0);
  });

  test("a trader that fights for blocks advises to simulate first and to bid the market's price", () => {
    const kinds = healthOfSteps(gasWarrior(PLAN)).advice.map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(["simulate_first", "pay_market_price"]));
  });

  test("a careless wallet names listed accounts, delegation and approvals before what saves money", () => {
    const kinds = healthOf(dirtyRows(PLAN)).advice.map(({ kind }) => kind);
    expect(kinds.slice(0, 5)).toEqual([
      "leave_listed_accounts",
      "revoke_delegation",
      ...["revoke_approval", "revoke_approval", "revoke_approval"],
    ]);
  });

  test("a sound trader needs no advice beyond its few failures", () => {
    const health = healthOfSteps(diverseTrader(PLAN));
    expect(health.successRate).toBeGreaterThan(0.9);
    expect(new Set(health.advice.map(({ kind }) => kind))).toEqual(new Set(["simulate_first"]));
  });

  test("a wallet without calls is nothing of anything, and no rate", () => {
    expect(healthOfSteps([])).toMatchObject({
      calls: 0,
      successRate: null,
      spent: { wei: 0n },
      failureGroups: [],
      portfolio: { kind: "none" },
      advice: [],
    });
  });

  test("a wallet whose approvals were not read does not claim to have none", () => {
    expect(healthOfSteps([{ at: START }], { approvals: null, counterparties: [] }).approvals).toBeNull();
  });
});

describe("advice", () => {
  test("comes in the order of the money that it saves", () => {
    const saved = healthOfSteps(gasWarrior(PLAN)).advice.map(({ saves }) => saves?.microUsd ?? -1);
    expect(saved).toEqual(saved.toSorted((a, b) => b - a));
  });

  test("has no worth in USD where no feed prices the coin, and still its wei", () => {
    const tokens = { native: { symbol: "ETH", decimals: 18, prices: [] }, tokens: [] };
    const [first] = healthOfSteps(
      [0, 1].map((at) => ({ at: START + at, ok: false })),
      { tokens },
    ).advice;
    expect(first).toMatchObject({
      saves: { wei: 140_000_000_000_000n, microUsd: null },
      reason: expect.stringContaining("cost 0.00014 ETH"),
    });
  });
});

describe("activity by week", () => {
  test("shows weeks without calls, and none that is not covered", () => {
    const coverage = {
      fromBlock: 50,
      fromTimestamp: START,
      toBlock: 1_000,
      complete: false,
      sources: ["index"],
    };
    const { weeks } = healthOfSteps([{ at: START }, { at: START + 15 * DAY, ok: false }], { coverage });
    expect(weeks.map(({ from, calls, failures }) => [(from - START) / DAY, calls, failures])).toEqual([
      [0, 1, 0],
      [7, 0, 0],
      [14, 1, 1],
    ]);
  });
});

describe("a portfolio", () => {
  test("holds what own calls left, priced where a feed does, dearest first", () => {
    const buy = (at: number, token: typeof USDC, amount: bigint): Step => ({
      at,
      to: account(2000),
      emitters: [token],
      moves: [{ token, amount }],
    });
    const { portfolio } = healthOfSteps([
      buy(START, UNPRICED, 10n ** 18n),
      buy(START + 10, USDC, 7_000_000n),
      payment(START + 20, account(9), 2_000_000n),
    ]);
    expect(portfolio).toEqual({
      kind: "held",
      positions: [
        {
          token: USDC,
          symbol: "USDC",
          decimals: 6,
          amount: 5_000_000n,
          recognised: true,
          microUsd: 5_000_000,
          pricedBy: "feed",
        },
        {
          token: UNPRICED,
          symbol: "LST",
          decimals: 18,
          amount: 10n ** 18n,
          recognised: true,
          microUsd: null,
          pricedBy: null,
        },
      ],
      recognisedMicroUsd: 5_000_000,
      otherMicroUsd: null,
      unpriced: 1,
    });
  });

  test("does not grow by round trips through an own pool for a token of the wallet's own making", () => {
    const fake = account(0xfade);
    const steps = Array.from({ length: 100 }, (_, place): readonly Step[] => {
      const at = START + place * 3_600;
      const [out, back] = [-1_000_000_000n, 1_000_000_000n];
      return [
        {
          at,
          to: account(0xb0),
          moves: [
            { token: USDC, amount: out },
            { token: fake, amount: 1n },
          ],
        },
        { at: at + 60, to: account(0xb1), moves: [{ token: USDC, amount: back }] },
      ];
    }).flat();
    expect(healthOfSteps(steps).portfolio).toMatchObject({
      recognisedMicroUsd: null,
      otherMicroUsd: 100_000_000_000,
      unpriced: 0,
      positions: [{ token: fake, recognised: false, pricedBy: "own_trade" }],
    });
  });

  test("of unread receipts is not an empty one", () => {
    expect(healthOfSteps([{ at: START, read: false }]).portfolio).toMatchObject({ kind: "unread" });
  });
});
