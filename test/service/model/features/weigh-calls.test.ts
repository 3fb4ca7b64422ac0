import { describe, expect, test } from "vitest";
import { createMarket } from "../../../../service/model/features/market.ts";
import { findTrivialCalls, sortCalls, weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  account,
  callsOf,
  DAY,
  fact,
  HOUR,
  payment,
  rowsOf,
  START,
  type Step,
  TOKENS,
  TRANSFER,
  USDC,
  WALLET,
  withFacts,
} from "./histories.ts";
import { repeat } from "./measured.ts";

describe("the window", () => {
  test("is the 180 days up to the last own call", () => {
    const steps = [0, 1, 181].map((day) => ({ at: START + day * DAY }));
    expect(weigh(steps).calls.map((call) => call.timestamp)).toEqual([START + DAY, START + 181 * DAY]);
  });

  test("of a wallet without calls is empty", () => {
    expect(weigh([])).toMatchObject({ calls: [], outside: [], evidence: 0, totalWeight: 0 });
  });
});

describe("the weight of a call", () => {
  test("halves every 45 days before the last call, less what would be left at the window's edge", () => {
    const steps = [0, 90, 135, 180].map((day) => ({ at: START + day * DAY }));
    // 2^-4 is left after 180 days: (w - 1/16) / (1 - 1/16).
    expect(weigh(steps).outside.map(({ weight }) => weight)).toEqual([0, 200_000_000, 466_666_667, 1e9]);
  });

  test("of a flood is that of one call an hour, per contract, method and day", () => {
    const flood = repeat(240, 1, { at: START });
    const others: Step[] = [
      { at: START, selector: "0x00000009" },
      { at: START, to: account(2000) },
      { at: START + DAY },
    ];
    const { outside } = weigh([...flood, ...others]);
    const day = outside.slice(0, -1).map(({ weight }) => weight / 1e9);
    // A day's decay is 1.6 %.
    expect(day.filter((weight) => Math.abs(weight - 0.0984) < 0.0001)).toHaveLength(240);
    expect(day.filter((weight) => Math.abs(weight - 0.984) < 0.001)).toHaveLength(2);
    expect(outside.at(-1)?.weight).toBe(1e9);
  });
});

describe("evidence", () => {
  test("is nothing for a call to oneself and for a creation, failed or not", () => {
    const history = weigh([
      { at: START, to: WALLET },
      { at: START, to: WALLET, ok: false },
      { at: START, to: null },
      { at: START, to: null, ok: false },
      { at: START, to: account(2000) },
    ]);
    expect(history.outside).toHaveLength(1);
    expect(history).toMatchObject({ totalWeight: 5e9, ownWeight: 4e9, evidence: 0.999023e9 });
    expect(history.calls).toHaveLength(5);
  });

  const trivial = { at: START, selector: "0x095ea7b3", effect: "approval" } as const;

  test("is a success by its credit, and a failure alike but for a floor", () => {
    // A tenth of 0.999023, rounded to millionths.
    const tenth = 0.099902e9;
    const floor = AHS_2026_2.credit.failureFloor * 1e9;
    expect(weigh([trivial])).toMatchObject({ evidence: tenth, attempted: tenth, credited: tenth });
    expect(weigh([{ ...trivial, ok: false }])).toMatchObject({
      evidence: floor,
      attempted: tenth,
      credited: tenth,
    });
    const call = { at: START, ok: false };
    expect(weigh([call])).toMatchObject({ evidence: 0.999023e9, attempted: 0.999023e9, credited: tenth });
  });

  test("of a failure does not depend on logs, which it has none of", () => {
    const call = { at: START, ok: false };
    const silent = weigh([{ ...call, effect: "none" }]);
    expect(silent.evidence).toBe(weigh([call]).evidence);
    expect(silent.attempted).toBe(weigh([{ at: START }]).attempted);
    expect(weigh([{ ...trivial, ok: false, effect: "other" }]).attempted).toBe(weigh([trivial]).attempted);
  });

  test("of a failure at an account without credit is the floor, and supports nothing", () => {
    const unknown = { outsideUsers: 0, existedAt: null, fundedFromOutside: null };
    const rows = withFacts(rowsOf(callsOf([{ at: START, ok: false }])), new Map([[account(1000), unknown]]));
    expect(weighCalls(rows, createMarket(rows.tokens), AHS_2026_2)).toMatchObject({
      evidence: AHS_2026_2.credit.failureFloor * 1e9,
      attempted: 0,
      credited: 0,
    });
  });
});

test("the order of calls is by block, index and position", () => {
  const [first, second] = callsOf([{ at: START }, { at: START, to: account(2000) }]);
  if (first === undefined || second === undefined) throw new Error("two calls were made");
  const place = { blockNumber: 7, transactionIndex: 3 };
  const executions = [
    { ...first, ...place, position: 5 },
    { ...second, ...place, position: 2 },
  ];
  expect(sortCalls(executions).map(({ position }) => position)).toEqual([2, 5]);
});

function weigh(steps: readonly Step[]) {
  const rows = rowsOf(callsOf(steps));
  return weighCalls(rows, createMarket(rows.tokens), AHS_2026_2);
}

const AT = START;
/** A cent, at 2,000 dollars for 10^18. */
const CENT = 5_000_000_000_000n;
const OTHER = account(0xd0);

describe("an execution that was asked for a payment in native coin", () => {
  const paid = (value: bigint | null, ok = true) => {
    const calls = callsOf([{ at: START, selector: null, effect: "none", position: 1, emitters: [], ok }]);
    return weighCalls(
      rowsOf(
        calls.map((call) => ({ ...call, value })),
        { counterparties: [fact(account(1000), { outsideUsers: 30 })] },
      ),
      createMarket(TOKENS),
      AHS_2026_2,
    ).outside.map(({ trivial, credit }) => ({ trivial, credit }));
  };

  test("counts by its worth where a trace shows it, and not at all where none does", () => {
    expect(paid(10n ** 18n)).toEqual([{ trivial: false, credit: 999_023 }]);
    expect(paid(1n)).toEqual([{ trivial: true, credit: 99_902 }]);
    expect(paid(null)).toEqual([{ trivial: true, credit: 0 }]);
  });

  test("and failed, is no trivial one", () => {
    expect(paid(null, false)).toEqual([{ trivial: false, credit: 300_000 }]);
  });
});

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
  return [...findTrivialCalls(callsOf(steps), createMarket(TOKENS), AHS_2026_2)].map((mark) => mark === 1);
}
