import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import {
  ancestorsOf,
  findOwners,
  type OwnerQuestion,
} from "../../../../service/model/features/find-owners.ts";
import type { Contact } from "../../../../service/model/features/types.ts";
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
    ["whom the wallet funded first", [{ address: A, firstFunder: WALLET }], "first_funder"],
    ["who funded the wallet first", [{ address: WALLET, firstFunder: A }], "first_funder"],
    ["what the wallet created", [{ address: A, hasCode: true, creator: WALLET }], "creator"],
  ] as const)("holds %s", (_, facts, link) => {
    expect(cluster([A, B], { facts: factsOf(facts) })).toEqual([
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

  test("of a contract by a public factory is told by its first funder", () => {
    const facts = factsOf([{ address: A, hasCode: true, creator: FACTORY, firstFunder: WALLET }]);
    expect(cluster([A], { facts, publicFunders: new Set([FACTORY]) })).toEqual([
      [WALLET, "itself"],
      [A, "first_funder"],
    ]);
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

  test("is not judged for an account whose inflow is not known: a contract, or one nobody looked at", () => {
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
    expect(cluster([A, B], { facts, graph }).slice(1)).toEqual([
      [A, "first_funder"],
      [B, "mutual_funding"],
    ]);
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

describe("whoever shares an owner", () => {
  const numbers = fc.integer({ min: 10, max: 40 });
  const maybe = fc.option(numbers.map(account), { nil: null });
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
    })
    .map(({ asked, known, sent, funders }): OwnerQuestion => {
      const contacts = sent.map(([from, to, sentMicroUsd]) =>
        contact(account(from), account(to), { sentMicroUsd }),
      );
      return {
        wallet: WALLET,
        addresses: asked.map(account).sort(),
        graph: graphOf(contacts),
        facts: factsOf(known.map(([number, fact]) => ({ address: account(number), ...fact }))),
        publicFunders: new Set(funders.map(account)),
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
    const started = performance.now();
    const { groups } = findOwners({ wallet: WALLET, addresses, graph, facts, payersBack: new Set(), publicFunders: new Set() });
    expect(performance.now() - started).toBeLessThan(8_000);
    expect(groups.size).toBe(40_000);
  });
});

/** All that an account is linked to by parents and mutual funding, step by step until nothing is added. */
function sharersOf({ wallet, addresses, graph, facts, publicFunders }: OwnerQuestion) {
  const isPublic = (one: Address | null) => one === null || publicFunders.has(one);
  const parentOf = (one: Address): Address | null => {
    const fact = facts.get(one);
    if (fact === undefined || isPublic(one)) return null;
    const parents = [fact.creator, fact.firstFunder].filter((parent) => parent !== one && !isPublic(parent));
    return parents[0] ?? null;
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
