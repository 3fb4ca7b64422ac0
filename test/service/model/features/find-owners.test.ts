import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import {
  ancestorsOf,
  findOwners,
  type OwnerQuestion,
  payersBackIn,
  paysBack,
} from "../../../../service/model/features/find-owners.ts";
import type { Contact } from "../../../../service/model/features/types.ts";
import { cpuMsOf } from "../../../support/cpu-time.ts";
import { contact, factsOf, graphOf, question } from "./contacts.ts";
import { account, WALLET } from "./histories.ts";

const [A, B, C, OWNER, FACTORY, FAUCET] = [10, 11, 12, 90, 91, 92].map(account) as readonly Address[] as [
  Address,
  Address,
  Address,
  Address,
  Address,
  Address,
];

describe("the owner cluster", () => {
  test("is the wallet alone where nothing links it", () => {
    expect(cluster([A, B], { facts: factsOf([{ address: A, firstFunder: OWNER }]) })).toEqual([
      [WALLET, "itself"],
    ]);
  });

  test.each([
    [
      "an account that the wallet funded first and that pays back",
      [{ address: A, firstFunder: WALLET }],
      "first_funder",
    ],
    ["the first funder of the wallet", [{ address: WALLET, firstFunder: A }], "first_funder"],
    ["contracts that the wallet created", [{ address: A, hasCode: true, creator: WALLET }], "creator"],
  ] as const)("holds %s", (_, facts, link) => {
    expect(cluster([A, B], { facts: factsOf(facts), payersBack: new Set([A]) })).toEqual([
      [WALLET, "itself"],
      [A, link],
    ]);
  });

  test("holds those with the same first funder or creator, however far up", () => {
    const facts = factsOf([
      { address: WALLET, firstFunder: OWNER },
      { address: A, firstFunder: OWNER },
      { address: B, hasCode: true, creator: FACTORY },
      { address: FACTORY, hasCode: true, creator: OWNER },
    ]);
    expect(cluster([A, B, C], { facts })).toEqual([
      [WALLET, "itself"],
      [OWNER, "first_funder"],
      [A, "first_funder"],
      [FACTORY, "creator"],
      [B, "creator"],
    ]);
  });

  test("does not reach through a public funder", () => {
    const facts = factsOf([
      { address: WALLET, firstFunder: FAUCET },
      { address: A, firstFunder: FAUCET },
      { address: FAUCET, firstFunder: WALLET },
    ]);
    expect(cluster([A, FAUCET], { facts, publicFunders: new Set([FAUCET]) })).toEqual([[WALLET, "itself"]]);
  });

  test("does not take a contract for the owner's because the wallet was the first to pay it", () => {
    const facts = factsOf([{ address: A, hasCode: true, creator: B, firstFunder: WALLET }]);
    expect(cluster([A], { facts })).toEqual([[WALLET, "itself"]]);
  });

  test("does not hold an account that the wallet paid first and that keeps the money", () => {
    const facts = factsOf([{ address: A, firstFunder: WALLET }]);
    expect(cluster([A, B], { facts })).toEqual([[WALLET, "itself"]]);
  });

  test("holds, of new accounts that the wallet paid first, those that pay half of it back, and no others", () => {
    const most = 10n ** 9n;
    const payees = fc.uniqueArray(
      fc.record({
        number: fc.integer({ min: 100, max: 200 }),
        sent: fc.bigInt({ min: 1n, max: most }),
        returned: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: most })),
      }),
      { selector: ({ number }) => number, minLength: 1, maxLength: 20 },
    );
    fc.assert(
      fc.property(payees, (paid) => {
        // More than all payees return, so that none of them is the wallet's main funder.
        const income = contact(C, WALLET, { calls: 0, sentMicroUsd: 100n * most });
        const contacts = paid.flatMap(({ number, sent, returned }) => [
          contact(WALLET, account(number), { calls: 0, sentMicroUsd: sent }),
          ...(returned > 0n ? [contact(account(number), WALLET, { calls: 0, sentMicroUsd: returned })] : []),
        ]);
        const graph = graphOf([income, ...contacts]);
        const addresses = paid.map(({ number }) => account(number));
        const facts = factsOf(addresses.map((address) => ({ address, hasCode: false, firstFunder: WALLET })));
        const payersBack = payersBackIn(graph.usersOf, WALLET);
        const members = cluster(addresses, { graph, facts, payersBack }).map(([address]) => address);
        const own = paid.filter(({ sent, returned }) => 2n * returned >= sent);
        expect(members.toSorted()).toEqual([WALLET, ...own.map(({ number }) => account(number))].toSorted());
      }),
    );
  });

  test("holds accounts with the same first funder, whether they pay back or not", () => {
    const facts = factsOf([A, WALLET].map((address) => ({ address, firstFunder: OWNER })));
    expect(cluster([A], { facts }).map(([address]) => address)).toContain(A);
  });

  test("holds a contract of a public factory by its first funder, if it pays back", () => {
    const facts = factsOf([{ address: A, hasCode: true, creator: FACTORY, firstFunder: WALLET }]);
    const publicFunders = new Set([FACTORY]);
    expect(cluster([A], { facts, publicFunders, payersBack: new Set([A]) })).toEqual([
      [WALLET, "itself"],
      [A, "first_funder"],
    ]);
    expect(cluster([A], { facts, publicFunders })).toEqual([[WALLET, "itself"]]);
  });

  test("does not change with facts about others", () => {
    const facts = [{ address: A, firstFunder: B }] as const;
    const more = [
      ...facts,
      { address: account(500), firstFunder: B },
      { address: account(501), firstFunder: WALLET },
    ];
    expect(cluster([A, C], { facts: factsOf(more) })).toEqual(cluster([A, C], { facts: factsOf(facts) }));
  });
});

describe("mutual funding", () => {
  const person = factsOf([{ address: A, hasCode: false }]);
  const sent = (from: Address, to: Address, sentMicroUsd: bigint): Contact =>
    contact(from, to, { calls: 0, sentMicroUsd });

  test.each<readonly [string, readonly Contact[], boolean]>([
    ["links two that sent each other most of their funds", [sent(WALLET, A, 6n), sent(A, WALLET, 6n)], true],
    [
      "does not link who sent exactly half",
      [sent(WALLET, A, 5n), sent(B, A, 5n), sent(A, WALLET, 9n)],
      false,
    ],
    ["does not link by inflow from one side alone", [sent(WALLET, A, 9n)], false],
    [
      "does not link a supplier whose refund is small",
      [sent(WALLET, A, 9n), sent(A, WALLET, 1n), sent(B, WALLET, 9n)],
      false,
    ],
    ["does not link who sent nothing of worth", [sent(WALLET, A, 0n), sent(A, WALLET, 0n)], false],
  ])("%s", (_, contacts, linked) => {
    const members = cluster([A, B], { facts: person, graph: graphOf(contacts) });
    expect(members.slice(1)).toEqual(linked ? [[A, "mutual_funding"]] : []);
  });

  test("is not judged for an account whose inflow is not known: a contract, or one that was not read", () => {
    const graph = graphOf([sent(WALLET, A, 9n), sent(A, WALLET, 9n)]);
    for (const hasCode of [true, null]) {
      expect(cluster([A], { facts: factsOf([{ address: A, hasCode }]), graph })).toHaveLength(1);
    }
  });

  test("reaches on from account to account", () => {
    const facts = factsOf([
      { address: A, hasCode: false, firstFunder: WALLET },
      { address: B, hasCode: false },
    ]);
    const graph = graphOf([sent(A, B, 9n), sent(B, A, 9n)]);
    expect(cluster([A, B], { facts, graph, payersBack: new Set([A]) }).slice(1)).toEqual([
      [A, "first_funder"],
      [B, "mutual_funding"],
    ]);
  });
});

describe("an account that pays back", () => {
  const flow = (calls: number, sentMicroUsd: bigint) => ({ calls, sentMicroUsd });

  test.each([
    ["half of what it got", flow(1, 10n), flow(1, 5n), true],
    ["less than half", flow(1, 10n), flow(9, 4n), false],
    ["all of it, and more", flow(1, 10n), flow(1, 90n), true],
    ["worth for calls without worth", flow(3, 0n), flow(1, 1n), true],
    ["calls without worth for worth", flow(1, 10n), flow(9, 0n), false],
    ["half as many calls, where neither side sent worth", flow(4, 0n), flow(2, 0n), true],
    ["fewer calls than that", flow(4, 0n), flow(1, 0n), false],
    ["nothing", flow(4, 0n), undefined, false],
    ["something that it never got", undefined, flow(1, 9n), false],
  ])("gives back %s", (_, sent, returned, expected) => {
    expect(paysBack(sent, returned)).toBe(expected);
  });

  test("is found by all contacts between it and the wallet", () => {
    const { usersOf } = graphOf([
      contact(WALLET, A, { sentMicroUsd: 10n }),
      contact(A, WALLET, { sentMicroUsd: 6n }),
      contact(WALLET, B, { sentMicroUsd: 10n }),
      contact(B, WALLET, { sentMicroUsd: 4n }),
      contact(C, WALLET, { sentMicroUsd: 9n }),
      contact(A, B, { sentMicroUsd: 9n }),
    ]);
    expect([...payersBackIn(usersOf, WALLET)]).toEqual([A]);
  });
});

describe("other owners", () => {
  test("merge the accounts that share one, outside the cluster", () => {
    const facts = factsOf([
      { address: A, hasCode: true, creator: OWNER },
      { address: C, hasCode: true, creator: OWNER },
      { address: B, firstFunder: WALLET },
    ]);
    const { groups } = findOwners({ ...question([], { facts }), addresses: [A, B, C] });
    expect([...groups]).toEqual([
      [A, A],
      [C, A],
    ]);
  });
});

describe("the group of accounts that share an owner", () => {
  const numbers = fc.integer({ min: 10, max: 40 });
  const maybe = fc.option(fc.oneof(numbers.map(account), fc.constant(WALLET)), { nil: null });
  const known = fc.record({
    creator: maybe,
    firstFunder: maybe,
    hasCode: fc.constantFrom(true, false, null),
  });
  const questions = fc
    .record({
      asked: fc.uniqueArray(numbers),
      known: fc.uniqueArray(fc.tuple(numbers, known), { selector: ([number]) => number }),
      sent: fc.array(fc.tuple(numbers, numbers, fc.bigInt(0n, 9n)), { maxLength: 40 }),
      funders: fc.array(numbers, { maxLength: 2 }),
      payers: fc.uniqueArray(numbers),
    })
    .map(({ asked, known, sent, funders, payers }): OwnerQuestion => {
      const contacts = sent.map(([from, to, sentMicroUsd]) =>
        contact(account(from), account(to), { sentMicroUsd }),
      );
      return {
        wallet: WALLET,
        addresses: asked.map(account).sort(),
        graph: graphOf(contacts),
        facts: factsOf(known.map(([number, fact]) => ({ address: account(number), ...fact }))),
        publicFunders: new Set(funders.map(account)),
        payersBack: new Set(payers.map(account)),
      };
    });

  test("is found as by looking through all addresses for each of them", () => {
    fc.assert(
      fc.property(questions, (asked) => {
        const { cluster, groups } = findOwners(asked);
        const shares = sharersOf(asked);
        const expected = new Map<Address, Address>();
        for (const address of asked.addresses) {
          if (cluster.has(address) || expected.has(address)) continue;
          const merged = asked.addresses.filter((other) => shares(address).has(other));
          if (merged.length > 1) for (const member of merged) expected.set(member, address);
        }
        expect([...groups]).toEqual([...expected]);
        expect(new Set(cluster.keys())).toEqual(shares(WALLET));
      }),
      { numRuns: 500 },
    );
  });

  test("is found in time that grows no faster than their number", () => {
    const addresses = Array.from({ length: 40_000 }, (_, place) => account(100_000 + place)).sort();
    // Every two of them have an owner of their own.
    const facts = factsOf(
      addresses.map((address, place) => ({ address, firstFunder: account(500_000 + Math.floor(place / 2)) })),
    );
    const graph = { mainFunderOf: new Map() };
    const question = { wallet: WALLET, addresses, graph, facts };
    const cpuMs = cpuMsOf(() => {
      const { groups } = findOwners({ ...question, payersBack: new Set(), publicFunders: new Set() });
      expect(groups.size).toBe(40_000);
    });
    expect(cpuMs).toBeLessThan(8_000);
  });
});

/** All that an account is linked to by parents and mutual funding, step by step until nothing is added. */
function sharersOf({ wallet, addresses, graph, facts, publicFunders, payersBack }: OwnerQuestion) {
  const isPublic = (one: Address | null) => one === null || publicFunders.has(one);
  const parentOf = (one: Address): Address | null => {
    const fact = facts.get(one);
    if (fact === undefined || isPublic(one)) return null;
    const parents = [fact.creator, fact.firstFunder].filter((parent) => parent !== one && !isPublic(parent));
    const parent = parents[0] ?? null;
    const isPaid = parent === wallet && parent !== fact.creator && !payersBack.has(one);
    return isPaid ? null : parent;
  };
  const funderOf = (one: Address): Address | null => {
    const isKnown = one === wallet || facts.get(one)?.hasCode === false;
    const funder = graph.mainFunderOf.get(one) ?? null;
    return !isKnown || isPublic(one) || isPublic(funder) ? null : funder;
  };
  const asked = new Set([wallet, ...addresses]);
  const pairs: (readonly [Address, Address])[] = [];
  const accounts = new Set(asked);
  for (const one of accounts) {
    const parent = parentOf(one);
    if (parent !== null) pairs.push([one, parent]);
    if (parent !== null) accounts.add(parent);
    const funder = funderOf(one);
    const isMutual = funder !== null && asked.has(one) && asked.has(funder) && funderOf(funder) === one;
    if (isMutual) pairs.push([one, funder]);
  }
  return (start: Address): ReadonlySet<Address> => {
    const members = new Set([start]);
    for (let size = 0; size < members.size; ) {
      size = members.size;
      for (const [one, other] of pairs)
        if (members.has(one) || members.has(other)) members.add(one).add(other);
    }
    return members;
  };
}

test("asks for the ancestors that facts name and do not hold, but for public funders", () => {
  const facts = factsOf([
    { address: WALLET, firstFunder: OWNER },
    { address: A, hasCode: true, creator: B, firstFunder: C },
    { address: B, firstFunder: FAUCET },
  ]);
  expect([...ancestorsOf(facts, new Set([FAUCET]))]).toEqual([OWNER]);
});

function cluster(addresses: readonly Address[], parts: Parameters<typeof question>[1]) {
  return [...findOwners({ ...question(addresses, parts), addresses }).cluster];
}
