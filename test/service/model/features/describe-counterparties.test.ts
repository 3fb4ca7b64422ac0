import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import {
  addressesOf,
  type CounterpartyQuestion,
  describeCounterparties,
} from "../../../../service/model/features/describe-counterparties.ts";
import { payersBackIn } from "../../../../service/model/features/find-owners.ts";
import type { Contact } from "../../../../service/model/features/types.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import { contact, factsOf, graphOf, question } from "./contacts.ts";
import { account, callsOf, DAY, payment, START, USDC, WALLET } from "./histories.ts";

const POOL = account(100);
const ELSEWHERE = account(200);

describe("the addresses of a wallet", () => {
  test("are whom it calls, pays, sees in its logs, lets spend and runs as its own code", () => {
    const calls = callsOf([
      { at: START, to: account(2), emitters: [account(3), account(2)] },
      payment(START, account(4), 1n),
      { at: START, to: null },
      { at: START, to: account(5), read: false },
    ]);
    const approval = { token: account(8), spender: account(6), kind: "amount", approvedAt: START } as const;
    const addresses = addressesOf(calls, [approval], { to: account(7) });
    expect([...addresses].sort()).toEqual([...[2, 3, 4, 5, 6, 7].map(account), USDC].sort());
  });

  test("are an empty set where nothing is known", () => {
    expect(addressesOf([], null).size).toBe(0);
  });
});

describe("the users of a counterparty", () => {
  test("are counted once each, in the window, and not the wallet itself", () => {
    const contacts = [
      contact(WALLET, POOL),
      contact(account(20), POOL, { calls: 90 }),
      contact(account(21), POOL, { lastTime: START - 1 }),
      contact(account(22), POOL, { calls: 0, sentMicroUsd: 5n }),
      contact(POOL, POOL),
      ...busy(20, 21, 22),
    ];
    expect(users(POOL, contacts)).toBe(1);
  });

  test("are not the owner's other accounts", () => {
    const contacts = [contact(account(20), POOL), contact(account(21), POOL), ...busy(20, 21)];
    const facts = factsOf([{ address: account(20), firstFunder: WALLET }]);
    // The account belongs to the cluster only where the wallet deals with it.
    const payersBack = new Set([account(20)]);
    expect(users(POOL, contacts, { facts, payersBack, addresses: [POOL, account(20)] })).toBe(1);
    expect(users(POOL, contacts, { facts, payersBack, addresses: [POOL] })).toBe(2);
    expect(users(POOL, contacts, { facts, addresses: [POOL, account(20)] })).toBe(2);
  });

  test.each([
    [8, 2, 0],
    [79, 21, 1],
    [1, 0, 0],
    [1, 9, 1],
  ])("with %d calls within the wallet's set and %d outside count %d", (inside, outside, counted) => {
    const contacts = [
      contact(account(20), POOL, { calls: inside - (inside > 1 ? 1 : 0) }),
      ...(inside > 1 ? [contact(account(20), account(101), { calls: 1 })] : []),
      ...(outside > 0 ? [contact(account(20), ELSEWHERE, { calls: outside })] : []),
    ];
    expect(users(POOL, contacts, { addresses: [POOL, account(101)] })).toBe(counted);
  });

  test("are as many as can count for a popular contract, whatever the graph has", () => {
    const popularContracts = new Set([POOL]);
    expect([users(POOL, [], { popularContracts }), users(ELSEWHERE, [], { popularContracts })]).toEqual([
      AHS_2026_2.credit.usersCounted,
      0,
    ]);
  });

  test("are judged by all of their calls, where more are known than contacts", () => {
    const contacts = [contact(account(20), POOL, { calls: 4 })];
    const callsOf = new Map([[account(20), 100]]);
    expect(users(POOL, contacts)).toBe(0);
    expect(users(POOL, contacts, { graph: graphOf(contacts, callsOf) })).toBe(1);
  });

  test("are counted up to the policy's limit", () => {
    const many = Array.from({ length: 40 }, (_, i) => 1000 + i);
    const contacts = [...many.map((number) => contact(account(number), POOL)), ...busy(...many)];
    expect(users(POOL, contacts)).toBe(30);
  });
});

describe("the description of a counterparty", () => {
  test("is made of facts, contacts and lists, by rising address", () => {
    const described = describeCounterparties(
      question([account(12), account(11), account(12)], {
        graph: graphOf([contact(WALLET, account(11), { firstTime: START - 9, lastTime: START })]),
        facts: factsOf([
          { address: account(11), hasCode: true, creator: account(90), existedAt: START - DAY },
        ]),
        flags: new Map([[account(12), "mixer"]]),
      }),
    );
    expect(described).toEqual([
      {
        address: account(11),
        ownerLink: null,
        hasCode: true,
        existedAt: START - DAY,
        fundedFromOutside: true,
        firstContactAt: START - 9,
        outsideUsers: 0,
        flag: null,
      },
      {
        address: account(12),
        ownerLink: null,
        hasCode: null,
        existedAt: null,
        fundedFromOutside: null,
        firstContactAt: null,
        outsideUsers: 0,
        flag: "mixer",
      },
    ]);
  });

  test("is no funding from outside where the owner's cluster paid", () => {
    const facts = factsOf([
      { address: account(11), firstFunder: WALLET },
      { address: account(12), firstFunder: account(91) },
    ]);
    const known = (payersBack: ReadonlySet<Address>) =>
      describeCounterparties(question([account(11), account(12)], { facts, payersBack })).map((one) => [
        one.ownerLink,
        one.fundedFromOutside,
      ]);
    expect(known(new Set([account(11)]))).toEqual([
      ["first_funder", false],
      [null, true],
    ]);
    // A new account that the wallet pays is not its own, and no other vouches for it.
    expect(known(new Set())).toEqual([
      [null, false],
      [null, true],
    ]);
  });

  test("says which of them share an owner", () => {
    const facts = factsOf(
      [12, 11].map((number) => ({ address: account(number), hasCode: true, creator: account(90) })),
    );
    const described = describeCounterparties(question([12, 11, 13].map(account), { facts }));
    expect(described.map((one) => one.mergedWith)).toEqual([account(11), account(11), undefined]);
  });
});

describe("new accounts that the wallet pays first", () => {
  type Deal = typeof deal extends fc.Arbitrary<infer T> ? T : never;
  const deal = fc.record({
    sentMicroUsd: fc.bigInt({ min: 1n, max: 10n ** 9n }),
    // Refunds are less than half of it.
    returnedPercent: fc.bigInt({ min: 0n, max: 49n }),
    calls: fc.nat({ max: 40 }),
    hasCode: fc.constantFrom(false, false, true, null),
  });

  const described = (deals: readonly Deal[], returned: (deal: number) => bigint) => {
    const payees = deals.map((_, place) => account(300 + place));
    const contacts = deals.flatMap(({ sentMicroUsd, calls }, place) => {
      const payee = account(300 + place);
      const back = contact(payee, WALLET, { sentMicroUsd: returned(place) });
      return [contact(WALLET, payee, { sentMicroUsd, calls }), ...(returned(place) > 0n ? [back] : [])];
    });
    // The wallet's own income comes from elsewhere.
    const graph = graphOf([...contacts, contact(ELSEWHERE, WALLET, { sentMicroUsd: 10n ** 15n })]);
    const facts = factsOf(
      deals.map(({ hasCode }, place) => ({ address: account(300 + place), hasCode, firstFunder: WALLET })),
    );
    const payersBack = payersBackIn(graph.usersOf, WALLET);
    return describeCounterparties(question(payees, { graph, facts, payersBack }));
  };

  test("are not its owner's, whatever it pays and however often, and count each for itself", () => {
    fc.assert(
      fc.property(fc.array(deal, { minLength: 1, maxLength: 30 }), (deals) => {
        const known = described(
          deals,
          (place) => ((deals[place]?.sentMicroUsd ?? 0n) * (deals[place]?.returnedPercent ?? 0n)) / 100n,
        );
        expect(known.map(({ ownerLink, mergedWith }) => [ownerLink, mergedWith])).toEqual(
          deals.map(() => [null, undefined]),
        );
      }),
    );
  });

  test("are its owner's where they give half of it back", () => {
    fc.assert(
      fc.property(fc.array(deal, { minLength: 1, maxLength: 30 }), (deals) => {
        const known = described(deals, (place) => ((deals[place]?.sentMicroUsd ?? 0n) + 1n) / 2n);
        expect(known.map(({ ownerLink }) => ownerLink)).toEqual(deals.map(() => "first_funder"));
      }),
    );
  });
});

describe("strangers", () => {
  const spam = fc.array(
    fc.record({
      from: fc.integer({ min: 500, max: 599 }).map(account),
      calls: fc.integer({ min: 0, max: 2_000 }),
      sentMicroUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    }),
    { minLength: 1, maxLength: 60 },
  );

  test("that call, pay or spam a wallet change nothing that is known of its counterparties", () => {
    const addresses = [POOL, account(101)];
    const contacts = [contact(WALLET, POOL), contact(account(20), POOL), ...busy(20)];
    const facts = factsOf([{ address: account(101), hasCode: false }]);
    const before = describeCounterparties(question(addresses, { graph: graphOf(contacts), facts }));
    fc.assert(
      fc.property(spam, (senders) => {
        const gifts = senders.map(({ from, ...parts }) => contact(from, WALLET, parts));
        const graph = graphOf([...contacts, ...gifts]);
        expect(describeCounterparties(question(addresses, { graph, facts }))).toEqual(before);
      }),
    );
  });
});

/** Calls of accounts to another address, so many that no account is captive. */
function busy(...numbers: readonly number[]): readonly Contact[] {
  return numbers.map((number) => contact(account(number), ELSEWHERE, { calls: 1_000 }));
}

function users(
  address: Address,
  contacts: readonly Contact[],
  parts: Partial<CounterpartyQuestion> & { readonly addresses?: readonly Address[] } = {},
): number | undefined {
  const asked = question(parts.addresses ?? [address], { graph: graphOf(contacts), ...parts });
  return describeCounterparties(asked).find((fact) => fact.address === address)?.outsideUsers;
}
