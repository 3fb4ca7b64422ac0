import { describe, expect, test } from "vitest";
import { createMarket } from "../../../../service/model/features/market.ts";
import { dayOf } from "../../../../service/model/features/time.ts";
import { account, DAY, START, TOKENS, UNPRICED, USDC } from "./histories.ts";

const TODAY = dayOf(START);

describe("the market of a token list", () => {
  const market = createMarket({
    native: { symbol: "ETH", decimals: 18, prices: [] },
    tokens: [
      {
        address: USDC,
        symbol: "USDC",
        decimals: 6,
        prices: [
          [TODAY, 1_000_000],
          [TODAY + 2, 2_000_000],
          [TODAY + 9, 3_000_000],
        ],
      },
      ...TOKENS.tokens.filter(({ address }) => address === UNPRICED),
    ],
  });

  test.each([
    ["the first price before there is one", -9, 1_000_000],
    ["the first price on its own day", 0, 1_000_000],
    ["the price of the day before", 1, 1_000_000],
    ["the price of the day before, not of its own", 2, 1_000_000],
    ["a new price from the next day on", 3, 2_000_000],
    ["the last price while no newer one comes", 9, 2_000_000],
    ["the newest price for ever", 400, 3_000_000],
  ])("takes %s", (_, days, worth) => {
    expect(market.tokenWorth(USDC, 1_000_000n, START + days * DAY)).toBe(worth);
  });

  test("counts in the token's smallest unit, negative amounts negative", () => {
    expect(market.tokenWorth(USDC, -2_500_000n, START)).toBe(-2_500_000);
    expect(createMarket(TOKENS).nativeWorth(10n ** 15n, START)).toBe(2_000_000);
  });

  test("knows no worth without a price, and no token that is not listed", () => {
    expect(market.nativeWorth(1n, START)).toBeNull();
    expect(market.tokenWorth(UNPRICED, 1n, START)).toBeNull();
    expect(market.tokenWorth(account(7), 1n, START)).toBeNull();
    expect([USDC, UNPRICED, account(7)].map(market.isListed)).toEqual([true, true, false]);
  });
});
