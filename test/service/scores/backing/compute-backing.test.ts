import fc from "fast-check";
import { zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import type { Payment } from "../../../../service/model/backing/cost-basis.ts";
import { type BackingInputs, computeBacking } from "../../../../service/scores/backing/compute-backing.ts";
import { boundPayments } from "../../../../service/scores/backing/read-inputs.ts";
import { account } from "../../model/features/histories.ts";

const WALLETS = 8;
const wallets = Array.from({ length: WALLETS }, (_, i) => account(i + 1));
const number = fc.integer({ min: 0, max: WALLETS - 1 });
const amount = fc.oneof(fc.bigInt(1n, 3n), fc.bigInt(1n, 10n ** 12n));
const payment = fc
  .tuple(number, number, amount)
  .map(([payer, payee, microUsd]): Payment => ({ payer: walletAt(payer), payee: walletAt(payee), microUsd }));
const gift = fc.tuple(number, amount, amount);

function walletAt(position: number) {
  return wallets[position] ?? zeroAddress;
}

/** Wallets that pay each other, and strangers that pay them. */
const closed = fc
  .record({
    own: fc.array(fc.bigInt(0n, 10n ** 10n), { minLength: WALLETS, maxLength: WALLETS }),
    payments: fc.array(payment, { maxLength: 30 }),
    gifts: fc.array(gift, { maxLength: 10 }),
    clusters: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: WALLETS, maxLength: WALLETS }),
    bonds: fc.array(fc.tuple(number, amount), { maxLength: WALLETS }),
  })
  .map(({ own, payments, gifts, clusters, bonds }): BackingInputs => {
    const clusterBy = new Map(wallets.map((wallet, i) => [wallet, `cluster ${clusters[i]}`]));
    return {
      wallets,
      own: new Map(wallets.map((wallet, i) => [wallet, own[i] ?? 0n])),
      payments,
      receipts: gifts.map(([payee, microUsd, late], i) => ({
        ...{ payer: account(1_000 + i), payee: walletAt(payee), week: i, microUsd },
        lastDayMicroUsd: late % (microUsd + 1n),
      })),
      bonds: new Map(bonds.map(([wallet, microUsd]) => [walletAt(wallet), microUsd])),
      jobs: new Map(),
      feedback: null,
      leftOut: 0,
      clusterOf: (wallet) => clusterBy.get(wallet) ?? wallet,
    };
  });

const sumOf = (amounts: Iterable<bigint>) => [...amounts].reduce((sum, one) => sum + one, 0n);

describe("stored backing", () => {
  test("of wallets that pay only each other is safe for at most what they spent, whatever their bonds", () => {
    fc.assert(
      fc.property(closed, (inputs) => {
        const safe = sumOf(computeBacking(inputs).map(({ safeMicroUsd }) => safeMicroUsd));
        expect(safe).toBeLessThanOrEqual(sumOf(inputs.own.values()));
      }),
      { numRuns: 300 },
    );
  });

  test("has bonds beside it: they change no safe amount and no cost basis", () => {
    fc.assert(
      fc.property(closed, (inputs) => {
        const before = new Map(
          computeBacking({ ...inputs, bonds: new Map() }).map((backing) => [backing.wallet, backing]),
        );
        for (const { bondMicroUsd, ...after } of computeBacking(inputs)) {
          const { safeMicroUsd = 0n, costBasisMicroUsd = 0n } = before.get(after.wallet) ?? {};
          expect(bondMicroUsd).toBe(inputs.bonds.get(after.wallet) ?? 0n);
          expect([after.safeMicroUsd, after.costBasisMicroUsd]).toEqual([safeMicroUsd, costBasisMicroUsd]);
        }
      }),
    );
  });

  test("is the same without the payments of strangers, but for what was received", () => {
    fc.assert(
      fc.property(closed, (inputs) => {
        const bases = (given: BackingInputs) =>
          computeBacking(given)
            .filter(({ costBasisMicroUsd }) => costBasisMicroUsd > 0n)
            .map(({ receivedDayMicroUsd: _, sellerProfile: __, ...basis }) => basis);
        expect(bases(inputs)).toEqual(bases({ ...inputs, receipts: [] }));
      }),
    );
  });

  test("is raised for no wallet where small payments are left out for their number", () => {
    fc.assert(
      fc.property(closed, fc.integer({ min: 0, max: 10 }), (inputs, most) => {
        const sums = Map.groupBy(inputs.payments, ({ payer, payee }) => `${payer} ${payee}`);
        const pairs = [...sums.values()].flatMap((same) =>
          same.slice(0, 1).map((one) => ({ ...one, microUsd: sumOf(same.map(({ microUsd }) => microUsd)) })),
        );
        const bounded = [...pairs];
        expect(boundPayments(bounded, most)).toBe(Math.max(0, pairs.length - most));
        expect(sumOf(bounded.map(({ microUsd }) => microUsd))).toBe(
          sumOf(pairs.map(({ microUsd }) => microUsd)),
        );
        const whole = new Map(computeBacking({ ...inputs, payments: pairs }).map((one) => [one.wallet, one]));
        // Payments within a cluster that are left out count as made to an outsider, which lowers shares further.
        for (const { wallet, costBasisMicroUsd } of computeBacking({ ...inputs, payments: bounded }))
          expect(costBasisMicroUsd).toBeLessThanOrEqual(whole.get(wallet)?.costBasisMicroUsd ?? 0n);
      }),
    );
  });
});
