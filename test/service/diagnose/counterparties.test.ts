import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Counterparty, findDealings } from "../../../service/diagnose/counterparties.ts";
import { herfindahl } from "../../../service/diagnose/counterparties-concentration.ts";
import {
  compareRanked,
  type Page,
  pageOf,
  type Ranked,
} from "../../../service/diagnose/counterparties-page.ts";
import { totalsOf } from "../../../service/diagnose/counterparties-totals.ts";
import type { WalletRows } from "../../../service/features/types.ts";
import { AHS_2026_1 } from "../../../service/score/policy.ts";
import type { Incoming } from "../../../service/store/wallet-network-dealings.ts";
import {
  account,
  callsOf,
  DAY,
  payment,
  rowsOf,
  START,
  type Step,
  UNPRICED,
  USDC,
  WALLET,
  withFacts,
} from "../features/histories.ts";

const POOL = account(0xb0);
const PAYEE = account(0xb1);
const SENDER = account(0xb2);
const ETHER = 10n ** 18n;

function dealings(
  steps: readonly Step[],
  incoming: readonly Incoming[] = [],
  parts: Partial<WalletRows> = {},
) {
  const rows = rowsOf(callsOf(steps), parts);
  return findDealings({ rows, incoming, since: START, policy: AHS_2026_1 });
}

function only(list: readonly Counterparty[]): Counterparty {
  const [first, ...more] = list;
  if (first === undefined || more.length > 0)
    throw new Error(`expected one counterparty, got ${list.length}`);
  return first;
}

describe("the counterparties of a wallet", () => {
  it("are whom it pays, not the token that it pays with", () => {
    const paid = only(dealings([payment(START, PAYEE, 5_000_000n)]).counterparties);
    expect(paid).toMatchObject({ address: PAYEE, calls: 1, interactions: 1, firstAt: START, lastAt: START });
    expect(paid.volumeOut).toEqual({
      nativeWei: 0n,
      tokens: [{ token: USDC, amount: 5_000_000n, microUsd: 5_000_000 }],
      microUsd: 5_000_000,
      isPriced: true,
    });
    expect(paid.credit).toBeGreaterThan(0.9);
  });

  it("get what a swap gave and give what it brought, at the prices of the day", () => {
    const swap = { at: START, to: POOL, value: ETHER, moves: [{ token: USDC, amount: 1_990_000_000n }] };
    const { volumeOut, volumeIn } = only(dealings([swap]).counterparties);
    expect([volumeOut.microUsd, volumeIn.microUsd]).toEqual([2_000_000_000, 1_990_000_000]);
  });

  it("get nothing by calls that failed, which are counted", () => {
    const failed = { ...payment(START, PAYEE, 5n), ok: false, value: ETHER };
    const { calls, failedCalls, volumeOut } = only(dealings([failed]).counterparties);
    expect([calls, failedCalls, volumeOut.microUsd, volumeOut.tokens]).toEqual([1, 1, 0, []]);
  });

  it("are told what moved by calldata where no receipt was read", () => {
    const unread = { ...payment(START, PAYEE, 5_000_000n), read: false };
    expect(only(dealings([unread]).counterparties).volumeOut.microUsd).toBe(5_000_000);
  });

  it("have volume without a price stated as that", () => {
    const odd = { at: START, to: POOL, moves: [{ token: UNPRICED, amount: -7n }] };
    const { volumeOut } = only(dealings([odd]).counterparties);
    expect(volumeOut).toMatchObject({
      microUsd: null,
      isPriced: false,
      tokens: [{ amount: 7n, microUsd: null }],
    });
  });

  it("are also whoever sent something, without credit, once a day of each token", () => {
    const sent = { from: SENDER, transfers: 2, firstAt: START, lastAt: START + 60 };
    const incoming = [
      { ...sent, token: null, amount: ETHER },
      { ...sent, token: USDC, amount: 1_000_000n },
    ];
    expect(only(dealings([], incoming).counterparties)).toMatchObject({
      ...{ address: SENDER, calls: 0, transfersIn: 4, interactions: 4, credit: null, ownerLink: null },
      volumeIn: { nativeWei: ETHER, microUsd: 2_001_000_000 },
      ...{ firstAt: START, lastAt: START + 60 },
    });
  });

  it("leave out the wallet itself and what shows no counterparty, which are counted", () => {
    const { counterparties, callsToItself, callsToNobody } = dealings([
      { at: START, to: WALLET },
      payment(START + 1, WALLET, 5n),
      { at: START + 2, to: null },
    ]);
    expect([counterparties, callsToItself, callsToNobody]).toEqual([[], 2, 1]);
  });

  it("leave out calls before the window", () => {
    expect(dealings([{ at: START - DAY, to: POOL }]).counterparties).toEqual([]);
  });

  it("tell how they are linked to the owner and to one another", () => {
    const rows = withFacts(
      rowsOf(callsOf([{ at: START, to: POOL }])),
      new Map([[POOL, { ownerLink: "creator", mergedWith: PAYEE }]]),
    );
    const found = findDealings({ rows, incoming: [], since: START, policy: AHS_2026_1 });
    expect(only(found.counterparties)).toMatchObject({ ownerLink: "creator", ownerGroup: PAYEE, credit: 0 });
  });

  it("add up to totals whose unpriced part is none of their dollars", () => {
    const { counterparties } = dealings([
      payment(START, PAYEE, 5_000_000n),
      { at: START + 1, to: POOL, moves: [{ token: UNPRICED, amount: -7n }] },
    ]);
    expect(totalsOf(counterparties)).toMatchObject({
      ...{ counterparties: 2, byDirection: { out: 2, in: 0, both: 0 }, interactions: 2 },
      ...{ outMicroUsd: 5_000_000, inMicroUsd: 0, unpriced: 1, interactionsHhi: 5000, volumeHhi: 10_000 },
    });
    expect(totalsOf([])).toMatchObject({ outMicroUsd: 0, interactionsHhi: null, volumeHhi: null });
  });
});

const amounts = fc.array(fc.double({ min: 0, max: 1e15, noNaN: true }), { maxLength: 200 });

test("concentration lies between that of equal parts and that of one alone", () => {
  fc.assert(
    fc.property(amounts, (list) => {
      const index = herfindahl(list);
      const some = list.filter((amount) => amount > 0).length;
      if (some === 0) return index === null;
      return index !== null && index <= 10_000 && index >= Math.floor(10_000 / some);
    }),
  );
});

test.each([
  [[1], 10_000],
  [[5, 5], 5_000],
  [[0, 0], null],
  [[3, 1, 0], 6_250],
  [[Number.MIN_VALUE, 1e300], 10_000],
])("the concentration of %j is %j", (list, index) => {
  expect(herfindahl(list)).toBe(index);
});

const ranked = fc
  .uniqueArray(fc.record({ number: fc.nat(5_000), interactions: fc.nat(4) }), {
    selector: ({ number }) => number,
  })
  .map((list) =>
    list.map(({ number, interactions }): Ranked => ({ address: account(number), interactions })),
  );

test("pages that follow one another tile the list, and one more entry moves none that follows", () => {
  fc.assert(
    fc.property(ranked, fc.integer({ min: 1, max: 20 }), (list, limit) => {
      const sorted = list.toSorted(compareRanked);
      const seen: Ranked[] = [];
      for (let after: Ranked | null = null, pages = 0; pages <= sorted.length; pages += 1) {
        const page: Page<Ranked> = pageOf(sorted, after, limit);
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        seen.push(...page.entries);
        after = page.next;
        if (after === null) break;
      }
      expect(seen).toEqual(sorted);
    }),
  );
});

test("a page after the last entry is empty", () => {
  expect(pageOf([], null, 5)).toEqual({ entries: [], next: null });
  expect(pageOf([{ address: PAYEE, interactions: 3 }], { address: POOL, interactions: 0 }, 5)).toEqual({
    entries: [],
    next: null,
  });
});
