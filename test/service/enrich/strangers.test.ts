import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { type BlockCall, countStrangers, MAX_STRANGERS } from "../../../service/enrich/strangers.ts";

const SHOP: Address = `0x${"50".repeat(20)}`;
const ELSEWHERE: Address = `0x${"e1".repeat(20)}`;
const stranger = (index: number): Address => `0x${index.toString(16).padStart(40, "0")}`;

const call = (
  block: number,
  from: Address,
  counterparty: Address | null,
  transactionIndex = 0,
): BlockCall => ({
  block,
  timestamp: 1_000 + block,
  transactionIndex,
  from,
  counterparty,
});
const known = (since: number, strangers: readonly Address[] = []) => ({
  counterparties: new Map([[SHOP, { since, strangers: new Set(strangers) }]]),
  strangers: new Set(strangers),
});

describe("calls of strangers", () => {
  test("count for a counterparty from the block of its first contact on, and all of them once the stranger is known", () => {
    const [A, B] = [stranger(1), stranger(2)];
    const counted = countStrangers(
      [
        call(12, A, ELSEWHERE),
        call(9, A, SHOP),
        call(10, A, SHOP),
        call(11, B, ELSEWHERE),
        call(13, A, null),
      ],
      known(10),
    );
    expect(counted.dealings).toEqual([
      { counterparty: SHOP, account: A, calls: 1, sentMicroUsd: 0n, block: 10, timestamp: 1_010 },
    ]);
    expect(counted.calls).toEqual(new Map([[A, 3]]));
  });

  test("of one that is known from before count from the first block on, also while new ones are turned away", () => {
    const full = Array.from({ length: MAX_STRANGERS }, (_, index) => stranger(index + 1));
    const late = stranger(1_000);
    const counted = countStrangers(
      [call(5, stranger(1), ELSEWHERE), call(6, stranger(1), SHOP), call(6, late, SHOP, 1)],
      known(0, full),
    );
    expect(counted.dealings.map(({ account }) => account)).toEqual([stranger(1)]);
    expect(counted.calls).toEqual(new Map([[stranger(1), 2]]));
  });

  test("to itself are none", () => {
    expect(countStrangers([call(5, SHOP, SHOP)], known(0)).dealings).toEqual([]);
  });
});

test("whatever strangers do, one counterparty keeps 64 of them, and ranges may be cut anywhere", () => {
  const traffic = fc.array(
    fc.record({
      block: fc.integer({ min: 0, max: 40 }),
      account: fc.integer({ min: 1, max: 150 }),
      toShop: fc.boolean(),
    }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(traffic, fc.integer({ min: 0, max: 41 }), (sent, cut) => {
      const calls = sent.map(({ block, account, toShop }, index) =>
        call(block, stranger(account), toShop ? SHOP : ELSEWHERE, index),
      );
      const whole = countStrangers(calls, known(3));
      expect(new Set(whole.dealings.map(({ account }) => account)).size).toBeLessThanOrEqual(MAX_STRANGERS);
      const before = countStrangers(
        calls.filter(({ block }) => block < cut),
        known(3),
      );
      const after = countStrangers(
        calls.filter(({ block }) => block >= cut),
        known(3, [...new Set(before.dealings.map(({ account }) => account))]),
      );
      expect([...before.dealings, ...after.dealings]).toEqual(whole.dealings);
      const sums = new Map(before.calls);
      for (const [account, count] of after.calls) sums.set(account, (sums.get(account) ?? 0) + count);
      expect(sums).toEqual(whole.calls);
    }),
  );
});
