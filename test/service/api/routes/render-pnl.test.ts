import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { RISK_PREMIUM_EXAMPLE, renderPnl } from "../../../../service/api/routes/get-risk-premium.ts";
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

describe("the example of the reference", () => {
  it("is what the code answers for such a wallet", () => {
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
    const { chain_id, as_of_block, as_of_time, window, coverage, ...told } = RISK_PREMIUM_EXAMPLE.pnl;
    expect(renderPnl(profitAndLoss(source, 180), source, 180)).toMatchObject(told);
    expect([chain_id, as_of_block, window.days, as_of_time, coverage.complete]).toEqual([
      31337,
      7969,
      180,
      window.to,
      true,
    ]);
  });
});
