import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { lostRaceMicros } from "../../../../service/model/features/lost-races.ts";
import { createMarket } from "../../../../service/model/features/market.ts";
import { scoreWallet } from "../../../../service/model/features/score-wallet.ts";
import type { TokenList, TokenMove } from "../../../../service/model/features/types.ts";
import { weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  account,
  asOfLast,
  callsOf,
  DAY,
  rowsOf,
  START,
  type Step,
  TOKENS,
  UNPRICED,
  USDC,
} from "./histories.ts";

/** A dollar each, as USDC. */
const DAI = account(0xc2);
const PRICED: TokenList = {
  ...TOKENS,
  tokens: [...TOKENS.tokens, { address: DAI, symbol: "DAI", decimals: 6, prices: [[0, 1_000_000]] }],
};

/** A step, and the number of its (contract, method); by default the same for all. */
type Try = Omit<Step, "at"> & { readonly kind?: number };

const WON: Try = { gasUsed: 300_000n, moves: [{ token: USDC, amount: 5_000_000n }] };
const LOST: Try = { ok: false, effect: "none", gasUsed: 100_000n };

describe("a failure is a lost race", () => {
  test("if a call of its kind gained, with three times its gas", () => {
    expect(sharesOf(WON, LOST)).toEqual([0, 1_000_000]);
    expect(sharesOf(LOST, WON)).toEqual([1_000_000, 0]);
  });

  test.each<readonly [string, Try, Try]>([
    ["where nothing was gained", { gasUsed: 300_000n }, LOST],
    ["where another (contract, method) gained", { ...WON, kind: 1 }, LOST],
    ["that used more than a third of the gas", WON, { ...LOST, gasUsed: 100_001n }],
    ["that sent coin", WON, { ...LOST, value: 1n }],
    ["that paid", WON, { ...LOST, recipient: account(9), amount: 1n }],
    ["that is a plain transfer", WON, { ...LOST, selector: null }],
    ["where the receipt of the gain is not known", { ...WON, read: false }, LOST],
    ["where less than a cent was gained", { ...WON, moves: [moved(USDC, 9_999n)] }, LOST],
    ["where the gain has no price", { ...WON, moves: [moved(UNPRICED, 5_000_000n)] }, LOST],
    ["where coin was given for it", { ...WON, value: 1n }, LOST],
    [
      "where less than 3% was gained",
      { ...WON, moves: [moved(DAI, 102_999_999n), moved(USDC, -100_000_000n)] },
      LOST,
    ],
  ])("but not one %s", (_, won, lost) => {
    expect(sharesOf(won, lost)).toEqual([0, 0]);
  });

  test("where 3% was gained", () => {
    const moves = [moved(DAI, 103_000_000n), moved(USDC, -100_000_000n)];
    expect(sharesOf({ ...WON, moves }, LOST)).toEqual([0, 1_000_000]);
  });

  test("but not after three others in a row", () => {
    const won = Array.from({ length: 9 }, () => WON);
    expect(sharesOf(...won, LOST, LOST, LOST, LOST, WON, LOST).slice(9)).toEqual([
      ...[1_000_000, 1_000_000, 1_000_000, 0],
      ...[0, 1_000_000],
    ]);
  });

  test("in part where failures of its kind count more than the gains", () => {
    expect(sharesOf(WON, LOST, LOST)).toEqual([0, 500_000, 500_000]);
    // A failure that is no race itself takes from the others.
    const dear = { ...LOST, gasUsed: 200_000n };
    expect(sharesOf(WON, LOST, dear)).toEqual([0, 500_000, 0]);
  });

  test("by the gains of enough gas alone", () => {
    const small = { ...WON, gasUsed: 90_000n };
    const cheap = { ...LOST, gasUsed: 30_000n };
    const shares = sharesOf(WON, small, LOST, cheap, small, LOST, { ...LOST, gasUsed: 1n });
    expect(shares).toEqual([0, 0, 250_000, 750_000, 0, 250_000, 750_000]);
  });
});

test("a lost race counts a tenth of a failure", () => {
  const credits = weighed(WON, WON, LOST, { ...LOST, gasUsed: 200_000n }).map(({ credit }) => credit);
  expect(credits).toEqual([999_023, 999_023, 99_902, 999_023]);
});

describe("any history of one kind of call", () => {
  const attempt = fc.record({
    ok: fc.boolean(),
    gasUsed: fc.constantFrom(30_000n, 90_000n, 100_000n, 300_000n),
    value: fc.constantFrom(0n, 0n, 0n, 1n),
    moves: fc.constantFrom([], [moved(USDC, 5_000_000n)], [moved(USDC, -5_000_000n)]),
    kind: fc.constantFrom(0, 0, 1),
  });
  const attempts = fc.array(attempt, { minLength: 1, maxLength: 30 });

  test("has no more of a race in any failure after one success more turned into a failure", () => {
    fc.assert(
      fc.property(attempts, fc.nat(), (tries, pick) => {
        const chosen = pick % tries.length;
        const before = sharesOf(...tries);
        const after = sharesOf(...tries.map((one, i) => (i === chosen ? { ...one, ok: false } : one)));
        for (const [i, share] of after.entries()) {
          if (i !== chosen || tries[i]?.ok === false) expect(share).toBeLessThanOrEqual(before[i] ?? 0);
        }
      }),
    );
  });

  test("has the same lost races whatever credit others give to the contract", () => {
    fc.assert(
      fc.property(attempts, fc.integer({ min: 1, max: 999_999_999 }), (tries, counted) => {
        expect(sharesBy(counted, tries)).toEqual(sharesOf(...tries));
      }),
    );
  });

  test("has no more lost races than gains", () => {
    fc.assert(
      fc.property(attempts, (tries) => {
        const same = tries.filter(({ kind }) => kind === 0);
        const gains = same.filter(({ ok, moves }) => ok && moves.some(({ amount }) => amount > 0n)).length;
        const races = sharesOf(...same).reduce((sum, share) => sum + share, 0) / 1e6;
        expect(races).toBeLessThanOrEqual(gains + 1e-4);
      }),
    );
  });
});

test("no wallet scores higher with lost races added", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          gap: fc.integer({ min: 600, max: 4 * DAY }),
          ok: fc.boolean(),
          kind: fc.nat({ max: 2 }),
        }),
        {
          ...{ minLength: 3, maxLength: 50 },
        },
      ),
      fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
      (races, picks) => {
        let at = START;
        const steps = races.map(({ gap, ok, kind }): Step => {
          at += gap;
          return { ...(ok ? WON : LOST), at, to: account(30 + kind) };
        });
        const added = picks.map((pick): Step => {
          // Never after the last one, which every age is counted from.
          const { at: near, to } = steps[pick % steps.length] ?? { at, to: null };
          return { ...LOST, at: near - 1 - (pick % 60), to: to ?? null };
        });
        expect(scoreOf([...steps, ...added])).toBeLessThanOrEqual(scoreOf(steps));
      },
    ),
  );
});

function scoreOf(steps: readonly Step[]): number {
  const { confidence } = AHS_2026_2;
  const least = { low: 0, minOwnCalls: 0, minWeight: 0, minDays: 0 };
  const rows = rowsOf(callsOf(steps));
  const policy = { ...AHS_2026_2, confidence: { ...confidence, ...least } };
  const { outcome } = scoreWallet({ rows, asOf: asOfLast(rows.calls), policy });
  return outcome.kind === "scored" ? outcome.ahsScore : Number.NaN;
}

function moved(token: TokenMove["token"], amount: bigint): TokenMove {
  return { token, amount };
}

function sharesOf(...tries: readonly Try[]): readonly number[] {
  return sharesBy(1e9, tries);
}

function sharesBy(counted: number, tries: readonly Try[]): readonly number[] {
  const calls = callsOf(tries.map(({ kind: _, ...step }, i) => ({ ...step, at: START + i })));
  const attempts = calls.map((call, i) => ({ call, method: tries[i]?.kind ?? 0, counted }));
  return lostRaceMicros(attempts, createMarket(PRICED), AHS_2026_2);
}

function weighed(...tries: readonly Try[]) {
  const rows = rowsOf(callsOf(tries.map((step, i) => ({ ...step, at: START + i }))));
  return weighCalls(rows, createMarket(TOKENS), AHS_2026_2).outside;
}
