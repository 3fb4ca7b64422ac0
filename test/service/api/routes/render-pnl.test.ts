import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { renderPnl } from "../../../../service/api/routes/get-risk-premium.ts";
import { dayOf } from "../../../../service/model/features/time.ts";
import type { TokenList } from "../../../../service/model/features/types.ts";
import { profitAndLoss } from "../../../../service/reports/profit-and-loss/pnl.ts";
import { asOfTime, callsOf, DAY, rowsOf, START, type Step } from "../../model/features/histories.ts";

const ONE = 10n ** 18n;
const DOLLAR = 1_000_000n;
const TODAY = dayOf(START);
const NOW = asOfTime(START + 30 * DAY);

type Moves = readonly (readonly [Address, bigint])[];

function move(day: number, moves: Moves, step: Partial<Step>): Step {
  return { at: START + day * DAY, moves: moves.map(([token, amount]) => ({ token, amount })), ...step };
}

describe("renderPnl", () => {
  it("answers dollars, and amounts in the smallest unit", () => {
    const weth = "0x4200000000000000000000000000000000000006";
    const usdc = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
    const fee = 21n * 10n ** 14n;
    const trade = (day: number, dollars: bigint, tokens: bigint) =>
      move(
        day,
        [
          [usdc, dollars * DOLLAR],
          [weth, tokens],
        ],
        { fee },
      );
    const tokens: TokenList = {
      native: { symbol: "ETH", decimals: 18, prices: [[0, 2_000_000_000]] },
      tokens: [
        { address: usdc, symbol: "USDC", decimals: 6, prices: [[0, 1_000_000]] },
        {
          address: weth,
          symbol: "WETH",
          decimals: 18,
          prices: [
            [TODAY - 1, 1_000_000_000],
            [TODAY + 19, 3_000_000_000],
          ],
        },
      ],
    };
    const calls = callsOf([
      trade(1, -1_000n, ONE),
      trade(11, -2_000n, ONE),
      trade(21, 3_000n, (-3n * ONE) / 2n),
    ]);
    const source = { rows: rowsOf(calls, { tokens }), asOf: NOW };
    const counts = { returns: 0, unpriced_legs: 0 };
    const none = { realised_usd: null, cost_usd: null, value_usd: null, unrealised_usd: null };
    expect(renderPnl(profitAndLoss(source, 180), { source, days: 180 })).toMatchObject({
      ...{ realised_usd: 1_000, unrealised_usd: 500, fees_usd: 12.6, unpriced_share: 0 },
      ...{ trades: 3, sales: 1, wins: 1, losses: 0, win_rate: 1 },
      ...{ returns: 0, zero_valued_transfers: 0, unread_receipts: 0, token_count: 2 },
      tokens: [
        {
          ...{ token: "0x4200000000000000000000000000000000000006", symbol: "WETH", decimals: 18 },
          ...{ currency: false, bought: "2000000000000000000", sold: "1500000000000000000" },
          ...{ received: "0", sent: "0", sold_without_cost: "0", held: "500000000000000000" },
          ...{ realised_usd: 1_000, cost_usd: 1_000, value_usd: 1_500, unrealised_usd: 500 },
          ...{ priced_by: "feed", sales: 1, wins: 1, losses: 0, ...counts },
        },
        {
          ...{ token: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", symbol: "USDC", decimals: 6 },
          ...{ currency: true, bought: "3000000000", sold: "3000000000" },
          ...{ received: "0", sent: "0", sold_without_cost: "3000000000", held: "3000000000", ...none },
          ...{ priced_by: null, sales: 0, wins: 0, losses: 0, ...counts },
        },
      ],
    });
  });
});
