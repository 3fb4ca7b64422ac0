import { describe, expect, test } from "vitest";
import { measureWallet } from "../../../../service/model/features/score-wallet.ts";
import { AHS_2026_1 } from "../../../../service/model/score/policy.ts";
import { account, callsOf, DAY, HOUR, rowsOf, START, type Step, withFacts } from "./histories.ts";
import { measure, repeat } from "./measured.ts";

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

  test("tells how many calls succeeded, and the model's estimate as one", () => {
    const evidence = measure(good).patterns.map((pattern) => pattern.evidence);
    expect(evidence).toEqual([
      expect.stringMatching(/^400 of 400 calls to others succeeded; estimated success 9\d\.\d %$/),
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

test("healthy operator is not said of a wallet with volume to a mixer, nor of one that deals with nobody known", () => {
  const rows = rowsOf(callsOf(good));
  const listed = new Map([[account(9), { flag: "mixer" as const }]]);
  const unused = new Map([[account(9), { outsideUsers: 1, existedAt: null, fundedFromOutside: null }]]);
  for (const facts of [listed, unused]) {
    expect(measureWallet(withFacts(rows, facts), AHS_2026_1).patterns).toEqual([]);
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
