import { describe, expect, test } from "vitest";
import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import type { CounterpartyFact, TokenMove } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  payment,
  rowsOf,
  START,
  type Step,
  UNPRICED,
  USDC,
  withFacts,
} from "./histories.ts";
import { featureOf, measureFeature } from "./measured.ts";

const TOKEN = account(0xd0);
const SPAM: Partial<CounterpartyFact> = { outsideUsers: 2 };
/** No fees, so that the native coin is worth nothing here. */
const free = { at: START, fee: 0n };

describe("portfolio quality", () => {
  test("does not exist for a wallet whose calls never brought a token in", () => {
    expect(measureFeature("portfolio_quality", [payment(START, account(9), 5_000_000n)])).toMatchObject({
      state: "not_applicable",
      reason: "the wallet never acquired a token",
    });
  });

  test("is unknown where most receipts were not read", () => {
    const unread = { at: START, read: false };
    expect(measureFeature("portfolio_quality", [unread, unread, gets(USDC, 1n)])).toMatchObject({
      state: "unknown",
      reason: "the receipts of most calls were not read",
    });
    expect(measureFeature("portfolio_quality", [unread, gets(USDC, 1n)]).state).toBe("measured");
  });

  test("is the share of worth that is in listed tokens", () => {
    // Three dollars kept in USDC, one dollar in a token without other users.
    const steps = [gets(USDC, 4_000_000n), swap(1_000_000n, 10n)];
    expect(quality(steps, SPAM)).toMatchObject({ value: 0.75, scoreMicros: 75e6, samples: 2 });
    expect(quality(steps, {})).toMatchObject({ value: 1 });
  });

  test.each<readonly [string, Partial<CounterpartyFact>, number]>([
    [
      "used by three others and a month old when it was bought",
      { outsideUsers: 3, existedAt: START - 30 * DAY },
      1,
    ],
    // A dollar's worth beside the least that counts as sound, a dollar, and a third of it at most.
    ["used by two", { outsideUsers: 2 }, 0.75],
    ["younger", { existedAt: START - 30 * DAY + 1 }, 0.75],
    ["of unknown age", { existedAt: null }, 0.75],
  ])("of a token that is %s is %s", (_, parts, value) => {
    expect(quality([swap(1_000_000n, 10n)], parts).value).toBe(value);
  });

  test("loses no more to one token, however much was given for it, but more to each further one", () => {
    const [cheap, dear] = [swap(10_000_000n, 10n), swap(900_000_000n, 10n)].map(
      (bought) => quality([gets(USDC, 901_000_000n), bought], SPAM).value,
    );
    expect(cheap).toBeGreaterThan(0.98);
    expect(dear).toBe(0.75);
    const others = [1, 2, 3].map((more) => account(0xd0 + more));
    const facts = new Map([TOKEN, ...others].map((token) => [token, SPAM]));
    const held = others.map((_, more) => [
      swap(900_000_000n, 10n),
      ...others.slice(0, more + 1).map((token) => swap(900_000_000n, 10n, token)),
    ]);
    const values = held.map(
      (steps) =>
        featureOf("portfolio_quality", measureWallet(withFacts(rowsOf(callsOf(steps)), facts), AHS_2026_2))
          .value,
    );
    expect(values).toEqual([0.6, 0.5, expect.closeTo(3 / 7, 5)]);
  });

  test("has its whole weight from four tokens on, and a quarter with one", () => {
    const shareOf = (tokens: number) => {
      const feature = measureFeature("portfolio_quality", [gets(USDC, 1_000_000n), ...known(tokens - 1)]);
      return feature.state === "measured" ? feature.sharePercent : null;
    };
    expect([1, 2, 3, 4, 5].map(shareOf)).toEqual([25, 50, 75, 100, 100]);
  });

  test("values a token without a price by what the wallet gave for it", () => {
    const [half, dear] = [swap(1_000_000n, 10n), swap(3_000_000n, 10n)];
    const sold = { ...free, moves: [{ token: TOKEN, amount: -10n }] };
    // 20 for 4 dollars, 10 left of them: 2 dollars, beside 8 dollars in USDC.
    expect(quality([gets(USDC, 12_000_000n), half, dear, sold], SPAM).value).toBe(0.8);
  });

  test("values it by native value as well, and by what came back", () => {
    // 0.001 of the coin is two dollars; one came back.
    const bought: Step = {
      ...free,
      value: 10n ** 15n,
      moves: [
        { token: USDC, amount: 1_000_000n },
        { token: TOKEN, amount: 7n },
      ],
    };
    const later = { ...free, at: START + 40 * DAY };
    expect(quality([gets(USDC, 3_000_000n), bought, later], SPAM).value).toBe(0.8);
  });

  test("leaves out what nothing prices, and is unknown where nothing is priced", () => {
    const found = { ...free, moves: [{ token: TOKEN, amount: 5n }] };
    expect(quality([gets(USDC, 1_000_000n), found], SPAM).value).toBe(1);
    expect(quality([found], SPAM)).toMatchObject({
      state: "unknown",
      reason: "nothing that the wallet holds has a known worth",
    });
    expect(quality([gets(UNPRICED, 5n)], {}).state).toBe("unknown");
  });

  test("counts the native coin as what the last month's calls paid", () => {
    // A hundredth of the coin in fees is 20 dollars; a fifth of the worth is in the token.
    const fee = 10n ** 16n;
    const bought = swap(5_000_000n, 10n);
    expect(quality([{ ...bought, fee }], SPAM).value).toBe(0.8);
    expect(
      quality(
        [
          { ...bought, fee },
          { ...free, at: START + 31 * DAY },
        ],
        SPAM,
      ).value,
    ).toBe(0.75);
  });

  test("does not move with what failed or succeeded", () => {
    const steps = [gets(USDC, 4_000_000n), swap(1_000_000n, 10n)];
    const failed = steps.map((step) => ({ ...step, ok: false }));
    expect(quality(failed, SPAM).value).toBe(quality(steps, SPAM).value);
  });
});

describe("dust and spam", () => {
  test.each<readonly [string, readonly Step[], number, number]>([
    ["good tokens", [gets(USDC, 1_000_000n), gets(UNPRICED, 1n)], 0, 100],
    ["a tenth of dust", [gets(USDC, 1n), ...known(9)], 0.1, 100],
    ["a fifth of spam", [gets(TOKEN, 9n), ...known(4)], 0.2, 80],
    ["half of spam", [gets(TOKEN, 9n), ...known(1)], 0.5, 20],
    ["spam alone", [gets(TOKEN, 9n)], 1, 0],
    ["a cent, which is no dust", [gets(USDC, 10_000n), ...known(1)], 0, 100],
    ["spam that was given away again", [gets(TOKEN, 9n), swapBack(9n), ...known(1)], 0, 100],
    ["nothing left", [gets(USDC, 9_000_000n), payment(START + 1, account(9), 9_000_000n)], 0, 100],
  ])("of %s", (_, steps, value, points) => {
    const feature = featureOf("dust_and_spam", measured(steps, SPAM));
    expect(feature).toMatchObject({ value, scoreMicros: points * 1_000_000 });
  });

  test("does not exist where no call brought a token in, and is unknown where receipts are", () => {
    expect(measureFeature("dust_and_spam", [{ at: START }]).state).toBe("not_applicable");
    expect(measureFeature("dust_and_spam", [{ at: START, read: false }]).state).toBe("unknown");
  });
});

/** So many recognised tokens, of no known worth. */
function known(count: number): readonly Step[] {
  return Array.from({ length: count }, (_, i) => gets(account(0xe0 + i), 1_000n));
}

function gets(token: TokenMove["token"], amount: bigint): Step {
  return { ...free, emitters: [token], moves: [{ token, amount }] };
}

function swap(microUsd: bigint, amount: bigint, token = TOKEN): Step {
  return {
    ...free,
    gasPrice: GWEI,
    emitters: [USDC, token],
    moves: [
      { token: USDC, amount: -microUsd },
      { token, amount },
    ],
  };
}

function swapBack(amount: bigint): Step {
  return { ...free, at: START + 1, moves: [{ token: TOKEN, amount: -amount }] };
}

function quality(steps: readonly Step[], token: Partial<CounterpartyFact>) {
  return featureOf("portfolio_quality", measured(steps, token));
}

/** With other facts about the one token that is neither listed nor, but for them, unknown. */
function measured(steps: readonly Step[], token: Partial<CounterpartyFact>) {
  return measureWallet(withFacts(rowsOf(callsOf(steps)), new Map([[TOKEN, token]])), AHS_2026_2);
}
