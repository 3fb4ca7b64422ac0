import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import {
  describesSeller,
  type EndedJobs,
  type PaidFeedback,
  type Receipt,
  type SellerHistory,
  type SellerProfile,
  sellerProfile,
} from "../../../../service/model/backing/seller-profile.ts";

const SELLER = accountOf(0);
const ONE = 10n ** 18n;

function accountOf(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function historyOf(parts: Partial<SellerHistory>): SellerHistory {
  return {
    wallet: SELLER,
    receipts: [],
    paidTo: new Map(),
    jobs: [],
    feedback: null,
    clusterOf: (account) => account,
    costBasisOf: () => 0n,
    ...parts,
  };
}

const paid = (payer: number, week: number, microUsd: bigint): Receipt => ({
  payer: accountOf(payer),
  week,
  microUsd,
});

const job = (parts: Partial<EndedJobs>): EndedJobs => ({
  client: accountOf(1),
  isFunded: true,
  outcome: "completed",
  endedBy: accountOf(9),
  verdict: null,
  count: 1,
  ...parts,
});

describe("a seller profile", () => {
  test("is null where the wallet received nothing", () => {
    expect(sellerProfile(historyOf({}))).toBeNull();
    expect(
      sellerProfile(historyOf({ receipts: [paid(1, 1, 0n)], jobs: [job({ client: SELLER })] })),
    ).toBeNull();
    expect(describesSeller(null)).toBe(false);
  });

  test("counts payers of one owner once, each by its cost basis up to a dollar", () => {
    const profile = sellerProfile(
      historyOf({
        receipts: [paid(1, 10, 40n), paid(2, 11, 40n), paid(3, 10, 20n), paid(8, 10, 100n)],
        paidTo: new Map([
          [accountOf(3), 90n],
          [accountOf(5), 90n],
          [accountOf(2), 10n],
        ]),
        clusterOf: (account) =>
          ({ [accountOf(2)]: accountOf(1), [accountOf(8)]: SELLER })[account] ?? account,
        costBasisOf: (account) => ({ [accountOf(1)]: 5_000_000n, [accountOf(3)]: 250_000n })[account] ?? 0n,
        jobs: [job({ verdict: "allow", count: 2 })],
      }),
    );
    expect(profile).toEqual({
      payers: 2,
      weightedPayers: 1.25,
      returningPayers: 1,
      weeks: 2,
      activeWeeks: expect.closeTo(1.98, 1),
      revenueMicroUsd: 100n,
      refundedShare: 0.3,
      ownClusterShare: 0.5,
      jobs: { completed: 2, rejected: 0, expired: 0 },
      verdicts: { allow: 2, reject: 0 },
      feedback: null,
    });
    expect(describesSeller(profile)).toBe(true);
  });

  test.each([
    ["is unpaid", { isFunded: false }, 0],
    ["is of an unknown client", { client: null }, 0],
    ["is of its own client", { client: accountOf(7) }, 0],
    ["was rejected by its client", { outcome: "rejected", endedBy: accountOf(1) }, 0],
    ["was rejected by an evaluator", { outcome: "rejected" }, 1],
    ["expired", { outcome: "expired", endedBy: null }, 1],
    ["was completed by its client", { endedBy: accountOf(1) }, 1],
  ] as const)("of a job that %s", (_, parts, counted) => {
    const clusterOf = (account: Address) => (account === accountOf(7) ? SELLER : account);
    const profile = sellerProfile(historyOf({ jobs: [job(parts)], clusterOf }));
    const { completed = 0, rejected = 0, expired = 0 } = profile?.jobs ?? {};
    expect(completed + rejected + expired).toBe(counted);
  });

  test("sums up feedback of payers by tag: of each owner its newest entry, and of its own owner none", () => {
    const feedback = (client: number, block: number, parts: Partial<PaidFeedback> = {}): PaidFeedback => ({
      ...{ client: accountOf(client), block, feedbackIndex: 1n, value: 90n * ONE, tag: "starred", ...parts },
    });
    const given = historyOf({
      receipts: [paid(1, 1, 5n), paid(2, 1, 5n), paid(3, 1, 5n), paid(8, 1, 5n)],
      feedback: [
        feedback(1, 20, { value: 40n * ONE }),
        feedback(1, 10),
        feedback(2, 10, { value: 4n * ONE + ONE / 2n }),
        feedback(2, 10, { value: 99_770_000_000_000_000_000n, feedbackIndex: 2n, tag: "uptime" }),
        // The owner of account 1, the wallet's own, and one that paid nothing within the window.
        ...[feedback(4, 30, { value: 60n * ONE }), feedback(8, 10), feedback(6, 10)],
      ],
      clusterOf: (account) => ({ [accountOf(4)]: accountOf(1), [accountOf(8)]: SELLER })[account] ?? account,
    });
    expect(sellerProfile(given)?.feedback).toEqual({
      payers: 2,
      tags: [
        { tag: "starred", payers: 2, median: 32.25 },
        { tag: "uptime", payers: 1, median: 99.77 },
      ],
    });
    const tags = Array.from({ length: 9 }, (_, tag) => feedback(1, 10, { tag: `${tag}`, value: -ONE }));
    expect(sellerProfile({ ...given, feedback: tags })?.feedback).toEqual({
      payers: 1,
      tags: ["0", "1", "2", "3", "4"].map((tag) => ({ tag, payers: 1, median: -1 })),
    });
    expect(sellerProfile({ ...given, feedback: [] })?.feedback).toEqual({ payers: 0, tags: [] });
  });

  test("takes two payers and two weeks to describe a seller", () => {
    const describes = (...receipts: Receipt[]) => describesSeller(sellerProfile(historyOf({ receipts })));
    expect(describes(paid(1, 1, 5n), paid(1, 2, 5n))).toBe(false);
    expect(describes(paid(1, 1, 5n), paid(2, 1, 5n))).toBe(false);
    expect(describes(paid(1, 1, 5n), paid(2, 2, 5n))).toBe(true);
  });
});

const receipt = fc
  .tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 25 }), fc.bigInt(1n, 10n ** 9n))
  .map(([payer, week, microUsd]) => paid(payer, week, microUsd));
const history = fc
  .record({
    receipts: fc.array(receipt, { maxLength: 20 }),
    clusters: fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 13, maxLength: 13 }),
    bases: fc.array(fc.bigInt(0n, 2_000_000n), { minLength: 13, maxLength: 13 }),
  })
  .map(({ receipts, clusters, bases }) =>
    historyOf({
      receipts,
      clusterOf: (account) => `cluster ${clusters[Number(account)] ?? account}`,
      costBasisOf: (account) => bases[Number(account)] ?? 0n,
    }),
  );

describe("payments of strangers", () => {
  test("lower nothing of the payee but shares", () => {
    const counts = (profile: SellerProfile | null) => [
      ...[profile?.payers, profile?.weightedPayers, profile?.returningPayers, profile?.weeks],
      ...[Number(profile?.revenueMicroUsd ?? 0n), profile?.jobs.completed],
    ];
    fc.assert(
      fc.property(history, fc.array(receipt), (given, gifts) => {
        const strangers = gifts.map((gift) => ({ ...gift, payer: accountOf(1_000 + Number(gift.payer)) }));
        const before = counts(sellerProfile(given));
        const after = counts(sellerProfile({ ...given, receipts: [...given.receipts, ...strangers] }));
        for (const [place, count] of before.entries())
          expect(after[place] ?? 0).toBeGreaterThanOrEqual(count ?? 0);
      }),
    );
  });

  test("without a cost basis add no weight", () => {
    fc.assert(
      fc.property(history, fc.array(receipt, { minLength: 1 }), (given, gifts) => {
        const strangers = gifts.map((gift) => ({ ...gift, payer: accountOf(1_000 + Number(gift.payer)) }));
        const after = sellerProfile({ ...given, receipts: [...given.receipts, ...strangers] });
        expect(after?.weightedPayers).toBe(sellerProfile(given)?.weightedPayers ?? 0);
      }),
    );
  });

  test("leave shares between 0 and 1, and effective weeks at most the weeks", () => {
    fc.assert(
      fc.property(history, (given) => {
        const profile = sellerProfile(given);
        if (profile === null) return;
        for (const share of [profile.refundedShare, profile.ownClusterShare]) {
          expect(share).toBeGreaterThanOrEqual(0);
          expect(share).toBeLessThanOrEqual(1);
        }
        expect(profile.activeWeeks).toBeLessThanOrEqual(profile.weeks + 1e-5);
      }),
    );
  });
});
