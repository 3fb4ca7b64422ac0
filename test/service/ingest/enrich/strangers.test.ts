import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import type { KnownStranger, Slot } from "../../../../service/ingest/enrich/contact-rows.ts";
import { sumDealings } from "../../../../service/ingest/enrich/contacts.ts";
import {
  type BlockCall,
  countStrangers,
  MAX_STRANGERS,
} from "../../../../service/ingest/enrich/strangers.ts";

const SHOP: Address = `0x${"50".repeat(20)}`;
const POOL: Address = `0x${"b0".repeat(20)}`;
const ELSEWHERE: Address = `0x${"e1".repeat(20)}`;
const DAY = 86_400;
const stranger = (index: number): Address => `0x${index.toString(16).padStart(40, "0")}`;
const strangers = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => stranger(first + index));

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

/** Database rows about strangers between two ranges. */
type Kept = {
  readonly since: ReadonlyMap<Address, number>;
  readonly slots: ReadonlyMap<Address, ReadonlyMap<Address, Slot>>;
  readonly calls: ReadonlyMap<Address, number>;
};

const nothing: Kept = { since: new Map([[SHOP, 0]]), slots: new Map(), calls: new Map() };

/** It after a range with these calls. */
function keptAfter(kept: Kept, calls: readonly BlockCall[]): Kept {
  const slots = new Map([...kept.slots].map(([counterparty, held]) => [counterparty, new Map(held)]));
  const counted = countStrangers(calls, {
    counterparties: new Map(
      [...kept.since].map(([counterparty, since]) => [
        counterparty,
        { since, strangers: slots.get(counterparty) ?? new Map() },
      ]),
    ),
    strangers: new Map(
      [...kept.calls].map(([account, count]): [Address, KnownStranger] => [
        account,
        { calls: count, slots: [...slots.values()].filter((held) => held.has(account)).length },
      ]),
    ),
  });
  for (const { counterparty, account } of counted.left) slots.get(counterparty)?.delete(account);
  for (const { counterparty, account, ...sum } of sumDealings(counted.dealings)) {
    const held = slots.get(counterparty) ?? new Map<Address, Slot>();
    const slot = held.get(account) ?? { calls: 0, lastTime: 0 };
    held.set(account, {
      calls: slot.calls + sum.calls,
      lastTime: Math.max(slot.lastTime, sum.lastTime),
    });
    slots.set(counterparty, held);
  }
  const counts = new Map(kept.calls);
  for (const [account, count] of counted.calls) {
    if (count === null) counts.delete(account);
    else counts.set(account, count);
  }
  return { ...kept, slots, calls: counts };
}

const holders = (kept: Kept, counterparty = SHOP) => new Set(kept.slots.get(counterparty)?.keys());
const everyoneCalls = (block: number, accounts: readonly Address[], counterparty = SHOP) =>
  accounts.map((account, index) => call(block, account, counterparty, index));

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
      { counterparties: new Map([[SHOP, { since: 10, strangers: new Map() }]]), strangers: new Map() },
    );
    expect(counted).toEqual({
      left: [],
      dealings: [{ counterparty: SHOP, account: A, calls: 1, sentMicroUsd: 0n, block: 10, timestamp: 1_010 }],
      calls: new Map([[A, 3]]),
    });
  });

  test("to itself are none", () => {
    expect(holders(keptAfter(nothing, [call(5, SHOP, SHOP)]))).toEqual(new Set());
  });
});

describe("of a counterparty with as many strangers as are kept", () => {
  const throwaways = strangers(1_000, MAX_STRANGERS);
  const filled = keptAfter(nothing, everyoneCalls(1, throwaways));

  test("a new one takes the slot of who called least lately, when nobody called anybody else", () => {
    const kept = keptAfter(filled, [call(2, stranger(1_000), SHOP), call(3, stranger(1), SHOP)]);
    const staying = throwaways.filter((account) => account !== stranger(1_001));
    expect(holders(kept)).toEqual(new Set([stranger(1), ...staying]));
    expect(kept.calls.has(stranger(1_001))).toBe(false);
  });

  test("who calls others as well stays, whoever comes", () => {
    const honest = strangers(1, 40);
    let kept = keptAfter(filled, everyoneCalls(2, honest));
    kept = keptAfter(kept, everyoneCalls(3, honest, ELSEWHERE));
    kept = keptAfter(kept, everyoneCalls(4, strangers(2_000, 500)));
    expect(holders(kept).size).toBe(MAX_STRANGERS);
    for (const account of honest) expect(holders(kept)).toContain(account);
  });

  test("those who came last stay long enough to call others, though all before them did", () => {
    let kept = keptAfter(filled, everyoneCalls(2, throwaways, ELSEWHERE));
    kept = keptAfter(kept, everyoneCalls(3, strangers(1, 10)));
    for (const account of strangers(1, 10)) expect(holders(kept)).toContain(account);
    kept = keptAfter(kept, everyoneCalls(4, strangers(2_000, 100)));
    expect([...holders(kept)].filter((account) => throwaways.includes(account)).length).toBeGreaterThan(40);
  });

  test("who did not call for the scoring window goes first, whatever else it did", () => {
    const busy = stranger(1_063);
    const later = (call: BlockCall, days: number) => ({ ...call, timestamp: call.timestamp + days * DAY });
    const others = throwaways.filter((account) => account !== busy);
    let kept = keptAfter(filled, [call(2, busy, ELSEWHERE), call(3, busy, ELSEWHERE)]);
    kept = keptAfter(
      kept,
      everyoneCalls(4, others).map((sent) => later(sent, 170)),
    );
    kept = keptAfter(kept, [later(call(5, stranger(1), SHOP), 181)]);
    expect(holders(kept)).toEqual(new Set([stranger(1), ...others]));
  });

  test("a past that is read late puts out nobody who came after it", () => {
    const late = keptAfter(nothing, everyoneCalls(10, throwaways));
    expect(keptAfter(late, [call(5, stranger(1), SHOP)])).toEqual(late);
  });

  test("calls that a lost slot told of do not seem to go elsewhere", () => {
    const both = { ...nothing, since: new Map([...nothing.since, [POOL, 0] as const]) };
    const ring = stranger(1);
    let kept = keptAfter(both, [call(1, ring, SHOP), call(2, ring, SHOP), call(3, ring, POOL)]);
    for (const [block, counterparty] of [SHOP, ELSEWHERE, ELSEWHERE].entries())
      kept = keptAfter(kept, everyoneCalls(4 + block, throwaways.slice(1), counterparty));
    expect(holders(kept)).toContain(ring);
    kept = keptAfter(kept, [call(10, stranger(2), SHOP)]);
    expect(holders(kept)).not.toContain(ring);
    expect(kept.calls.get(ring)).toBe(1);
  });
});

test("keeps 64 strangers of a counterparty at most, with the same result for any cut of ranges", () => {
  const traffic = fc.array(
    fc.record({
      block: fc.integer({ min: 0, max: 40 }),
      account: fc.integer({ min: 1, max: 150 }),
      to: fc.constantFrom(SHOP, SHOP, POOL, ELSEWHERE),
    }),
    { minLength: 150, maxLength: 500 },
  );
  fc.assert(
    fc.property(traffic, fc.integer({ min: 0, max: 41 }), (sent, cut) => {
      const start = {
        ...nothing,
        since: new Map([
          [SHOP, 3],
          [POOL, 0],
        ]),
      };
      const calls = sent.map(({ block, account, to }, index) => call(block, stranger(account), to, index));
      const whole = keptAfter(start, calls);
      expect(holders(whole).size).toBeLessThanOrEqual(MAX_STRANGERS);
      const known = new Set([...holders(whole, SHOP), ...holders(whole, POOL)]);
      expect(new Set(whole.calls.keys())).toEqual(known);
      const before = keptAfter(
        start,
        calls.filter(({ block }) => block < cut),
      );
      const both = keptAfter(
        before,
        calls.filter(({ block }) => block >= cut),
      );
      expect(both).toEqual(whole);
    }),
  );
});
