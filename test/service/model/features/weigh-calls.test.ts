import { describe, expect, test } from "vitest";
import { createMarket } from "../../../../service/model/features/market.ts";
import { sortCalls, weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { account, callsOf, DAY, rowsOf, START, type Step, WALLET } from "./histories.ts";
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
  test("halves every 45 days before the last call", () => {
    const steps = [0, 45, 90].map((day) => ({ at: START + day * DAY }));
    expect(weigh(steps).outside.map(({ weight }) => weight)).toEqual([0.25e9, 0.5e9, 1e9]);
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
    // A day's decay is 1.5 %.
    expect(day.filter((weight) => Math.abs(weight - 0.0985) < 0.0001)).toHaveLength(240);
    expect(day.filter((weight) => Math.abs(weight - 0.985) < 0.001)).toHaveLength(2);
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

  test("is a success by its credit, and a failure whole", () => {
    const trivial = { at: START, effect: "approval" } as const;
    // A tenth of 0.999023, rounded to millionths.
    expect(weigh([trivial])).toMatchObject({ evidence: 0.099902e9, credited: 0.099902e9 });
    expect(weigh([{ ...trivial, ok: false }])).toMatchObject({ evidence: 1e9, credited: 0.099902e9 });
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
  return weighCalls(rows, createMarket(rows.tokens), AHS_2026_1);
}
