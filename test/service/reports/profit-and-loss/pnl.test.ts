import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, it } from "vitest";
import { dayOf } from "../../../../service/model/features/time.ts";
import type { DailyPrice, TokenList, WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { diagnoseHealth } from "../../../../service/reports/diagnosis/health.ts";
import { gatherReportFacts } from "../../../../service/reports/diagnosis/report-facts.ts";
import { type Pnl, profitAndLoss, type TokenPnl } from "../../../../service/reports/profit-and-loss/pnl.ts";
import {
  account,
  asOfTime,
  callsOf,
  DAY,
  HOUR,
  rowsOf,
  START,
  type Step,
  UNPRICED,
  USDC,
} from "../../model/features/histories.ts";

/** Eighteen decimals; 100 dollars, 200 from the tenth day on, 300 from the twentieth. */
const WETH = account(0xe1);
/** No feed prices it. */
const MEME = account(0xe2);
const OTHER = account(0xe3);
const SCAM = account(0xe9);
const ROUTER = account(0xb0);
const VAULT = account(0xb1);
const ONE = 10n ** 18n;
const DOLLAR = 1_000_000n;
const NOW = asOfTime(START + 30 * DAY);
const TODAY = dayOf(START);

const TOKENS: TokenList = {
  native: { symbol: "ETH", decimals: 18, prices: [[0, 2_000_000_000]] },
  tokens: [
    { address: USDC, symbol: "USDC", decimals: 6, prices: [[0, 1_000_000]] },
    {
      address: WETH,
      symbol: "WETH",
      decimals: 18,
      prices: [
        [TODAY - 1, 100_000_000],
        [TODAY + 9, 200_000_000],
        [TODAY + 19, 300_000_000],
      ],
    },
  ],
};

type Amount = readonly [token: Address, amount: bigint];

/** A call on a day that moved tokens. */
function move(day: number, moves: readonly Amount[], step: Partial<Step> = {}): Step {
  const moved = moves.map(([token, amount]) => ({ token, amount }));
  return { at: START + day * DAY, to: ROUTER, moves: moved, ...step };
}

/** A call on a day that gave one token for another. */
const swap = (day: number, [given, price]: Amount, got: Amount) => move(day, [[given, -price], got]);
const buy = (day: number, tokens: bigint, dollars: bigint) =>
  swap(day, [USDC, dollars * DOLLAR], [WETH, tokens * ONE]);
const sell = (day: number, tokens: bigint, dollars: bigint) =>
  swap(day, [WETH, tokens * ONE], [USDC, dollars * DOLLAR]);

function pnlWith(tokens: TokenList, steps: readonly Step[], days = 180): Pnl {
  return profitAndLoss({ rows: rowsOf(callsOf(steps), { tokens }), asOf: NOW }, days);
}

const pnlOf = (...steps: readonly Step[]) => pnlWith(TOKENS, steps);

function tokenOf(pnl: Pnl, token: Address): TokenPnl {
  const found = pnl.tokens.find((of) => of.token === token);
  if (found === undefined) throw new Error(`${token} is not in the answer`);
  return found;
}

describe("profit and loss by hand", () => {
  it("sells the oldest lots first, and a lot in parts", () => {
    // 10 at 100 and 10 at 200; 15 sold for 3,000 cost 10 × 100 + 5 × 200; 5 are left, which cost 1,000 and are worth 1,500.
    const pnl = pnlOf(buy(1, 10n, 1_000n), buy(11, 10n, 2_000n), sell(12, 15n, 3_000n));
    expect(tokenOf(pnl, WETH)).toMatchObject({
      symbol: "WETH",
      decimals: 18,
      bought: 20n * ONE,
      sold: 15n * ONE,
      held: 5n * ONE,
      realised: 1_000n * DOLLAR,
      cost: 1_000n * DOLLAR,
      worth: 1_500n * DOLLAR,
      pricedBy: "feed",
      unrealised: 500n * DOLLAR,
      sales: 1,
      uncovered: 0n,
    });
    expect(pnl).toMatchObject({
      realised: 1_000n * DOLLAR,
      unrealised: 500n * DOLLAR,
      trades: 3,
      wins: 1,
      losses: 0,
    });
  });

  it("takes what was really paid for the price, not the day's, where the other side is steadier", () => {
    // The feed says 100; bought at 90, sold at 95.
    const pnl = pnlOf(buy(1, 1n, 90n), sell(2, 1n, 95n));
    expect(pnl.realised).toBe(5n * DOLLAR);
  });

  it("counts wins among the sales that gained or lost a cent", () => {
    const pnl = pnlOf(
      buy(1, 4n, 400n),
      sell(2, 1n, 110n),
      sell(3, 1n, 90n),
      sell(4, 1n, 130n),
      sell(5, 1n, 100n),
    );
    expect(pnl).toMatchObject({ sales: 4, wins: 2, losses: 1, winRate: 2 / 3, realised: 30n * DOLLAR });
  });

  it("prices a token without a feed by what was given for it, and what is left by the newest trade", () => {
    const pnl = pnlOf(
      swap(1, [USDC, 100n * DOLLAR], [MEME, 50n]),
      swap(2, [MEME, 20n], [USDC, 70n * DOLLAR]),
    );
    // 20 of 50 cost 40; the 30 left cost 60 and go for 3.5 each.
    expect(tokenOf(pnl, MEME)).toMatchObject({
      symbol: null,
      realised: 30n * DOLLAR,
      cost: 60n * DOLLAR,
      worth: 105n * DOLLAR,
      pricedBy: "own_trade",
      unrealised: 45n * DOLLAR,
    });
    // An own trade's price is no market's: it is shown, and left out of the total.
    expect(pnl.unrealised).toBeNull();
  });

  it("buys for native coin at the feed's price", () => {
    const pnl = pnlOf(move(1, [[MEME, 10n]], { value: ONE }), swap(2, [MEME, 10n], [USDC, 2_500n * DOLLAR]));
    expect([pnl.realised, pnl.winRate]).toEqual([500n * DOLLAR, 1]);
  });

  it("values what came for nothing at the price of its day", () => {
    const pnl = pnlOf(move(1, [[WETH, ONE]]), sell(2, 1n, 130n));
    expect(tokenOf(pnl, WETH)).toMatchObject({ received: ONE, bought: 0n, realised: 30n * DOLLAR });
  });

  it("wraps coin at its worth, which is no trade", () => {
    const pnl = pnlOf(move(1, [[WETH, ONE]], { value: ONE, effect: "wrap" }), sell(2, 1n, 130n));
    expect([pnl.trades, tokenOf(pnl, WETH).received]).toEqual([1, ONE]);
  });

  it("realises nothing by paying and depositing, which takes the oldest lots", () => {
    const pnl = pnlOf(buy(1, 1n, 100n), buy(11, 1n, 200n), move(12, [[WETH, -ONE]]), sell(21, 1n, 300n));
    expect(tokenOf(pnl, WETH)).toMatchObject({ sent: ONE, realised: 100n * DOLLAR, held: 0n, cost: null });
  });

  it("shares the price of several tokens by what the feeds say of them", () => {
    // 300 dollars for WETH worth 100 and 200 USDC: 100 and 200.
    const pnl = pnlOf(
      move(1, [[MEME, 3n]], { value: (15n * ONE) / 100n }),
      move(2, [
        [MEME, -3n],
        [WETH, ONE],
        [USDC, 200n * DOLLAR],
      ]),
    );
    expect([tokenOf(pnl, MEME).realised, tokenOf(pnl, WETH).cost, tokenOf(pnl, USDC).cost]).toEqual([
      0n,
      100n * DOLLAR,
      // Money has no cost.
      null,
    ]);
  });
});

describe("an unknown amount", () => {
  it("is no gain: a token that came from strangers has no cost", () => {
    const pnl = pnlOf(sell(2, 1n, 130n));
    expect(tokenOf(pnl, WETH)).toMatchObject({ uncovered: ONE, realised: null, sales: 1, unpricedLegs: 1 });
    expect([pnl.realised, pnl.winRate, pnl.unpricedShare]).toEqual([null, null, 1]);
  });

  it("does not hide the known part of a sale", () => {
    const pnl = pnlOf(buy(1, 1n, 100n), sell(2, 2n, 240n));
    expect(tokenOf(pnl, WETH)).toMatchObject({ realised: 20n * DOLLAR, uncovered: ONE, unpricedLegs: 1 });
  });

  it("is a trade of two tokens that no feed prices", () => {
    const pnl = pnlOf(move(1, [[MEME, 10n]]), swap(2, [MEME, 10n], [OTHER, 7n]));
    expect(tokenOf(pnl, OTHER)).toMatchObject({
      bought: 7n,
      cost: null,
      worth: null,
      unrealised: null,
      pricedBy: null,
    });
    expect([pnl.trades, pnl.realised, pnl.unrealised, pnl.unpricedShare]).toEqual([1, null, null, 1]);
  });

  it("is counted where a receipt was not read", () => {
    expect(pnlOf(move(1, [[WETH, ONE]], { read: false }))).toMatchObject({ unreadReceipts: 1, tokens: [] });
  });

  it("is what came before the window", () => {
    const steps = [buy(1, 1n, 100n), sell(12, 1n, 200n)];
    expect(pnlWith(TOKENS, steps, 20)).toMatchObject({ trades: 1, realised: null });
  });

  it("is what fees are worth where nothing prices the native coin", () => {
    const unpriced = { ...TOKENS, native: { symbol: "ETH", decimals: 18, prices: [] } };
    expect(pnlWith(unpriced, [move(1, [])]).fees).toBeNull();
    // 70,000 gas at 1 gwei and 2,000 dollars a coin.
    expect(pnlOf(move(1, [])).fees).toBe(140_000n);
  });

  it("is not made up: a wallet that never traded gained and lost nothing", () => {
    expect(pnlOf(move(1, []))).toMatchObject({
      tokens: [],
      realised: 0n,
      unrealised: 0n,
      trades: 0,
      winRate: null,
      unpricedShare: null,
    });
  });
});

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

/** Prices of WETH as of these days. */
const pnlAt = (weth: readonly DailyPrice[], ...steps: readonly Step[]) => pnlWith(market(weth), steps);

describe("spending money", () => {
  const RISING: readonly DailyPrice[] = [
    [TODAY - 1, 2_000_000_000],
    [TODAY + 2, 2_200_000_000],
  ];

  it("is no sale, whatever its price did since it came", () => {
    const pnl = pnlAt(RISING, buy(1, 10n, 20_000n), sell(4, 10n, 22_000n), buy(6, 10n, 22_000n));
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
    const pnl = pnlAt(RISING, buy(1, 1n, 2_000n));
    expect(pnl).toMatchObject({ sales: 0, realised: 0n, winRate: null, unpricedShare: 0 });
  });

  it("is reported in amounts all the same", () => {
    const usdc = tokenOf(pnlAt(RISING, buy(1, 10n, 20_000n), sell(4, 10n, 22_000n)), USDC);
    expect([usdc.bought, usdc.sold, usdc.uncovered, usdc.held]).toEqual([
      22_000n * DOLLAR,
      20_000n * DOLLAR,
      20_000n * DOLLAR,
      22_000n * DOLLAR,
    ]);
  });

  it("is not what a token does that only happens to have stood still", () => {
    const pnl = pnlAt([[TODAY - 1, 2_000_000_000]], buy(1, 1n, 2_000n), sell(2, 1n, 2_100n));
    expect(pnl).toMatchObject({ sales: 1, wins: 1 });
  });
});

describe("a deposit", () => {
  const TRIPLED: readonly DailyPrice[] = [
    [TODAY - 1, 1_000_000_000],
    [TODAY + 9, 3_000_000_000],
  ];
  const deposit = (contract: Address) => move(2, [[WETH, -ONE]], { to: contract });
  const withdraw = (contract: Address, amount = ONE) => move(12, [[WETH, amount]], { to: contract });

  it("comes back at the cost that it left with, so that no gain is lost on the way", () => {
    const pnl = pnlAt(TRIPLED, buy(1, 1n, 1_000n), deposit(VAULT), withdraw(VAULT), sell(13, 1n, 3_000n));
    // 3,000 at 0.9999 less 1,000 at 1.0001.
    expect(pnl).toMatchObject({ realised: 1_999_600_000n, wins: 1, returns: 1, unpricedShare: 0 });
  });

  it("was paid to the contract directly or by a call to it", () => {
    const paid = move(2, [[WETH, -ONE]], { to: WETH, recipient: VAULT, amount: ONE });
    const pnl = pnlAt(TRIPLED, buy(1, 1n, 1_000n), paid, withdraw(VAULT), sell(13, 1n, 3_000n));
    expect([pnl.realised, pnl.returns]).toEqual([1_999_600_000n, 1]);
  });

  it("earns what comes back beyond it, at the price of that day", () => {
    const pnl = pnlAt(
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
    const pnl = pnlAt(TRIPLED, buy(1, 1n, 1_000n), deposit(VAULT), withdraw(ROUTER), sell(13, 1n, 3_000n));
    expect([pnl.realised, pnl.returns]).toEqual([-300_000n, 0]);
  });

  it("has no known cost where it never came by an own call", () => {
    const pnl = pnlAt(TRIPLED, deposit(VAULT), withdraw(VAULT), sell(13, 1n, 3_000n));
    expect([pnl.realised, pnl.returns, pnl.unpricedShare]).toEqual([null, 1, 1]);
  });
});

describe("dust that a swap logs", () => {
  const HALVED: readonly DailyPrice[] = [
    [TODAY - 1, 1_000_000_000],
    [TODAY + 9, 500_000_000],
  ];
  const bought = (extra: readonly Amount[]) => move(1, [[USDC, -1_000n * DOLLAR], [WETH, ONE], ...extra]);

  it("hides no loss: a token on no list is worth nothing beside one that has a price", () => {
    const pnl = pnlAt(HALVED, bought([[SCAM, 1n]]), sell(13, 1n, 500n));
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
    const pnl = pnlAt(HALVED, bought([[UNPRICED, ONE]]), sell(13, 1n, 500n));
    expect(pnl).toMatchObject({ realised: null, worthlessLegs: 0 });
  });

  it("is the whole purchase where nothing else came", () => {
    const pnl = pnlAt(HALVED, swap(1, [USDC, 1_000n * DOLLAR], [SCAM, 1n]));
    expect([tokenOf(pnl, SCAM).cost, pnl.worthlessLegs]).toEqual([1_000_100_000n, 0]);
  });
});

describe("fees", () => {
  it("of executions that share one transaction are paid once, as the health report says", () => {
    const hash = `0x${"aa".repeat(32)}` as const;
    const steps = [1, 2, 3, 4].map((position) => move(1, [], { position, fee: 10n ** 15n }));
    const calls = callsOf(steps).map((call) => ({ ...call, hash, blockNumber: 5 }));
    const source = { rows: rowsOf(calls, { tokens: market([]) }), asOf: NOW };
    const { spent } = diagnoseHealth(gatherReportFacts(source, AHS_2026_2), { drawnTokens: null });
    expect([profitAndLoss(source, 180).fees, spent.microUsd]).toEqual([2_000_000n, 2_000_000]);
  });
});

const PRICED = account(0xe1);
const UNLISTED = account(0xe2);
const END = asOfTime(START + 60 * DAY);
const DAILY_TOKENS: TokenList = {
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

const anyMoves = fc.uniqueArray(
  fc.record({
    token: fc.constantFrom(USDC, PRICED, UNLISTED),
    amount: fc.bigInt({ min: -5_000_000n, max: 5_000_000n }).filter((amount) => amount !== 0n),
  }),
  { selector: ({ token }) => token, maxLength: 3 },
);

const anyStep: fc.Arbitrary<Step> = fc.record({
  // Few distinct times, so that many are equal.
  at: fc.integer({ min: 0, max: 40 }).map((place) => START + place * 36 * HOUR),
  moves: anyMoves,
  value: fc.constantFrom(0n, 0n, 10n ** 15n),
  effect: fc.constantFrom("other", "other", "other", "wrap"),
  read: fc.boolean(),
});

const histories = fc
  .array(anyStep, { maxLength: 60 })
  .map((steps) => rowsOf(callsOf(steps), { tokens: DAILY_TOKENS }));

function withoutSales(rows: WalletRows): WalletRows {
  const calls = rows.calls.map((call) => ({
    ...call,
    receipt:
      call.receipt === null
        ? null
        : {
            ...call.receipt,
            // A call that only gets, or only gives and gets nothing for it.
            moves: call.receipt.moves.filter(({ amount }) =>
              (call.value ?? 0n) > 0n ? amount < 0n : amount > 0n,
            ),
          },
  }));
  return { ...rows, calls };
}

describe("profit and loss of any history", () => {
  it("conserves every token: bought, received and uncovered amounts equal those sold, sent and held", () => {
    fc.assert(
      fc.property(histories, (rows) => {
        for (const { bought, received, uncovered, sold, sent, held, lots } of profitAndLoss(
          { rows, asOf: END },
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
        const pnl = profitAndLoss({ rows: withoutSales(rows), asOf: END }, 180);
        expect([pnl.realised, pnl.sales, pnl.winRate]).toEqual([0n, 0, null]);
        expect(pnl.tokens.every(({ realised }) => realised === null)).toBe(true);
      }),
    );
  });

  it("does not depend on the order of the calls, equal times included", () => {
    const shuffled = histories.chain((rows) =>
      fc
        .shuffledSubarray([...rows.calls], { minLength: rows.calls.length, maxLength: rows.calls.length })
        .map((calls) => ({ rows, other: { ...rows, calls } })),
    );
    fc.assert(
      fc.property(shuffled, ({ rows, other }) => {
        expect(profitAndLoss({ rows: other, asOf: END }, 180)).toEqual(
          profitAndLoss({ rows, asOf: END }, 180),
        );
      }),
    );
  });

  it("is the sum of its tokens, and keeps its shares between 0 and 1", () => {
    fc.assert(
      fc.property(histories, (rows) => {
        const pnl = profitAndLoss({ rows, asOf: END }, 180);
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
        expect(profitAndLoss({ rows: { ...rows, calls }, asOf: END }, 180)).toMatchObject({
          tokens: [],
          trades: 0,
          realised: 0n,
          unreadReceipts: 0,
        });
      }),
    );
  });
});
