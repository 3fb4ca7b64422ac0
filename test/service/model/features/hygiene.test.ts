import { describe, expect, test } from "vitest";
import { exposedShare } from "../../../../service/model/features/exposure.ts";
import { createMarket } from "../../../../service/model/features/market.ts";
import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import type { CounterpartyFact, OpenApproval, WalletRows } from "../../../../service/model/features/types.ts";
import { weighCalls } from "../../../../service/model/features/weigh-calls.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";
import {
  account,
  callsOf,
  DAY,
  GWEI,
  HOUR,
  payment,
  rowsOf,
  START,
  type Step,
  USDC,
  withFacts,
} from "./histories.ts";
import { featureOf, measureFeature, pointsOf, repeat } from "./measured.ts";

test("starts from 9 of 10, so that one call proves nothing either way", () => {
  const { prior, recentPriorCalls, recentShare } = AHS_2026_2.success;
  const credit = 0.999023;
  const rateOf = (ok: boolean) => measureFeature("success_rate", [{ at: START, ok }]).value;
  expect(rateOf(true)).toBeCloseTo((prior.successes + credit) / (prior.calls + credit), 5);
  // The whole rate, drawn towards the recent one, which starts from the whole.
  const whole = prior.successes / (prior.calls + credit);
  const recent = (recentPriorCalls * whole) / (recentPriorCalls + credit);
  expect(rateOf(false)).toBeCloseTo((1 - recentShare) * whole + recentShare * recent, 5);
});

test("weighs a failure and a success alike by the credit of whom they went to", () => {
  const steps = repeat(100, HOUR, { at: START }).map((step, i) => ({ ...step, ok: i % 20 > 0 }));
  const rateAt = (outsideUsers: number) =>
    featureOf(
      "success_rate",
      measureWallet(
        withFacts(rowsOf(callsOf(steps)), new Map([[account(1000), { outsideUsers }]])),
        AHS_2026_2,
      ),
    ).value;
  expect(Math.abs((rateAt(0) ?? 0) - (rateAt(30) ?? 1))).toBeLessThan(0.05);
});

test("is the share that succeeded, by weight", () => {
  const steps = [...repeat(90, 60, { at: START }), ...repeat(10, 60, { at: START + 30 * HOUR, ok: false })];
  const { value } = measureFeature("success_rate", steps);
  expect(value).toBeLessThan(0.9);
  expect(value).toBeGreaterThan(0.7);
});

test("is pulled down by bad last days, but not up by good ones", () => {
  const good = repeat(200, 6 * HOUR, { at: START });
  const bad = repeat(60, 6 * HOUR, { at: START + 60 * DAY, ok: false });
  const steady = measureFeature("success_rate", [...good, ...bad]).value;
  const improved = measureFeature("success_rate", [
    ...repeat(60, 6 * HOUR, { at: START, ok: false }),
    ...repeat(200, 6 * HOUR, { at: START + 20 * DAY }),
  ]).value;
  const all = (260 - 60 + 9) / (260 + 10);
  expect(steady).toBeLessThan(all - 0.2);
  // Only the decay of the old failures lifts it; its last 14 days are without a failure.
  expect(improved).toBeLessThan(0.95);
});

test("of a wallet that called no other account cannot be measured", () => {
  expect(measureFeature("success_rate", [])).toEqual({
    name: "success_rate",
    state: "not_applicable",
    value: null,
    scoreMicros: null,
    samples: 0,
    reason: "the wallet made no call to anyone else in the window",
  });
});

const call = { at: START, gasLimit: 100_000n, gasUsed: 80_000n, fee: 1_000n };
const unpriced = { ...call, marketPrice: null };

describe("gas efficiency", () => {
  test("is whole without failures, at the market's price and with tight limits", () => {
    expect(pointsOf("gas_efficiency", repeat(24, 60, call))).toBe(100);
  });

  test("counts the fees that failures burnt, over all fees and twenty mean ones", () => {
    const failed = { ...call, at: START + 30, ok: false };
    // 2 of 10 calls failed: 2 / (2 + 8 + 20).
    const { value } = measureFeature("gas_efficiency", [...repeat(8, 1, call), ...repeat(2, 1, failed)]);
    expect(value).toBeCloseTo(2 / 30, 3);
  });

  /** Signed by the wallet and sent by another account, which chose and paid the gas. */
  const signed: Step = {
    ...{
      at: START,
      to: USDC,
      position: 1,
      selector: "0xe3ee160e",
      recipient: account(1000),
      amount: 5_000_000n,
    },
    ...{ gasLimit: 0n, gasUsed: 0n, gasPrice: 0n, fee: 0n, marketPrice: null, effect: "transfer" },
    ...{ emitters: [USDC], moves: [{ token: USDC, amount: -5_000_000n }] },
  };

  test("does not apply to a wallet that only signed payments", () => {
    expect(measureFeature("gas_efficiency", repeat(20, 60, signed))).toMatchObject({
      ...{ state: "not_applicable", samples: 0, reason: "others paid the gas of all its calls" },
    });
    expect(pointsOf("success_rate", repeat(200, 60, signed))).toBeGreaterThan(90);
  });

  test("is the same with and without signed payments beside the calls that paid gas", () => {
    const calls = [
      ...repeat(9, 60, { ...call, gasPrice: 2n * GWEI }),
      { ...call, at: START + 30, ok: false },
    ];
    const mixed = pointsOf("gas_efficiency", [...calls, ...repeat(9, 50, signed)]);
    expect(mixed).toBeCloseTo(pointsOf("gas_efficiency", calls), 3);
  });

  test("counts a dear failure more than a cheap one", () => {
    const steps = (fee: bigint) => [...repeat(20, 1, call), { ...call, at: START + 30, ok: false, fee }];
    expect(pointsOf("gas_efficiency", steps(50_000n))).toBeLessThan(
      pointsOf("gas_efficiency", steps(100n)) - 15,
    );
  });

  test.each([
    [0.01, 10],
    [0.06, 25],
    [0.25, 70],
    [0.4, 100],
    [1, 100],
  ])("gives %d of the limit used %d points in its 15 percent", (share, points) => {
    const gasUsed = BigInt(1_000_000 * share);
    const score = pointsOf("gas_efficiency", repeat(12, 60, { ...call, gasLimit: 1_000_000n, gasUsed }));
    expect(score).toBeCloseTo(85 + 0.15 * points, 4);
  });

  test.each([
    [125, 100],
    [150, 85],
    [200, 60],
    [400, 15],
    [500, 0],
    [2_000, 0],
  ])("gives %d %% of the market's price %d points in its 35 percent", (percent, points) => {
    const gasPrice = (GWEI * BigInt(percent)) / 100n;
    expect(pointsOf("gas_efficiency", repeat(12, 60, { ...call, gasPrice }))).toBeCloseTo(
      65 + 0.35 * points,
      4,
    );
  });

  test("judges the prices of failed calls as well", () => {
    const dear = { ...call, gasPrice: 10n * GWEI, ok: false, fee: 0n };
    const steps = (gasPrice: bigint) => [...repeat(10, 60, call), ...repeat(10, 60, { ...dear, gasPrice })];
    expect(pointsOf("gas_efficiency", steps(5n * GWEI))).toBeCloseTo(
      pointsOf("gas_efficiency", steps(GWEI)) - 17.5,
      2,
    );
  });

  test("without the market's price is waste and limits alone, and says so", () => {
    const gasUsed = 10_000n;
    const feature = measureFeature("gas_efficiency", repeat(10, 60, { ...unpriced, gasUsed }));
    expect(feature).toMatchObject({
      state: "measured",
      scoreMicros: 1e6 * (77 + 0.23 * 40),
      inputs: { burnt_share: 0, estimated_burnt_share: 0, burnt_fees_points: 100, gas_limit_points: 40 },
    });
    expect(pointsOf("gas_efficiency", repeat(10, 60, { ...call, read: false, gasUsed }))).toBeCloseTo(
      86.2,
      4,
    );
  });

  test("compares prices where some blocks have one, in full from ten of them on", () => {
    const pointsWith = (priced: number) =>
      pointsOf("gas_efficiency", [
        ...repeat(10, 60, unpriced),
        ...repeat(priced, 1, { ...call, at: START + 700, gasPrice: 5n * GWEI }),
      ]);
    for (const priced of [1, 4, 9]) expect(pointsWith(priced)).toBeCloseTo(100 - 3.5 * priced, 2);
    for (const priced of [11, 20]) expect(pointsWith(priced)).toBe(65);
  });

  test("takes no more from one failure, however dear it was", () => {
    const steps = (fee: bigint) => [...repeat(100, 1, call), { ...call, at: START + 300, ok: false, fee }];
    const [usual, dear, dearest] = [1_000n, 10_000n, 10n ** 9n].map((fee) =>
      pointsOf("gas_efficiency", steps(fee)),
    ) as [number, number, number];
    expect(dear).toBeLessThan(usual);
    expect(usual - dearest).toBeLessThan(15);
  });

  test("counts dear failures in full where most are", () => {
    const steps = (times: number) =>
      repeat(100, 1, call).map((step, i) => (i < times ? { ...step, ok: false, fee: 8_000n } : step));
    expect(measureFeature("gas_efficiency", steps(50)).value ?? 0).toBeGreaterThan(0.45);
  });

  test("burns nothing on a chain without fees", () => {
    const steps = [...repeat(9, 60, { ...call, fee: 0n }), { ...call, at: START + 900, ok: false, fee: 0n }];
    expect(measureFeature("gas_efficiency", steps)).toMatchObject({ value: 0, state: "measured" });
  });
});

const SPENDER = account(70);
const calls = repeat(10, DAY, { at: START });
const approval: OpenApproval = { token: USDC, spender: SPENDER, kind: "amount", approvedAt: START };

describe("an unlimited approval", () => {
  test.each<readonly [string, Partial<CounterpartyFact>, number]>([
    ["to a spender that is old and used", {}, 100],
    ["to one that was a month old, used by three", { existedAt: START - 30 * DAY, outsideUsers: 3 }, 100],
    ["to one that was younger", { existedAt: START - 30 * DAY + 1 }, 75],
    ["to one that is not shown to have existed", { existedAt: null }, 75],
    ["to one that two others use", { outsideUsers: 2 }, 75],
    ["to an own contract", { outsideUsers: 0, existedAt: null, ownerLink: "creator" }, 100],
  ])("%s leaves %s points", (_, parts, points) => {
    expect(flags({ approvals: [approval] }, [[SPENDER, parts]]).points).toBe(points);
  });

  test("to a listed token's contract needs no users, but age", () => {
    const toListed = { approvals: [{ ...approval, spender: USDC }] };
    expect(flags(toListed, [[USDC, { outsideUsers: 0 }]]).points).toBe(100);
    expect(flags(toListed, [[USDC, { existedAt: START }]]).points).toBe(75);
  });

  test("to a spender of whom no fact is known costs the same", () => {
    expect(flags({ approvals: [approval], counterparties: [] }).points).toBe(75);
  });

  test("costs 25 points each, to nothing", () => {
    const many = (count: number) => ({
      approvals: Array.from({ length: count }, (_, i) => ({ ...approval, token: account(80 + i) })),
    });
    const young = [[SPENDER, { existedAt: null }]] as const;
    expect([1, 2, 4, 5].map((count) => flags(many(count), young).points)).toEqual([75, 50, 0, 0]);
  });
});

describe("a delegation", () => {
  const delegated = { delegation: { to: account(71) } };
  const left = 100 - AHS_2026_2.riskFlags.delegation;

  test.each<readonly [string, Partial<CounterpartyFact>, number]>([
    ["to known code", {}, 100],
    ["to code younger than a month at the last call", { existedAt: START + 9 * DAY - 30 * DAY + 1 }, left],
    ["to code that nobody else uses", { outsideUsers: 0 }, left],
  ])("%s leaves %s points", (_, parts, points) => {
    expect(flags(delegated, [[account(71), parts]]).points).toBe(points);
  });

  test("to code of which nothing is known costs the same", () => {
    expect(flags({ ...delegated, counterparties: [] })).toMatchObject({
      points: left,
      inputs: { risky_approvals: 0, risky_delegations: 1, listed_share: 0 },
    });
  });
});

describe("volume to listed accounts", () => {
  const pays = (to: number, dollars: bigint): Step => payment(START, account(to), dollars * 1_000_000n);
  const mixer = [[account(66), { flag: "mixer" }]] as const;
  const share = (steps: readonly Step[]) => flags({}, mixer, steps);

  test.each<readonly [string, readonly Step[], number]>([
    ["none", [pays(9, 100n)], 0],
    ["a tenth, paid", [pays(9, 90n), pays(66, 10n)], 0.1],
    ["a tenth, in native coin", [pays(9, 90n), { at: START, to: account(66), value: 5n * 10n ** 15n }], 0.1],
    ["a tenth, failed", [pays(9, 90n), { ...pays(66, 10n), ok: false, moves: [], effect: "none" }], 0.1],
    ["a tenth, unread", [pays(9, 90n), { ...pays(66, 10n), read: false }], 0.1],
    [
      "a tenth, through a router",
      [
        pays(9, 90n),
        {
          at: START,
          to: account(9),
          emitters: [account(66)],
          moves: [{ token: USDC, amount: -10_000_000n }],
        },
      ],
      0.1,
    ],
    [
      "a tenth, native coin through a router that logs and wraps it",
      [
        pays(9, 90n),
        { at: START, to: account(9), value: 5n * 10n ** 15n, emitters: [account(9), USDC, account(66)] },
      ],
      0.1,
    ],
    ["half of all", [pays(9, 10n), pays(66, 10n)], 0.5],
    [
      "one call of four, where nothing has a price",
      [...repeat(3, DAY, { at: START }), { at: START, to: account(66) }],
      0.25,
    ],
  ])("of %s", (_, steps, exposed) => {
    const { exposed: found, points } = share(steps);
    expect(found).toBe(exposed);
    expect(points).toBe(100 - 200 * exposed);
  });

  test("is not diluted by a failed payment of a fortune to another account, and counts one to a listed account", () => {
    const fortune = (to: number) => ({ ...pays(to, 10n ** 12n), ok: false });
    expect(share([pays(9, 90n), pays(66, 10n), fortune(9)]).exposed).toBe(0.1);
    expect(share([pays(9, 90n), fortune(66)]).exposed).toBeGreaterThan(0.99);
  });

  test("is not diluted by what stays with the owner, nor by a payment next to calls without a price", () => {
    const own = [account(50), { ownerLink: "first_funder" }] as const;
    const mixer = [account(66), { flag: "mixer" }] as const;
    const within = flags({}, [own, mixer], [pays(9, 50n), pays(66, 50n), pays(50, 10n ** 9n)]);
    expect(within.exposed).toBe(0.5);
    const silent = repeat(3, DAY, { at: START, to: account(66) });
    expect(share([...silent, pays(9, 1n)]).exposed).toBe(0.75);
  });

  const spent = { token: USDC, amount: -1_000_000_000n };
  test.each<readonly [string, Partial<Step>]>([
    [
      "the hook of a pool that a swap goes through",
      { emitters: [USDC, account(80), account(66)], moves: [spent, { token: account(81), amount: 5n }] },
    ],
    [
      "the hook of a pool that liquidity is added to",
      { emitters: [USDC, account(80), account(66)], moves: [spent] },
    ],
    [
      "a router that gives something back",
      { emitters: [USDC, account(66)], moves: [spent, { token: account(81), amount: 5n }] },
    ],
    ["a contract that was sent nothing", { emitters: [account(9), account(66)] }],
    [
      "a contract whose own token claims to have left the wallet",
      { emitters: [account(9), account(66)], moves: [{ token: account(9), amount: -5n }] },
    ],
  ])("is not what %s does with a mixer in the wallet's call", (_, step) => {
    const { exposed, points } = share([
      pays(9, 90n),
      { at: START, to: account(9), effect: "other", ...step },
    ]);
    expect([exposed, points]).toEqual([0, 100]);
  });

  test("to a sanctioned account counts alike", () => {
    const { exposed } = flags({}, [[account(66), { flag: "sanctioned" }]], [pays(9, 90n), pays(66, 10n)]);
    expect(exposed).toBe(0.1);
  });
});

describe("risk flags", () => {
  test("without any are whole", () => {
    expect(flags({})).toMatchObject({
      points: 100,
      inputs: { risky_approvals: 0, risky_delegations: 0, listed_share: 0 },
    });
  });

  test("are unknown where approvals or code were not read, while the exposure still counts", () => {
    const paid = [payment(START, account(66), 1_000_000n)];
    const mixer = [[account(66), { flag: "mixer" }]] as const;
    for (const unread of [{ approvals: null }, { delegation: null }]) {
      const { state, exposed } = flags(unread, mixer, paid);
      expect(state).toBe("unknown");
      expect(exposed).toBe(1);
    }
  });

  test("count all that was found", () => {
    const { inputs } = flags(
      { approvals: [approval], delegation: { to: account(71) } },
      [
        [SPENDER, { existedAt: null }],
        [account(71), { existedAt: null }],
        [account(66), { flag: "mixer" }],
      ],
      [payment(START, account(66), 1_000_000n)],
    );
    expect(inputs).toEqual({ risky_approvals: 1, risky_delegations: 1, listed_share: 1 });
  });
});

function flags(
  parts: Partial<WalletRows>,
  facts: Iterable<readonly [WalletRows["wallet"], Partial<CounterpartyFact>]> = [],
  steps: readonly Step[] = calls,
) {
  const rows = withFacts(rowsOf(callsOf(steps), parts), new Map(facts));
  const feature = featureOf("risk_flags", measureWallet(rows, AHS_2026_2));
  const { scoreMicros, state } = feature;
  const inputs = feature.state === "measured" ? feature.inputs : undefined;
  const market = createMarket(rows.tokens);
  const exposed = exposedShare(weighCalls(rows, market, AHS_2026_2), rows, market);
  return { exposed, inputs, state, points: scoreMicros === null ? null : scoreMicros / 1_000_000 };
}
