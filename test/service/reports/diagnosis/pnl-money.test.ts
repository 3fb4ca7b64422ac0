import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { dayOf } from "../../../../service/model/features/time.ts";
import type { DailyPrice, TokenList } from "../../../../service/model/features/types.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { gatherReportFacts } from "../../../../service/reports/diagnosis/report-facts.ts";
import { type Pnl, profitAndLoss, type TokenPnl } from "../../../../service/reports/profit-and-loss/pnl.ts";
import {
  account,
  asOfTime,
  callsOf,
  DAY,
  rowsOf,
  START,
  type Step,
  UNPRICED,
  USDC,
} from "../../model/features/histories.ts";

const WETH = account(0xe1);
const SCAM = account(0xe9);
const ROUTER = account(0xb0);
const VAULT = account(0xb1);
const ONE = 10n ** 18n;
const DOLLAR = 1_000_000n;
const TODAY = dayOf(START);
const NOW = asOfTime(START + 30 * DAY);

/** A stablecoin that is never exactly a dollar: a hundredth of a cent above it until the fifth day, then below. */
const UNSTEADY: readonly DailyPrice[] = [
  [TODAY - 1, 1_000_100],
  [TODAY + 4, 999_900],
];

function market(weth: readonly DailyPrice[]): TokenList {
  return {
    native: { symbol: "ETH", decimals: 18, prices: [[0, 2_000_000_000]] },
    tokens: [
      { address: USDC, symbol: "USDC", decimals: 6, prices: UNSTEADY },
      { address: WETH, symbol: "WETH", decimals: 18, prices: weth },
      { address: UNPRICED, symbol: "LST", decimals: 18, prices: [] },
    ],
  };
}

type Moves = readonly (readonly [Address, bigint])[];

function move(day: number, moves: Moves, step: Partial<Step> = {}): Step {
  return {
    at: START + day * DAY,
    to: ROUTER,
    moves: moves.map(([token, amount]) => ({ token, amount })),
    ...step,
  };
}

function pnlOf(weth: readonly DailyPrice[], ...steps: readonly Step[]): Pnl {
  return profitAndLoss({ rows: rowsOf(callsOf(steps), { tokens: market(weth) }), asOf: NOW }, 180);
}

function tokenOf(pnl: Pnl, token: Address): TokenPnl {
  const found = pnl.tokens.find((of) => of.token === token);
  if (found === undefined) throw new Error(`${token} is not in the answer`);
  return found;
}

const buy = (day: number, tokens: bigint, dollars: bigint) =>
  move(day, [
    [USDC, -dollars * DOLLAR],
    [WETH, tokens * ONE],
  ]);
const sell = (day: number, tokens: bigint, dollars: bigint) =>
  move(day, [
    [WETH, -tokens * ONE],
    [USDC, dollars * DOLLAR],
  ]);

describe("spending money", () => {
  const RISING: readonly DailyPrice[] = [
    [TODAY - 1, 2_000_000_000],
    [TODAY + 2, 2_200_000_000],
  ];

  it("is no sale, whatever its price did since it came", () => {
    const pnl = pnlOf(RISING, buy(1, 10n, 20_000n), sell(4, 10n, 22_000n), buy(6, 10n, 22_000n));
    // 22,000 at 1.0001 less 20,000 at 1.0001.
    expect(pnl).toMatchObject({
      trades: 3,
      sales: 1,
      wins: 1,
      losses: 0,
      winRate: 1,
      realised: 2_000_200_000n,
    });
    expect(tokenOf(pnl, USDC)).toMatchObject({ isCurrency: true, sales: 0, realised: null, cost: null });
  });

  it("leaves a wallet that only bought without a sale and without a loss", () => {
    const pnl = pnlOf(RISING, buy(1, 1n, 2_000n));
    expect(pnl).toMatchObject({ sales: 0, realised: 0n, winRate: null, unpricedShare: 0 });
  });

  it("is told of in amounts all the same", () => {
    const usdc = tokenOf(pnlOf(RISING, buy(1, 10n, 20_000n), sell(4, 10n, 22_000n)), USDC);
    expect([usdc.bought, usdc.sold, usdc.uncovered, usdc.held]).toEqual([
      22_000n * DOLLAR,
      20_000n * DOLLAR,
      20_000n * DOLLAR,
      22_000n * DOLLAR,
    ]);
  });

  it("is not what a token does that only happens to have stood still", () => {
    const pnl = pnlOf([[TODAY - 1, 2_000_000_000]], buy(1, 1n, 2_000n), sell(2, 1n, 2_100n));
    expect(pnl).toMatchObject({ sales: 1, wins: 1 });
  });
});

describe("what was deposited", () => {
  const TRIPLED: readonly DailyPrice[] = [
    [TODAY - 1, 1_000_000_000],
    [TODAY + 9, 3_000_000_000],
  ];
  const deposit = (contract: Address) => move(2, [[WETH, -ONE]], { to: contract });
  const withdraw = (contract: Address, amount = ONE) => move(12, [[WETH, amount]], { to: contract });

  it("comes back at the cost that it left with, so that no gain is lost on the way", () => {
    const pnl = pnlOf(TRIPLED, buy(1, 1n, 1_000n), deposit(VAULT), withdraw(VAULT), sell(13, 1n, 3_000n));
    // 3,000 at 0.9999 less 1,000 at 1.0001.
    expect(pnl).toMatchObject({ realised: 1_999_600_000n, wins: 1, returns: 1, unpricedShare: 0 });
  });

  it("was paid to the contract directly or by a call to it", () => {
    const paid = move(2, [[WETH, -ONE]], { to: WETH, recipient: VAULT, amount: ONE });
    const pnl = pnlOf(TRIPLED, buy(1, 1n, 1_000n), paid, withdraw(VAULT), sell(13, 1n, 3_000n));
    expect([pnl.realised, pnl.returns]).toEqual([1_999_600_000n, 1]);
  });

  it("earns what comes back beyond it, at the price of that day", () => {
    const pnl = pnlOf(
      TRIPLED,
      buy(1, 1n, 1_000n),
      deposit(VAULT),
      withdraw(VAULT, 2n * ONE),
      sell(13, 2n, 6_000n),
    );
    // 6,000 at 0.9999 less 1,000 at 1.0001 and 3,000.
    expect([pnl.realised, pnl.returns]).toEqual([1_999_300_000n, 1]);
  });

  it("does not come back from another contract", () => {
    const pnl = pnlOf(TRIPLED, buy(1, 1n, 1_000n), deposit(VAULT), withdraw(ROUTER), sell(13, 1n, 3_000n));
    expect([pnl.realised, pnl.returns]).toEqual([-300_000n, 0]);
  });

  it("has no known cost where it never came by an own call", () => {
    const pnl = pnlOf(TRIPLED, deposit(VAULT), withdraw(VAULT), sell(13, 1n, 3_000n));
    expect([pnl.realised, pnl.returns, pnl.unpricedShare]).toEqual([null, 1, 1]);
  });
});

describe("dust that a swap logs", () => {
  const HALVED: readonly DailyPrice[] = [
    [TODAY - 1, 1_000_000_000],
    [TODAY + 9, 500_000_000],
  ];
  const bought = (extra: Moves) => move(1, [[USDC, -1_000n * DOLLAR], [WETH, ONE], ...extra]);

  it("hides no loss: a token on no list is worth nothing beside one that has a price", () => {
    const pnl = pnlOf(HALVED, bought([[SCAM, 1n]]), sell(13, 1n, 500n));
    // 500 at 0.9999 less 1,000 at 1.0001.
    expect(pnl).toMatchObject({
      realised: -500_150_000n,
      losses: 1,
      winRate: 0,
      unpricedShare: 0,
      worthlessLegs: 1,
    });
    expect(tokenOf(pnl, SCAM)).toMatchObject({ cost: 0n, unrealised: 0n });
  });

  it("may be worth something where it is listed: nothing is made up of it", () => {
    const pnl = pnlOf(HALVED, bought([[UNPRICED, ONE]]), sell(13, 1n, 500n));
    expect(pnl).toMatchObject({ realised: null, worthlessLegs: 0 });
  });

  it("is the whole purchase where nothing else came", () => {
    const pnl = pnlOf(
      HALVED,
      move(1, [
        [USDC, -1_000n * DOLLAR],
        [SCAM, 1n],
      ]),
    );
    expect([tokenOf(pnl, SCAM).cost, pnl.worthlessLegs]).toEqual([1_000_100_000n, 0]);
  });
});

describe("fees", () => {
  it("of executions that share one transaction are paid once, as the health report says", () => {
    const hash = `0x${"aa".repeat(32)}` as const;
    const steps = [1, 2, 3, 4].map((position) => move(1, [], { position, fee: 10n ** 15n }));
    const calls = callsOf(steps).map((call) => ({ ...call, hash, blockNumber: 5 }));
    const source = { rows: rowsOf(calls, { tokens: market([]) }), asOf: NOW };
    const { spent } = diagnoseHealth(gatherReportFacts(source, AHS_2026_1), { drawnTokens: null });
    expect([profitAndLoss(source, 180).fees, spent.microUsd]).toEqual([2_000_000n, 2_000_000]);
  });
});
