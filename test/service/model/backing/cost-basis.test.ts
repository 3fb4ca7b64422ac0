import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import {
  type Backing,
  costBases,
  type Payment,
  type Spending,
} from "../../../../service/model/backing/cost-basis.ts";

const WALLETS = 9;

function walletOf(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

type Graph = {
  readonly own: readonly bigint[];
  readonly payments: readonly Payment[];
  /** Cluster of each wallet by its number. */
  readonly clusters: readonly number[];
};

function spendingOf({ own, payments, clusters }: Graph): Spending {
  const byWallet = new Map(clusters.map((cluster, position) => [walletOf(position), `cluster ${cluster}`]));
  return {
    ownMicroUsd: new Map(own.map((cost, position) => [walletOf(position), cost])),
    payments,
    clusterOf: (wallet) => byWallet.get(wallet) ?? wallet,
  };
}

function backingOf(graph: Graph, wallet: Address): Backing {
  return costBases(spendingOf(graph)).get(wallet) ?? { costBasis: 0n, safe: 0n };
}

const amount = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(1n, 1_000_000n), fc.bigInt(1n, 1_000_000_000_000n));
const number = fc.integer({ min: 0, max: WALLETS - 1 });
const somePayment = fc
  .tuple(number, number, amount)
  .map(([payer, payee, microUsd]) => ({ payer: walletOf(payer), payee: walletOf(payee), microUsd }));

/** Payments one to the next, round and round. */
const ring = fc
  .tuple(fc.shuffledSubarray([...Array(WALLETS).keys()], { minLength: 2 }), amount)
  .map(([members, microUsd]) =>
    members.map((payer, i) => ({
      payer: walletOf(payer),
      payee: walletOf(members[(i + 1) % members.length] ?? payer),
      microUsd,
    })),
  );
/** Everybody pays everybody of a group. */
const farm = fc
  .tuple(fc.shuffledSubarray([...Array(WALLETS).keys()], { minLength: 2 }), amount)
  .map(([members, microUsd]) =>
    members.flatMap((payer) =>
      members.map((payee) => ({ payer: walletOf(payer), payee: walletOf(payee), microUsd })),
    ),
  );
/** Two that send each other the same money many times. */
const wash = fc
  .tuple(number, number, amount, fc.integer({ min: 1, max: 20 }))
  .map(([a, b, microUsd, times]) =>
    Array.from({ length: times }, (_, i) => {
      const [payer, payee] = i % 2 === 0 ? [a, b] : [b, a];
      return { payer: walletOf(payer), payee: walletOf(payee), microUsd };
    }),
  );

const graph: fc.Arbitrary<Graph> = fc.record({
  own: fc.array(amount, { minLength: WALLETS, maxLength: WALLETS }),
  payments: fc
    .array(
      fc.oneof(
        somePayment.map((one) => [one]),
        ring,
        farm,
        wash,
      ),
      { maxLength: 12 },
    )
    .map((groups) => groups.flat()),
  clusters: fc.oneof(
    fc.constant([...Array(WALLETS).keys()]),
    fc.array(fc.integer({ min: 0, max: 5 }), { minLength: WALLETS, maxLength: WALLETS }),
  ),
});

/** Pairs that pay each other, which bound what rounding leaves out. */
function pairs({ payments }: Graph): bigint {
  return BigInt(new Set(payments.map(({ payer, payee }) => `${payer} ${payee}`)).size);
}

/** Every account that payments lead to from the given ones, those included. */
function reachedFrom(start: Iterable<Address>, payments: readonly Payment[]): ReadonlySet<Address> {
  const reached = new Set(start);
  for (const account of reached) {
    for (const { payer, payee, microUsd } of payments) {
      if (payer === account && microUsd > 0n) reached.add(payee);
    }
  }
  return reached;
}

describe("cost bases", () => {
  test("pass half of a payer's on, by how its payments are shared", () => {
    const [payer, one, other] = [walletOf(0), walletOf(1), walletOf(2)];
    const bases = costBases({
      ownMicroUsd: new Map([[payer, 8_000_000n]]),
      payments: [
        { payer, payee: one, microUsd: 30_000_000n },
        { payer, payee: other, microUsd: 10_000_000n },
      ],
      clusterOf: (wallet) => wallet,
    });
    expect([...bases]).toEqual([
      [payer, { costBasis: 8_000_000n, safe: 4_000_000n }],
      [one, { costBasis: 3_000_000n, safe: 1_500_000n }],
      [other, { costBasis: 1_000_000n, safe: 500_000n }],
    ]);
  });

  test("pass on no more than was paid", () => {
    const [payer, payee] = [walletOf(0), walletOf(1)];
    const bases = costBases({
      ownMicroUsd: new Map([[payer, 100_000_000n]]),
      payments: [{ payer, payee, microUsd: 10_000n }],
      clusterOf: (wallet) => wallet,
    });
    expect(bases.get(payee)).toEqual({ costBasis: 10_000n, safe: 5_000n });
  });

  test("of two that pay each other alone come to twice what both spent", () => {
    const [one, other] = [walletOf(0), walletOf(1)];
    const bases = costBases({
      ownMicroUsd: new Map([
        [one, 3_000_000n],
        [other, 3_000_000n],
      ]),
      payments: [
        { payer: one, payee: other, microUsd: 5_000_000n },
        { payer: other, payee: one, microUsd: 900_000_000n },
      ],
      clusterOf: (wallet) => wallet,
    });
    for (const { costBasis, safe } of bases.values()) {
      expect(costBasis).toBeGreaterThan(5_999_990n);
      expect(safe).toBeLessThanOrEqual(3_000_000n);
    }
  });

  test("refuse a negative amount", () => {
    const clusterOf = (wallet: Address) => wallet;
    const own = new Map([[walletOf(0), -1n]]);
    expect(() => costBases({ ownMicroUsd: own, payments: [], clusterOf })).toThrow("got -1");
    const payments = [{ payer: walletOf(0), payee: walletOf(1), microUsd: -2n }];
    expect(() => costBases({ ownMicroUsd: new Map(), payments, clusterOf })).toThrow("got -2");
  });

  test("settle at most the spending of a set that no account outside pays", () => {
    fc.assert(
      fc.property(graph, fc.array(number), (given, seeds) => {
        // Closed under payers: every payer of a member is a member.
        const backwards = given.payments.map(({ payer, payee, microUsd }) => ({
          payer: payee,
          payee: payer,
          microUsd,
        }));
        const members = reachedFrom(seeds.map(walletOf), backwards);
        const bases = costBases(spendingOf(given));
        const { ownMicroUsd } = spendingOf(given);
        let safe = 0n;
        let own = 0n;
        for (const member of members) {
          safe += bases.get(member)?.safe ?? 0n;
          own += ownMicroUsd.get(member) ?? 0n;
        }
        expect(safe).toBeLessThanOrEqual(own);
      }),
      { numRuns: 500 },
    );
  });

  test("settle at most the spending of all, and leave no wallet below its own cost", () => {
    fc.assert(
      fc.property(graph, (given) => {
        const bases = costBases(spendingOf(given));
        const safe = [...bases.values()].reduce((sum, one) => sum + one.safe, 0n);
        expect(safe).toBeLessThanOrEqual(given.own.reduce((sum, cost) => sum + cost, 0n));
        for (const [position, cost] of given.own.entries()) {
          expect(bases.get(walletOf(position))?.costBasis).toBeGreaterThanOrEqual(cost);
        }
      }),
    );
  });

  test("do not depend on order, nor on how the payments of a pair are split", () => {
    const shuffled = graph.chain((given) =>
      fc
        .tuple(
          fc.shuffledSubarray([...given.payments], { minLength: given.payments.length }),
          fc.shuffledSubarray([...spendingOf(given).ownMicroUsd], { minLength: WALLETS }),
        )
        .map(([payments, own]) => ({ given, payments, own })),
    );
    fc.assert(
      fc.property(shuffled, ({ given, payments, own }) => {
        const split = payments.flatMap((payment) => {
          const part = payment.microUsd / 3n;
          return [
            { ...payment, microUsd: part },
            { ...payment, microUsd: payment.microUsd - part },
          ];
        });
        const { clusterOf } = spendingOf(given);
        const other = costBases({ ownMicroUsd: new Map(own), payments: split, clusterOf });
        expect([...other]).toEqual([...costBases(spendingOf(given))]);
      }),
    );
  });

  test("of no wallet fall by more own cost, nor by a first payment", () => {
    fc.assert(
      fc.property(graph, number, number, fc.bigInt(1n, 10n ** 12n), (given, who, to, more) => {
        const before = costBases(spendingOf(given));
        const own = given.own.map((cost, position) => (position === who ? cost + more : cost));
        const newcomer = { payer: walletOf(WALLETS), payee: walletOf(to), microUsd: more };
        const afters = [
          { ...given, own },
          { ...given, own: [...given.own, more], payments: [...given.payments, newcomer] },
        ];
        for (const after of afters.map((changed) => costBases(spendingOf(changed)))) {
          for (const [wallet, { costBasis }] of before) {
            expect(after.get(wallet)?.costBasis).toBeGreaterThanOrEqual(costBasis);
          }
        }
      }),
    );
  });

  test("do not change by payments of accounts without a cost basis", () => {
    fc.assert(
      fc.property(graph, fc.array(fc.tuple(number, amount)), (given, gifts) => {
        const spam = gifts.map(([to, microUsd], i) => ({
          payer: walletOf(1_000 + i),
          payee: walletOf(to),
          microUsd,
        }));
        const after = costBases(spendingOf({ ...given, payments: [...given.payments, ...spam] }));
        expect([...after]).toEqual([...costBases(spendingOf(given))]);
      }),
    );
  });

  test("never fall for a payee by one payment more, and for others only behind the payer's other payees", () => {
    fc.assert(
      fc.property(graph, somePayment, (given, added) => {
        const { clusterOf } = spendingOf(given);
        const isOutside = ({ payer, payee }: Payment) => clusterOf(payer) !== clusterOf(payee);
        const changed = { ...given, payments: [...given.payments, added] };
        const slack = 2n * pairs(changed);
        expect(backingOf(changed, added.payee).costBasis + slack).toBeGreaterThanOrEqual(
          backingOf(given, added.payee).costBasis,
        );
        const outside = given.payments.filter(isOutside);
        const diluted = reachedFrom(
          outside
            .filter(({ payer, payee, microUsd }) => {
              return payer === added.payer && payee !== added.payee && microUsd > 0n;
            })
            .map(({ payee }) => payee),
          outside,
        );
        const before = costBases(spendingOf(given));
        const after = costBases(spendingOf(changed));
        for (const [wallet, { costBasis }] of before) {
          if (diluted.has(wallet)) continue;
          expect(after.get(wallet)?.costBasis).toBeGreaterThanOrEqual(costBasis);
        }
      }),
      { numRuns: 300 },
    );
  });
});
