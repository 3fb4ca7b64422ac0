import { describe, expect, test } from "vitest";
import { createMarket } from "../../../../service/model/features/market.ts";
import { findTrivialCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { account, callsOf, HOUR, payment, START, type Step, TOKENS, TRANSFER, USDC } from "./histories.ts";

const AT = START;
/** A cent, at 2,000 dollars for 10^18. */
const CENT = 5_000_000_000_000n;
const OTHER = account(0xd0);

describe("a call is trivial", () => {
  test.each<readonly [string, Step, boolean]>([
    ["that only approves", { at: AT, effect: "approval" }, true],
    ["that only wraps", { at: AT, effect: "wrap", value: 10n ** 18n }, true],
    ["without value and effect", { at: AT, effect: "none" }, true],
    ["that sends less than a cent and does nothing else", { at: AT, effect: "none", value: CENT - 1n }, true],
    ["that sends a cent: no", { at: AT, effect: "none", value: CENT }, false],
    ["that pays less than a cent in tokens", payment(AT, account(9), 9_999n), true],
    ["that pays a cent in tokens: no", payment(AT, account(9), 10_000n), false],
    [
      "that pays in a token without a price",
      { at: AT, effect: "transfer", moves: [{ token: OTHER, amount: -(10n ** 30n) }] },
      true,
    ],
    ["with an effect and no value: no", { at: AT, effect: "other" }, false],
    [
      "unread, a plain transfer of less than a cent",
      { at: AT, read: false, selector: null, value: 1n },
      true,
    ],
    ["unread, a plain transfer of a cent: no", { at: AT, read: false, selector: null, value: CENT }, false],
    ["unread, a token payment of less than a cent", { ...payment(AT, account(9), 1n), read: false }, true],
    ["unread, a token payment of a cent: no", { ...payment(AT, account(9), 10_000n), read: false }, false],
    [
      "unread, a payment in a token that is not listed",
      { at: AT, read: false, to: OTHER, selector: TRANSFER, recipient: account(9), amount: 10n ** 30n },
      true,
    ],
    ["unread, an approval", { at: AT, read: false, to: USDC, selector: "0x095ea7b3" }, true],
    ["unread, another contract call: no", { at: AT, read: false }, false],
  ])("%s", (_, step, trivial) => {
    expect(trivialOf([step])).toEqual([trivial]);
    expect(trivialOf([{ ...step, ok: false }])).toEqual([trivial]);
  });
});

describe("a round trip", () => {
  const buy: Step = {
    at: AT,
    moves: [
      { token: USDC, amount: -1_000_000n },
      { token: OTHER, amount: 500n },
    ],
  };
  const sell = (at: number, dollars: bigint, tokens: bigint): Step => ({
    at,
    moves: [
      { token: USDC, amount: dollars },
      { token: OTHER, amount: tokens },
    ],
  });

  test.each<readonly [string, Step, boolean]>([
    ["undone within the hour, less a fee", sell(AT + HOUR, 950_000n, -500n), true],
    ["undone with a tenth less", sell(AT + HOUR, 900_000n, -500n), true],
    ["that gives back less than nine tenths: no", sell(AT + HOUR, 899_999n, -500n), false],
    ["that gives back more than eleven tenths: no", sell(AT + HOUR, 1_111_112n, -500n), false],
    ["undone after more than an hour: no", sell(AT + HOUR + 1, 1_000_000n, -500n), false],
    ["that moves the same way twice: no", { ...buy, at: AT + 60 }, false],
    [
      "that moves one token more: no",
      {
        ...buy,
        at: AT + 60,
        moves: [...(sell(0, 1_000_000n, -500n).moves ?? []), { token: account(0xd1), amount: 1n }],
      },
      false,
    ],
    [
      "that moves another token back: no",
      {
        at: AT + 60,
        moves: [
          { token: USDC, amount: 1_000_000n },
          { token: account(0xd1), amount: -500n },
        ],
      },
      false,
    ],
  ])("%s", (_, later, trivial) => {
    expect(trivialOf([buy, later])).toEqual([trivial, trivial]);
  });

  test("takes each call once, with the nearest before it", () => {
    const steps = [buy, { ...buy, at: AT + 60 }, sell(AT + 120, 1_000_000n, -500n)];
    expect(trivialOf(steps)).toEqual([false, true, true]);
  });

  test("is no income that is paid on", () => {
    const income: Step = { at: AT, moves: [{ token: USDC, amount: 1_000_000n }] };
    expect(trivialOf([income, payment(AT + 60, account(9), 1_000_000n)])).toEqual([false, false]);
    expect(trivialOf([payment(AT, account(9), 1_000_000n), { ...income, at: AT + 60 }])).toEqual([
      false,
      false,
    ]);
  });
});

function trivialOf(steps: readonly Step[]): readonly boolean[] {
  return [...findTrivialCalls(callsOf(steps), createMarket(TOKENS), AHS_2026_1)].map((mark) => mark === 1);
}
