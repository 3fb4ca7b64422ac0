import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, it, test } from "vitest";
import type { WalletRows } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  type Counterparty,
  compareRanked,
  findDealings,
  herfindahl,
  listDigest,
  pageOf,
  type Ranked,
  totalsOf,
} from "../../../../service/reports/network/counterparties.ts";
import type { Incoming } from "../../../../service/reports/network/wallet-network-dealings.ts";
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
} from "../../model/features/histories.ts";

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
  return findDealings({ rows, incoming, since: START, policy: AHS_2026_2 });
}

function only(list: readonly Counterparty[]): Counterparty {
  const [first, ...more] = list;
  if (first === undefined || more.length > 0)
    throw new Error(`expected one counterparty, got ${list.length}`);
  return first;
}

describe("the counterparties of a wallet", () => {
  it("are whom it pays, not the token that it pays with", async () => {
    const paid = only((await dealings([payment(START, PAYEE, 5_000_000n)])).counterparties);
    expect(paid).toMatchObject({ address: PAYEE, calls: 1, interactions: 1, firstAt: START, lastAt: START });
    expect(paid.volumeOut).toEqual({
      nativeWei: 0n,
      tokens: [{ token: USDC, amount: 5_000_000n, microUsd: 5_000_000 }],
      microUsd: 5_000_000,
      isPriced: true,
    });
    expect(paid.credit).toBeGreaterThan(0.9);
  });

  it("get what a swap gave and give what it brought, at the prices of the day", async () => {
    const swap = { at: START, to: POOL, value: ETHER, moves: [{ token: USDC, amount: 1_990_000_000n }] };
    const { volumeOut, volumeIn } = only((await dealings([swap])).counterparties);
    expect([volumeOut.microUsd, volumeIn.microUsd]).toEqual([2_000_000_000, 1_990_000_000]);
  });

  it("get nothing by calls that failed, which are counted", async () => {
    const failed = { ...payment(START, PAYEE, 5n), ok: false, value: ETHER };
    const { calls, failedCalls, volumeOut } = only((await dealings([failed])).counterparties);
    expect([calls, failedCalls, volumeOut.microUsd, volumeOut.tokens]).toEqual([1, 1, 0, []]);
  });

  it("have the amounts of their calldata where no receipt was read", async () => {
    const unread = { ...payment(START, PAYEE, 5_000_000n), read: false };
    expect(only((await dealings([unread])).counterparties).volumeOut.microUsd).toBe(5_000_000);
  });

  it("have volume without a price stated as that", async () => {
    const odd = { at: START, to: POOL, moves: [{ token: UNPRICED, amount: -7n }] };
    const { volumeOut } = only((await dealings([odd])).counterparties);
    expect(volumeOut).toMatchObject({
      microUsd: null,
      isPriced: false,
      tokens: [{ amount: 7n, microUsd: null }],
    });
  });

  it("are also senders of transfers, without credit, once a day of each token", async () => {
    const sent = { from: SENDER, transfers: 2, firstAt: START, lastAt: START + 60 };
    const incoming = [
      { ...sent, token: null, amount: ETHER },
      { ...sent, token: USDC, amount: 1_000_000n },
    ];
    expect(only((await dealings([], incoming)).counterparties)).toMatchObject({
      ...{ address: SENDER, calls: 0, transfersIn: 4, interactions: 4, credit: null, ownerLink: null },
      volumeIn: { nativeWei: ETHER, microUsd: 2_001_000_000 },
      ...{ firstAt: START, lastAt: START + 60 },
    });
  });

  it("leave out the wallet itself and what shows no counterparty, which are counted", async () => {
    const { counterparties, callsToItself, callsToNobody } = await dealings([
      { at: START, to: WALLET },
      payment(START + 1, WALLET, 5n),
      { at: START + 2, to: null },
    ]);
    expect([counterparties, callsToItself, callsToNobody]).toEqual([[], 2, 1]);
  });

  it("leave out calls before the window", async () => {
    expect((await dealings([{ at: START - DAY, to: POOL }])).counterparties).toEqual([]);
  });

  it("show their links to the owner and to one another", async () => {
    const rows = withFacts(
      rowsOf(callsOf([{ at: START, to: POOL }])),
      new Map([[POOL, { ownerLink: "creator", mergedWith: PAYEE }]]),
    );
    const found = await findDealings({ rows, incoming: [], since: START, policy: AHS_2026_2 });
    expect(only(found.counterparties)).toMatchObject({ ownerLink: "creator", ownerGroup: PAYEE, credit: 0 });
  });

  it("are ranked and concentrated by own calls: transfers of others move neither", async () => {
    const steps = Array.from({ length: 100 }, (_, place) =>
      payment(START + place, account(0x100 + (place % 20)), 5_000_000n),
    );
    const gift = (from: Address, amount: bigint, transfers: number) => ({
      ...{ from, token: null, amount, transfers, firstAt: START, lastAt: START },
    });
    const alone = await dealings(steps);
    const given = await dealings(steps, [gift(SENDER, ETHER, 2000), gift(POOL, 2n * ETHER, 1)]);
    const callees = alone.counterparties.map(({ address }) => address);
    expect(given.counterparties.map(({ address }) => address)).toEqual([...callees, POOL, SENDER]);
    expect(totalsOf(alone.counterparties).callsHhi).toBe(500);
    expect(totalsOf(given.counterparties)).toMatchObject({ callsHhi: 500, outHhi: 500, transfersIn: 2001 });
  });

  it("are no senders of less than a cent in all, which are counted apart, called or not", async () => {
    const dust = (from: Address, amount: bigint, token: Address | null = null) => ({
      ...{ from, token, amount, transfers: 1000, firstAt: START, lastAt: START },
    });
    const { counterparties, dust: counted } = await dealings(
      [payment(START, PAYEE, 5n)],
      [
        ...[dust(SENDER, 1000n), dust(PAYEE, 9n, USDC)],
        // Ten times a third of a cent.
        ...Array.from({ length: 10 }, (_, place) => ({
          ...dust(POOL, 3_334n, USDC),
          firstAt: START + place,
        })),
        // This token has no price.
        dust(account(0xb3), 1n, UNPRICED),
      ],
    );
    expect(counted).toEqual({ senders: 2, transfers: 2000 });
    expect(counterparties.map(({ address, transfersIn }) => [address, transfersIn])).toEqual([
      [PAYEE, 0],
      [POOL, 10_000],
      [account(0xb3), 1000],
    ]);
  });

  it("of an execution are whom its logs show, whatever credit they have by now", async () => {
    const [A, B] = [account(0xa0a), account(0xb0b)];
    const steps = [1, 2, 3].map((place) => ({
      ...{ at: START + place, to: null, position: 9, emitters: [B, A] },
    }));
    const read = (users: number) => {
      const facts = new Map([[A, { outsideUsers: 3 }] as const, [B, { outsideUsers: users }] as const]);
      const rows = withFacts(rowsOf(callsOf(steps)), facts);
      return findDealings({ rows, incoming: [], since: START, policy: AHS_2026_2 });
    };
    const [before, after] = [await read(0), await read(30)];
    expect(only(before.counterparties)).toMatchObject({ address: A, calls: 3 });
    expect(listDigest(after.counterparties)).toBe(listDigest(before.counterparties));
  });

  it("add up to totals, whose dollars leave out the unpriced part", async () => {
    const { counterparties } = await dealings([
      payment(START, PAYEE, 5_000_000n),
      { at: START + 1, to: POOL, moves: [{ token: UNPRICED, amount: -7n }] },
    ]);
    expect(totalsOf(counterparties)).toMatchObject({
      ...{ counterparties: 2, byDirection: { out: 2, in: 0, both: 0 }, interactions: 2 },
      ...{ outMicroUsd: 5_000_000, inMicroUsd: 0, unpriced: 1, callsHhi: 5000, outHhi: 10_000, inHhi: null },
    });
    expect(totalsOf([])).toMatchObject({ outMicroUsd: 0, callsHhi: null, outHhi: null });
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
  .uniqueArray(fc.record({ number: fc.nat(5_000), calls: fc.nat(2), broughtMicroUsd: fc.nat(2) }), {
    selector: ({ number }) => number,
  })
  .map((list) => list.map(({ number, ...rank }): Ranked => ({ address: account(number), ...rank })));

test("pages that follow one another tile the list, and one more entry moves none that follows", () => {
  fc.assert(
    fc.property(ranked, fc.integer({ min: 1, max: 20 }), (list, limit) => {
      const sorted = list.toSorted(compareRanked);
      const seen: Ranked[] = [];
      for (let after: Ranked | null = null, pages = 0; pages <= sorted.length; pages += 1) {
        const page: ReturnType<typeof pageOf<Ranked>> = pageOf(sorted, after, limit);
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        seen.push(...page.entries);
        after = page.next;
        if (after === null) break;
      }
      expect(seen).toEqual(sorted);
    }),
  );
});

test("two lists have the same digest exactly if they are equal", () => {
  fc.assert(
    fc.property(ranked, ranked, (one, other) => {
      const [first, second] = [one.toSorted(compareRanked), other.toSorted(compareRanked)];
      const isSame = JSON.stringify(first) === JSON.stringify(second);
      return (listDigest(first) === listDigest(second)) === isSame;
    }),
  );
});

test("a page after the last entry is empty", () => {
  expect(pageOf([], null, 5)).toEqual({ entries: [], next: null });
  const before = { address: PAYEE, calls: 3, broughtMicroUsd: 0 };
  const after = { address: POOL, calls: 0, broughtMicroUsd: 0 };
  expect(pageOf([before], after, 5)).toEqual({ entries: [], next: null });
});
