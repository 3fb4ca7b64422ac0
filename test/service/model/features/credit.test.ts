import fc from "fast-check";
import type { Address } from "viem";
import { describe, expect, test } from "vitest";
import { counterpartiesOf } from "../../../../service/model/features/credit.ts";
import { createMarket } from "../../../../service/model/features/market.ts";
import type { CounterpartyFact } from "../../../../service/model/features/types.ts";
import { weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  account,
  callsOf,
  DAY,
  fact,
  payment,
  rowsOf,
  START,
  type Step,
  TOKENS,
  USDC,
  WALLET,
} from "./histories.ts";

const NOBODY: Partial<CounterpartyFact> = { outsideUsers: 0, existedAt: null, fundedFromOutside: null };
const SOMEBODY = account(1000);

describe("the credit of a counterparty, in millionths", () => {
  test.each<readonly [string, Partial<CounterpartyFact>, number]>([
    ["that nobody else uses and nobody knows", NOBODY, 0],
    ["with three users", { ...NOBODY, outsideUsers: 3 }, 500_000],
    ["with six users", { ...NOBODY, outsideUsers: 6 }, 750_000],
    ["with as many users as are counted", { ...NOBODY, outsideUsers: 30 }, 999_023],
    ["that others funded", { ...NOBODY, fundedFromOutside: true }, AHS_2026_2.credit.newFloor * 1e6],
    ["that its owner funded", { ...NOBODY, fundedFromOutside: false }, 0],
    ["a month old at the first contact", { ...NOBODY, existedAt: START - 30 * DAY }, 300_000],
    ["younger than that", { ...NOBODY, existedAt: START - 30 * DAY + 1 }, 0],
    ["a month old by now alone", { ...NOBODY, existedAt: START - DAY, firstContactAt: START - DAY }, 0],
    ["old, with users", { outsideUsers: 3 }, 500_000],
    ["of the same owner", { ownerLink: "creator" }, 0],
  ])("%s is %s", (_, parts, credit) => {
    expect(counterpartyAt({ at: START }, [fact(SOMEBODY, parts)])).toMatchObject({
      credit,
      own: parts.ownerLink !== undefined,
    });
  });

  test("of whom no fact is known is nothing, but it is no part of the owner", () => {
    expect(counterpartyAt({ at: START }, [])).toMatchObject({
      address: SOMEBODY,
      owner: SOMEBODY,
      own: false,
      credit: 0,
    });
  });

  test("counts its age from the call where the wallet was never seen to call it", () => {
    const facts = [fact(SOMEBODY, { ...NOBODY, existedAt: START - 30 * DAY, firstContactAt: null })];
    expect(counterpartyAt({ at: START }, facts).credit).toBe(300_000);
    expect(counterpartyAt({ at: START - 1 }, facts).credit).toBe(0);
  });
});

describe("the counterparty of a call", () => {
  const own = fact(account(50), { ownerLink: "first_funder" });
  const [used, known, unknown] = [
    fact(account(60), { outsideUsers: 9 }),
    fact(account(61), { outsideUsers: 3 }),
    fact(account(62), NOBODY),
  ];

  test("of a payment is who is paid, not the token", () => {
    const step = payment(START, account(61), 1_000_000n);
    expect(counterpartyAt(step, [fact(USDC), known]).address).toBe(account(61));
  });

  test("of a payment to oneself or to an own account is the owner", () => {
    for (const recipient of [WALLET, account(50)]) {
      expect(counterpartyAt(payment(START, recipient, 1_000_000n), [fact(USDC), own]).own).toBe(true);
    }
  });

  test.each<readonly [string, Step]>([
    ["to an own contract", { at: START, to: account(50) }],
    ["to itself", { at: START, to: WALLET }],
    ["to nobody known", { at: START, to: null }],
  ])("%s is the most creditable outside contract in its logs", (_, step) => {
    const facts = [own, used, known, unknown];
    const through = (...emitters: readonly number[]) =>
      counterpartyAt({ ...step, emitters: emitters.map(account) }, facts).address;
    expect(through(62, 61, 60, 50)).toBe(account(60));
    expect(through(62, 50)).toBe(account(62));
    expect(counterpartyAt({ ...step, emitters: [account(50)] }, facts).own).toBe(true);
    expect(counterpartyAt({ ...step, emitters: [] }, facts).own).toBe(true);
    expect(counterpartyAt({ ...step, read: false }, facts).own).toBe(true);
  });

  test("of a failure behind an own contract is what that contract reaches when it works", () => {
    const at = (hours: number) => START + hours * 3_600;
    const [shown, failed, other] = allCounterparties(
      [
        { at: at(0), to: account(50), emitters: [account(60)] },
        { at: at(1), to: account(50), emitters: [], ok: false },
        { at: at(2), to: account(51), emitters: [], ok: false },
      ],
      [own, fact(account(51), { ownerLink: "creator" }), used],
    );
    expect([shown?.address, failed?.address, other?.address]).toEqual([
      account(60),
      account(60),
      account(51),
    ]);
    expect([shown?.own, failed?.own, other?.own]).toEqual([false, false, true]);
  });

  describe("of an execution, whose calldata the account's own code may ignore,", () => {
    const byAccount = (steps: readonly Step[]) => {
      const calls = callsOf(steps.map((step) => ({ ...step, position: 1 })));
      return counterpartiesOf(rowsOf(calls, { counterparties: [own, used, known] }), calls, AHS_2026_2);
    };
    const [CALLED, BEHIND] = [account(61), account(60)];

    test("is whom it called where that logged, else the most creditable that did", () => {
      const [direct, behind] = byAccount([
        { at: START, to: CALLED, emitters: [CALLED, BEHIND] },
        { at: START + 1, to: CALLED, emitters: [BEHIND] },
      ]);
      expect([direct?.address, behind?.address]).toEqual([CALLED, BEHIND]);
    });

    test.each([CALLED, null])(
      "is an account without credit where nothing logged, and not the owner: to %s",
      (to) => {
        const [shown] = byAccount([{ at: START, to, emitters: [] }]);
        expect(shown).toMatchObject({ own: false, credit: 0 });
      },
    );

    test("is whom it paid in native coin, which is only known by a trace, with or without credit", () => {
      const paid = (to: Address, value: bigint | null, facts = [used, known, unknown, own]) => {
        const calls = callsOf([{ at: START, to, selector: null, effect: "none", emitters: [], position: 1 }]);
        const traced = calls.map((call) => ({ ...call, value }));
        return counterpartiesOf(rowsOf(traced, { counterparties: facts }), traced, AHS_2026_2)[0];
      };
      expect(paid(account(61), 7n)).toMatchObject({ address: account(61), credit: 500_000 });
      expect(paid(account(62), 7n)).toMatchObject({ address: account(62), credit: 0 });
      expect(paid(account(50), 7n)).toMatchObject({ address: account(50), own: true });
      for (const value of [0n, null])
        expect(paid(account(61), value)).toMatchObject({ own: false, credit: 0 });
    });

    test("and that failed, is whom the same kind of payment paid", () => {
      const calls = callsOf([
        ...[0, 1, 2, 3].map((i) => ({ at: START + i, to: CALLED, position: 1, value: 7n })),
        { at: START + 9, to: CALLED, position: 1, emitters: [], ok: false },
      ]);
      const rows = rowsOf(calls, { counterparties: [known] });
      expect(counterpartiesOf(rows, calls, AHS_2026_2).map(({ address }) => address)).toEqual(
        Array.from({ length: 5 }, () => CALLED),
      );
    });

    test("is the owner where it calls the owner's", () => {
      expect(byAccount([{ at: START, to: account(50), emitters: [] }])[0]?.own).toBe(true);
    });

    test("and that failed, is what the same target is when it works", () => {
      const failedAfter = (works: number) =>
        byAccount([
          ...Array.from({ length: works }, (_, i) => ({ at: START + i, to: CALLED, emitters: [CALLED] })),
          { at: START + 9, to: CALLED, emitters: [], ok: false },
        ]).at(-1);
      expect(failedAfter(1)).toMatchObject({ address: CALLED, credit: 125_000 });
      for (const works of [4, 9])
        expect(failedAfter(works)).toMatchObject({ address: CALLED, credit: 500_000 });
    });
  });

  test("of equal credit is the lowest address", () => {
    const facts = [own, fact(account(70)), fact(account(69)), fact(account(71))];
    const emitters = [account(70), account(71), account(69)];
    expect(counterpartyAt({ at: START, to: account(50), emitters }, facts).address).toBe(account(69));
  });

  test("of an outside contract that is not new is that contract, with the best credit that its calls show", () => {
    const through = (...emitters: readonly number[]) =>
      counterpartyAt({ at: START, to: account(61), emitters: emitters.map(account) }, [
        used,
        known,
        unknown,
        own,
      ]);
    expect(through(60, 62, 50)).toMatchObject({ address: account(61), credit: 875_000 });
    for (const emitter of [61, 62, 50])
      expect(through(emitter)).toMatchObject({ address: account(61), credit: 500_000 });
  });

  test("of a new contract that others funded is what is behind it, if that has more credit", () => {
    const young = fact(account(63), { ...NOBODY, fundedFromOutside: true });
    const through = (emitter: number) =>
      counterpartyAt({ at: START, to: account(63), emitters: [account(emitter)] }, [used, unknown, young]);
    expect(through(60)).toMatchObject({ address: account(60), credit: 875_000 });
    expect(through(62)).toMatchObject({ address: account(63), credit: 200_000 });
  });

  test("has no less credit than the best contract in its logs, and no less with more users of any contract", () => {
    const parties = [50, 60, 61, 62, 63];
    const party = fc.constantFrom(...parties);
    const dealing = fc.record({
      to: fc.option(party),
      emitters: fc.uniqueArray(party, { maxLength: 3 }),
      ok: fc.boolean(),
      position: fc.constantFrom(0, 0, 1),
    });
    const factParts = fc.record({
      ownerLink: fc.constantFrom(null, null, null, "creator" as const),
      existedAt: fc.constantFrom(null, START - 90 * DAY),
      fundedFromOutside: fc.boolean(),
      outsideUsers: fc.constantFrom(0, 0, 1, 2, 9),
    });
    fc.assert(
      fc.property(
        fc.array(dealing, { minLength: 1, maxLength: 12 }),
        fc.tuple(factParts, factParts, factParts, factParts, factParts),
        fc.nat({ max: parties.length - 1 }),
        fc.integer({ min: 1, max: 30 }),
        (dealings, partsOfFacts, popular, more) => {
          const steps = dealings.map(
            ({ to, emitters, ok, position }, i): Step => ({
              ...{ at: START + i, ok, position, to: to === null ? null : account(to) },
              emitters: ok ? emitters.map(account) : [],
            }),
          );
          const facts = partsOfFacts.map((parts, i) => fact(account(parties[i] ?? 0), parts));
          const before = allCounterparties(steps, facts);
          const after = allCounterparties(
            steps,
            facts.map((one, i) => (i === popular ? { ...one, outsideUsers: one.outsideUsers + more } : one)),
          );
          for (const [i, { credit, own: isOwn }] of before.entries()) {
            expect(after[i]?.credit).toBeGreaterThanOrEqual(credit);
            expect(after[i]?.own).toBe(isOwn);
            for (const emitter of steps[i]?.emitters ?? []) {
              expect(credit).toBeGreaterThanOrEqual(counterpartyAt({ at: START, to: emitter }, facts).credit);
            }
          }
        },
      ),
    );
  });

  describe("of a contract without credit, as of one that another key deployed for the wallet,", () => {
    const through = (...steps: readonly Partial<Step>[]) =>
      allCounterparties(
        steps.map((step, i) => ({ at: START + i, to: account(62), ...step })),
        [used, known, unknown, own],
      ).map(({ address, credit }) => [address, credit]);
    const [best, itself] = [
      [account(60), 875_000],
      [account(62), 0],
    ];

    test("is the most creditable contract in its logs", () => {
      expect(through({ emitters: [account(62), account(61), account(60)] })).toEqual([best]);
    });

    test("is that contract itself where its logs show no account with credit, or no account", () => {
      for (const emitters of [[], [account(62)], [account(50)]])
        expect(through({ emitters })).toEqual([itself]);
      expect(through({ read: false })).toEqual([itself]);
    });

    test("is, of its failures, what it reaches when it works: in part at first", () => {
      const works = { emitters: [account(60)] };
      const fails = { ok: false, effect: "none", emitters: [] } as const;
      expect(through(works, fails)).toEqual([best, [account(60), 218_750]]);
      expect(through(works, works, works, works, fails).at(-1)).toEqual(best);
      expect(through(fails)).toEqual([itself]);
    });

    test("makes any history worth what it reaches, from four calls that work on", () => {
      const dealing = fc.record({ pause: fc.integer({ min: 1, max: 9 * DAY }), ok: fc.boolean() });
      const weigh = (steps: readonly Step[], to: number) => {
        const calls = callsOf(steps.map((step) => ({ ...step, to: account(to) })));
        const rows = rowsOf(calls, { counterparties: [used, unknown] });
        const { outside, calls: _, ...sums } = weighCalls(rows, createMarket(TOKENS), AHS_2026_2);
        return { ...sums, counted: outside.map(({ counted }) => counted) };
      };
      fc.assert(
        fc.property(fc.array(dealing, { minLength: 4, maxLength: 60 }), (dealings) => {
          fc.pre(dealings.filter(({ ok }) => ok).length >= 4);
          let at = START;
          const steps = dealings.map(({ pause, ok }): Step => {
            at += pause;
            return { at, ok, effect: ok ? "other" : "none", emitters: ok ? [account(60)] : [] };
          });
          expect(weigh(steps, 62)).toEqual(weigh(steps, 60));
        }),
      );
    });
  });

  test("stands for its owner where several have the same", () => {
    const facts = [fact(account(61), { mergedWith: account(60) })];
    expect(counterpartyAt({ at: START, to: account(61) }, facts)).toMatchObject({
      address: account(61),
      owner: account(60),
    });
  });
});

function counterpartyAt(step: Step, counterparties: readonly CounterpartyFact[]) {
  const [only] = allCounterparties([step], counterparties);
  if (only === undefined) throw new Error("a call was made");
  return only;
}

function allCounterparties(steps: readonly Step[], counterparties: readonly CounterpartyFact[]) {
  const calls = callsOf(steps);
  return counterpartiesOf(rowsOf(calls, { counterparties }), calls, AHS_2026_2);
}
