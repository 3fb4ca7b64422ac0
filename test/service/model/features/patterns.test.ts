import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import type { OwnerLink } from "../../../../service/model/features/types.ts";
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
  WALLET,
  withFacts,
} from "./histories.ts";
import { measure, repeat } from "./measured.ts";

const healthy = repeat(400, 3 * HOUR, { at: START, to: account(9) });
const failing: Step = { at: START + 10 * DAY, ok: false };

describe("retry storm", () => {
  test.each([
    ["ten failures of one call within an hour", repeat(10, 399, failing), -1],
    ["forty of them", repeat(40, 60, failing), -3],
    ["nine of them", repeat(9, 60, failing), 0],
    ["ten over more than an hour", repeat(10, 401, failing), 0],
    [
      "ten of different methods",
      repeat(10, 60, failing).map((step, i) => ({ ...step, selector: `0x0000000${i % 2}` as const })),
      0,
    ],
    ["ten calls that succeed", repeat(10, 60, { ...failing, ok: true }), 0],
  ])("%s: %d points", (_, steps, effect) => {
    expect(effectOf("retry_storm", [...healthy, ...steps])).toBe(effect);
  });
});

describe("stale strategy", () => {
  test("fires where many failures follow three in a row of the same call", () => {
    const stubborn = repeat(240, 2 * HOUR, { ...failing, at: START + 40 * DAY });
    expect(effectOf("stale_strategy", [...healthy, ...stubborn])).toBe(
      AHS_2026_2.patterns.staleStrategy.effect,
    );
  });

  test("costs more with each blind failure, from nothing on", () => {
    const effects = Array.from({ length: 60 }, (_, blind) =>
      effectOf("stale_strategy", [
        ...healthy,
        ...repeat(blind, 2 * HOUR, { ...failing, at: START + 40 * DAY }),
      ]),
    );
    expect(effects[0]).toBe(0);
    expect(effects).toEqual(effects.toSorted((a, b) => b - a));
    const steps = effects.slice(1).map((effect, position) => (effects[position] ?? Number.NaN) - effect);
    expect(Math.max(...steps)).toBeLessThan(1);
  });

  test("does not fire where every third try succeeds", () => {
    const adapting = repeat(90, HOUR, { ...failing, at: START + 40 * DAY }).map((step, i) => ({
      ...step,
      ok: i % 3 === 2,
    }));
    expect(effectOf("stale_strategy", [...healthy, ...adapting])).toBe(0);
  });
});

/** Succeeded and all calls of late and of the window, and the two estimates in percent. */
const FIGURES =
  /^(\d+) of (\d+) .* days, (\d+) of (\d+) in the whole window; estimated success (?:under |over )?([\d.]+)% of late and (?:under |over )?([\d.]+)% /;

describe("cascading failure", () => {
  const collapse = repeat(120, 4 * HOUR, { at: START + 51 * DAY, to: account(9), ok: false });

  test("fires where a good wallet has failed most of its last calls", () => {
    const [pattern] = measure([...healthy, ...collapse]).patterns.filter(
      ({ name }) => name === "cascading_failure",
    );
    expect(pattern).toMatchObject({ severity: "critical", effect: -8 });
    const days = AHS_2026_2.success.recentHalfLifeDays;
    expect(pattern?.evidence).toMatch(
      new RegExp(
        `^0 of ${6 * days + 1} calls to others succeeded in the last ${days} days, 400 of 520 in the whole window; estimated success \\d+(\\.\\d)?% of late and \\d+(\\.\\d)?% in the window$`,
      ),
    );
  });

  test("is said only where success fell, by its own figures; elsewhere the same effect is low success", () => {
    const phases = fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 10 })), {
      ...{ minLength: 1, maxLength: 5 },
    });
    const said = new Set<string>();
    fc.assert(
      fc.property(phases, fc.integer({ min: 1, max: 20 }), (parts, hours) => {
        const outcomes = parts.flatMap(([calls, tenths]) =>
          Array.from({ length: calls }, (_, i) => (i * 7) % 10 < tenths),
        );
        const steps = repeat(outcomes.length, hours * HOUR, { at: START, to: account(9) });
        const found = measure(steps.map((step, i) => ({ ...step, ok: outcomes[i] === true }))).patterns;
        for (const { name, evidence } of found) {
          if (name !== "cascading_failure" && name !== "low_success") continue;
          said.add(name);
          const figures = evidence.match(FIGURES)?.slice(1).map(Number) ?? [];
          const [recent = NaN, ofRecent = NaN, whole = NaN, ofAll = NaN, late = NaN, before = NaN] = figures;
          const fellInCounts = recent * ofAll < whole * ofRecent;
          if (name === "cascading_failure") expect(fellInCounts && late <= before).toBe(true);
          else expect(fellInCounts && late < before).toBe(false);
        }
      }),
      { numRuns: 300 },
    );
    expect(said).toEqual(new Set(["cascading_failure", "low_success"]));
  });

  test("does not fire where the failures lie behind it", () => {
    const recovered = repeat(120, 3 * HOUR, { at: START + 72 * DAY, to: account(9) });
    expect(effectOf("cascading_failure", [...healthy, ...collapse, ...recovered])).toBe(0);
  });
});

describe("gas war casualty", () => {
  const war = (gasPrice: bigint, failed: number) =>
    repeat(120, HOUR, { at: START, gasPrice }).map((step, i) => ({ ...step, ok: i % 10 >= failed }));

  test("fires where much of the fees is burnt at high prices, and names the share", () => {
    expect(effectOf("gas_war_casualty", war(3n * GWEI, 3))).toBe(AHS_2026_2.patterns.gasWarCasualty.effect);
    const [pattern] = measure(war(3n * GWEI, 3)).patterns.filter(({ name }) => name === "gas_war_casualty");
    expect(pattern?.evidence).toMatch(
      /^30% of its fees burnt by failures, an estimated \d+(\.\d)?% once weighed; prices paid are worth \d+ of 100 points$/,
    );
  });

  test.each([
    ["where prices are near the market's", war((GWEI * 3n) / 2n, 3)],
    ["where little is burnt", war(3n * GWEI, 1)],
    [
      "where no block tells the market's price",
      war(3n * GWEI, 3).map((step) => ({ ...step, marketPrice: null })),
    ],
  ])("does not fire %s", (_, steps) => {
    expect(effectOf("gas_war_casualty", steps)).toBe(0);
  });
});

describe("self-dealing ring", () => {
  const { selfDealingRing: rule } = AHS_2026_2.patterns;
  const calls = (times: number, number: number) => repeat(times, HOUR, { at: START, to: account(number) });
  const pays = (times: number, numbers: readonly number[]) =>
    Array.from({ length: times }, (_, i) =>
      payment(START + i * HOUR, account(numbers[i % numbers.length] ?? 0), 9_000_000n),
    );
  const others = (times: number) => calls(times, 9);
  const measureRing = (
    steps: readonly Step[],
    ownerLink: OwnerLink = "first_funder",
    owned: readonly number[] = [50, 51, 52, 53, 54],
  ) =>
    measureWallet(
      withFacts(rowsOf(callsOf(steps)), new Map(owned.map((number) => [account(number), { ownerLink }]))),
      AHS_2026_2,
    );
  const isSaid = (...of: Parameters<typeof measureRing>) =>
    measureRing(...of).patterns.some(({ name }) => name === "self_dealing_ring");

  test.each([
    ["is said of all of many calls within the owner's accounts", 80, 0, true],
    ["is said of more than four tenths", 45, 60, true],
    ["is not said of a third of them", 40, 80, false],
    ["is not said of few calls, which make no ring", rule.calls - 1, 0, false],
  ])("%s: %d own and %d others", (_, mine, theirs, said) => {
    expect(isSaid([...calls(mine, 50), ...others(theirs)])).toBe(said);
  });

  test("costs no points, and takes the label of a healthy operator away", () => {
    const { patterns } = measureRing([...calls(300, 50), ...others(300)]);
    expect(patterns.map(({ name, severity, effect }) => [name, severity, effect])).toEqual([
      ["self_dealing_ring", "critical", 0],
    ]);
  });

  test("has a share that grows with each own call, in small steps", () => {
    const shares = Array.from(
      { length: 140 },
      (_, mine) => measureRing([...calls(mine, 50), ...others(60)]).evidence.ringShare,
    );
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    const steps = shares.slice(1).map((share, position) => share - (shares[position] ?? Number.NaN));
    expect(Math.max(...steps)).toBeLessThan(0.02);
    expect(shares.at(-1)).toBeGreaterThan(rule.share.begins);
  });

  test("counts calls to oneself as well", () => {
    expect(isSaid(repeat(60, HOUR, { at: START, to: WALLET }))).toBe(true);
  });

  test("is not a seller that sweeps its income to one treasury, whatever share of its calls that is", () => {
    for (const sold of [0, 20, 200]) {
      const steps = [...pays(300, [50]), ...others(sold)];
      expect(isSaid(steps)).toBe(false);
      expect(measureRing(steps).evidence.ringShare).toBe(0);
    }
    const coin = repeat(300, HOUR, { at: START, to: account(50), selector: null, value: 10n ** 16n });
    expect(isSaid(coin)).toBe(false);
  });

  test("is payments among five accounts of the owner, which no one of them takes most of", () => {
    expect(measureRing(pays(300, [50, 51, 52, 53, 54])).evidence.ringShare).toBe(1);
    // Sweeps to a sixth do not hide it.
    const owned = [50, 51, 52, 53, 54, 55];
    expect(isSaid([...pays(300, owned.slice(0, 5)), ...pays(900, [55])], "first_funder", owned)).toBe(true);
  });

  test("is said of payments among five accounts in any order, and never of as many to one of them", () => {
    const ring = fc.record({
      order: fc.array(fc.integer({ min: 50, max: 54 }), { minLength: 150, maxLength: 300 }),
      // One call to others for each four among the five at most.
      others: fc.integer({ min: 0, max: 35 }),
    });
    const inOrder = (order: readonly number[]) =>
      order.map((number, i) => payment(START + i * HOUR, account(number), 9_000_000n));
    fc.assert(
      fc.property(ring, ({ order, others: times }) => {
        fc.pre(
          [50, 51, 52, 53, 54].every(
            (number) => 3 * order.filter((one) => one === number).length < order.length,
          ),
        );
        expect(isSaid([...inOrder(order), ...others(times)])).toBe(true);
        expect(isSaid([...inOrder(order.map(() => 50)), ...others(times)])).toBe(false);
      }),
      { numRuns: 30 },
    );
  });

  test("is payments among four accounts as they come, and among two", () => {
    for (const owned of [
      [50, 51, 52],
      [50, 51],
    ]) {
      const { evidence } = measureRing([...pays(300, owned), ...others(100)]);
      expect(evidence.ringShare).toBeCloseTo(0.75, 1);
    }
  });

  test("is payments to an account that funds the wallet as well, and calls of an own contract", () => {
    expect(isSaid(pays(300, [50]), "mutual_funding")).toBe(true);
    expect(isSaid(calls(300, 50))).toBe(true);
  });
});

test("no pattern raises a score", () => {
  const found = [healthy, [...healthy, ...repeat(40, 60, failing)]].flatMap(
    (steps) => measure(steps).patterns,
  );
  expect(found.length).toBeGreaterThan(1);
  expect(found.filter(({ effect }) => effect > 0)).toEqual([]);
});

function effectOf(name: string, steps: readonly Step[]): number {
  return measure(steps).patterns.find((pattern) => pattern.name === name)?.effect ?? 0;
}

const good = repeat(400, 3 * HOUR, { at: START, to: account(9) });
const LAST = START + 399 * 3 * HOUR;
const bad = repeat(120, 3 * HOUR, { at: LAST + HOUR, ok: false });
const mended = repeat(160, 3 * HOUR, { at: LAST + 16 * DAY, to: account(9) });

describe("zombie", () => {
  test.each([
    [30, ["zombie"]],
    [29, ["healthy_operator"]],
  ])("is said of a wallet whose services answer %d days after its last call: %j", (days, labels) => {
    expect(labelsOf(good, LAST + days * DAY)).toEqual(labels);
  });

  test("is not said where no service is known, nor of a wallet that never called", () => {
    expect(labelsOf(good, null)).toEqual(["healthy_operator"]);
    expect(labelsOf([], LAST)).toEqual([]);
  });
});

describe("recovery in progress", () => {
  test("is said of a wallet that was bad and has been good of late", () => {
    expect(labelsOf([...good, ...bad, ...mended])).toEqual(["recovery_in_progress"]);
  });

  test("is not said while it is still bad, nor of one that was never bad", () => {
    expect(labelsOf([...good, ...bad])).toEqual([]);
    expect(labelsOf([...good, ...mended])).toEqual(["healthy_operator"]);
  });
});

describe("healthy operator", () => {
  test("is said of much evidence that is nearly all good", () => {
    expect(labelsOf(good)).toEqual(["healthy_operator"]);
  });

  test("names the number of calls that succeeded, and the model's estimate as such", () => {
    const evidence = measure(good).patterns.map((pattern) => pattern.evidence);
    expect(evidence).toEqual([
      expect.stringMatching(/^400 of 400 calls to others succeeded; estimated success 9\d\.\d%$/),
    ]);
  });

  test.each([
    ["of little evidence", good.slice(0, 29)],
    ["of one that fails one call in ten", good.map((step, i) => ({ ...step, ok: i % 10 > 0 }))],
    ["of one with a retry storm", [...good, ...repeat(10, 60, { at: START, ok: false })]],
  ])("is not said %s", (_, steps) => {
    expect(labelsOf(steps)).toEqual([]);
  });
});

test("healthy operator does not fire for a wallet with volume to a mixer, nor for one whose counterparties are unknown", () => {
  const rows = rowsOf(callsOf(good));
  const listed = new Map([[account(9), { flag: "mixer" as const }]]);
  const unused = new Map([[account(9), { outsideUsers: 1, existedAt: null, fundedFromOutside: null }]]);
  for (const facts of [listed, unused]) {
    expect(measureWallet(withFacts(rows, facts), AHS_2026_2).patterns).toEqual([]);
  }
});

test("a label costs nothing", () => {
  const effects = [good, [...good, ...bad, ...mended]].flatMap((steps) =>
    measure(steps).patterns.filter(({ severity }) => severity === "info"),
  );
  expect(effects.map(({ effect }) => effect)).toEqual([0, 0]);
});

function labelsOf(steps: readonly Step[], servicesUpAt: number | null = null): readonly string[] {
  const { patterns } = measure(steps, { servicesUpAt });
  return patterns.filter(({ severity }) => severity === "info").map(({ name }) => name);
}
