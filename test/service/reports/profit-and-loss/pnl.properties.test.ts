import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dayOf } from "../../../../service/model/features/time.ts";
import type { TokenList, WalletRows } from "../../../../service/model/features/types.ts";
import { profitAndLoss } from "../../../../service/reports/profit-and-loss/pnl.ts";
import {
  account,
  asOfTime,
  callsOf,
  DAY,
  HOUR,
  rowsOf,
  START,
  type Step,
  USDC,
} from "../../model/features/histories.ts";

const PRICED = account(0xe1);
const UNPRICED = account(0xe2);
const NOW = asOfTime(START + 60 * DAY);
const TOKENS: TokenList = {
  native: { symbol: "ETH", decimals: 18, prices: [[0, 2_000_000_000]] },
  tokens: [
    { address: USDC, symbol: "USDC", decimals: 6, prices: [[0, 1_000_000]] },
    {
      address: PRICED,
      symbol: "P",
      decimals: 3,
      prices: Array.from(
        { length: 50 },
        (_, day) => [dayOf(START) + day, 5_000_000 + 100_000 * (day % 7)] as const,
      ),
    },
  ],
};

const moves = fc.uniqueArray(
  fc.record({
    token: fc.constantFrom(USDC, PRICED, UNPRICED),
    amount: fc.bigInt({ min: -5_000_000n, max: 5_000_000n }).filter((amount) => amount !== 0n),
  }),
  { selector: ({ token }) => token, maxLength: 3 },
);

const step: fc.Arbitrary<Step> = fc.record({
  // Few distinct times, so that many are equal.
  at: fc.integer({ min: 0, max: 40 }).map((place) => START + place * 36 * HOUR),
  moves,
  value: fc.constantFrom(0n, 0n, 10n ** 15n),
  effect: fc.constantFrom("other", "other", "other", "wrap"),
  read: fc.boolean(),
});

const histories = fc
  .array(step, { maxLength: 60 })
  .map((steps) => rowsOf(callsOf(steps), { tokens: TOKENS }));

function withoutSales(rows: WalletRows): WalletRows {
  const calls = rows.calls.map((call) => ({
    ...call,
    receipt:
      call.receipt === null
        ? null
        : {
            ...call.receipt,
            // A call that only gets, or only gives and gets nothing for it.
            moves: call.receipt.moves.filter(({ amount }) => (call.value > 0n ? amount < 0n : amount > 0n)),
          },
  }));
  return { ...rows, calls };
}

describe("profit and loss of any history", () => {
  it("conserves every token: what came is what left or is held, but for what left without having come", () => {
    fc.assert(
      fc.property(histories, (rows) => {
        for (const { bought, received, uncovered, sold, sent, held, lots } of profitAndLoss(
          { rows, asOf: NOW },
          180,
        ).tokens) {
          expect(bought + received + uncovered).toBe(sold + sent + held);
          expect(lots.every(({ amount, cost }) => amount > 0n && (cost === null || cost >= 0n))).toBe(true);
        }
      }),
    );
  });

  it("gains nothing without a sale", () => {
    fc.assert(
      fc.property(histories, (rows) => {
        const pnl = profitAndLoss({ rows: withoutSales(rows), asOf: NOW }, 180);
        expect([pnl.realised, pnl.sales, pnl.winRate]).toEqual([0n, 0, null]);
        expect(pnl.tokens.every(({ realised }) => realised === null)).toBe(true);
      }),
    );
  });

  it("does not depend on the order in which the calls are told, equal times included", () => {
    const shuffled = histories.chain((rows) =>
      fc
        .shuffledSubarray([...rows.calls], { minLength: rows.calls.length, maxLength: rows.calls.length })
        .map((calls) => ({ rows, other: { ...rows, calls } })),
    );
    fc.assert(
      fc.property(shuffled, ({ rows, other }) => {
        expect(profitAndLoss({ rows: other, asOf: NOW }, 180)).toEqual(
          profitAndLoss({ rows, asOf: NOW }, 180),
        );
      }),
    );
  });

  it("is the sum of its tokens, and keeps its shares between 0 and 1", () => {
    fc.assert(
      fc.property(histories, (rows) => {
        const pnl = profitAndLoss({ rows, asOf: NOW }, 180);
        const known = pnl.tokens.flatMap(({ realised }) => (realised === null ? [] : [realised]));
        if (pnl.realised !== null) expect(pnl.realised).toBe(known.reduce((sum, part) => sum + part, 0n));
        else expect([known, pnl.sales > 0]).toEqual([[], true]);
        for (const share of [pnl.winRate, pnl.unpricedShare]) {
          if (share !== null) expect(share >= 0 && share <= 1).toBe(true);
        }
        expect(pnl.wins + pnl.losses).toBeLessThanOrEqual(pnl.sales);
      }),
    );
  });

  it("of failed calls is that of none", () => {
    fc.assert(
      fc.property(histories, (rows) => {
        // A reverted call has no logs, so that it moves nothing.
        const calls = rows.calls.map((call) => ({
          ...call,
          ok: false,
          receipt: call.receipt === null ? null : { ...call.receipt, moves: [] },
        }));
        expect(profitAndLoss({ rows: { ...rows, calls }, asOf: NOW }, 180)).toMatchObject({
          tokens: [],
          trades: 0,
          realised: 0n,
          unreadReceipts: 0,
        });
      }),
    );
  });
});
