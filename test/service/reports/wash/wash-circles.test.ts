import { zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import type { CounterpartyFact } from "../../../../service/model/features/types.ts";
import type { Movement } from "../../../../service/reports/profit-and-loss/wallet-transfers.ts";
import { findCircles } from "../../../../service/reports/wash/wash-circles.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";
import { account, DAY, fact, HOUR, START, USDC } from "../../model/features/histories.ts";

const PEER = account(9);

function moved(at: number, amount: bigint, parts: Partial<Movement> = {}): Movement {
  return {
    token: USDC,
    peer: PEER,
    amount,
    block: at,
    timestamp: at,
    hash: `0x${at.toString(16).padStart(64, "0")}`,
    logIndex: 0,
    ...parts,
  };
}

function timesOf(
  sent: readonly Movement[],
  returned: readonly Movement[],
  known: Partial<CounterpartyFact> = {},
) {
  const counterparties = [fact(PEER, { hasCode: false, ...known })];
  return findCircles({ sent, returned }, { counterparties }).map(({ own, times, amount }) => ({
    own,
    times,
    amount,
  }));
}

const OWN = { ownerLink: "first_funder" } as const;

describe("a circle", () => {
  test.each<[string, Movement, Partial<CounterpartyFact>, boolean]>([
    ["an equal amount within a day", moved(START + HOUR, 1_000n), {}, true],
    ["nearly equal: the gas is missing", moved(START + HOUR, 991n), {}, true],
    ["another amount from a stranger", moved(START + HOUR, 900n), {}, false],
    ["an equal amount two days later from a stranger", moved(START + 2 * DAY, 1_000n), {}, false],
    ["any amount from the same owner within a week", moved(START + 6 * DAY, 1n), OWN, true],
    ["what the same owner sends a week later", moved(START + 8 * DAY, 1_000n), OWN, false],
    ["what came before", moved(START - HOUR, 1_000n), OWN, false],
    ["another token", moved(START + HOUR, 1_000n, { token: zeroAddress }), OWN, false],
    ["somebody else's", moved(START + HOUR, 1_000n, { peer: account(10) }), OWN, false],
    ["a withdrawal from a contract of others", moved(START + HOUR, 1_000n), { hasCode: true }, false],
    ["what an own contract gives back", moved(START + HOUR, 1_000n), { ...OWN, hasCode: true }, true],
  ])("is or is not: %s", (_case, back, known, isCircle) => {
    expect(timesOf([moved(START, 1_000n)], [back], known)).toHaveLength(isCircle ? 1 : 0);
  });

  test("uses each movement once, the earliest return first", () => {
    const sent = [moved(START, 10n), moved(START + 10, 10n), moved(START + 20, 10n)];
    const returned = [moved(START + 15, 10n), moved(START + 30, 10n)];
    expect(timesOf(sent, returned)).toEqual([{ own: false, times: 2, amount: 20n }]);
  });

  test.each<[string, number, number, number]>([
    ["native coin, the first transaction first", -1, -5, 1],
    ["native coin that came back before it went out", -5, -1, 0],
    ["tokens, by their logs", 3, 9, 1],
    ["tokens that came back before they went out", 9, 3, 0],
  ])("within one block goes by place: %s", (_case, out, back, times) => {
    const at = (logIndex: number) => moved(START, 10n, { logIndex });
    expect(timesOf([at(out)], [at(back)])).toHaveLength(times);
  });

  test("is looked for in bounded time, however much trades with one peer within a day", () => {
    const count = 20_000;
    const sent = Array.from({ length: count }, (_, place) => moved(START + place, 1_000n));
    const others = Array.from({ length: count }, (_, place) => moved(START + count + place, 5_000n));
    expect(cpuMsOf(() => expect(timesOf(sent, others)).toEqual([]))).toBeLessThan(3_000);
  });

  test("is found behind returns that are used already, however many these are", () => {
    const count = 1_000;
    const sent = Array.from({ length: count }, (_, place) => moved(START + place, 1_000n));
    const odd = moved(START + count, 5n);
    const equal = Array.from({ length: count }, (_, place) => moved(START + count + 1 + place, 1_000n));
    expect(timesOf(sent, [odd, ...equal])).toEqual([
      { own: false, times: count, amount: BigInt(count) * 1_000n },
    ]);
  });

  test("does not depend on the order of the movements", () => {
    const sent = [moved(START + 20, 10n), moved(START, 10n)];
    const returned = [moved(START + 30, 10n), moved(START + 15, 10n)];
    expect(timesOf(sent, returned, OWN)).toEqual(timesOf(sent.toReversed(), returned.toReversed(), OWN));
  });

  test("with an account that nothing is known of is one of others", () => {
    const circles = findCircles(
      { sent: [moved(START, 10n)], returned: [moved(START + 1, 10n)] },
      { counterparties: [] },
    );
    expect(circles.map(({ own, times }) => ({ own, times }))).toEqual([{ own: false, times: 1 }]);
  });
});
