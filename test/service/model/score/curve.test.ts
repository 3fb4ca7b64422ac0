import { expect, test } from "vitest";
import { featureCurves, readCurve } from "../../../../service/model/score/curve.ts";
import { AHS_2026_2 } from "../../../../service/model/score/policy.ts";

const CURVE = [
  [0.6, 0],
  [0.8, 35],
  [1, 100],
] as const;

test.each([
  ["before the first anchor", 0, 0],
  ["at an anchor", 0.8, 35],
  ["between anchors", 0.7, 17.5],
  ["after the last anchor", 2, 100],
])("%s", (_, x, y) => {
  expect(readCurve(CURVE, x)).toBeCloseTo(y, 10);
});

test("a curve needs an anchor", () => {
  expect(() => readCurve([], 1)).toThrow("a curve needs an anchor");
});

test("names the curves of every feature of the model", () => {
  const curves = [...featureCurves(AHS_2026_2)].map(([feature, read]) => [
    feature,
    ...read.map(({ name }) => name),
  ]);
  expect(curves).toEqual([
    ["success_rate", "success"],
    ["gas_efficiency", "waste", "price", "limit"],
    ["portfolio_quality", "quality"],
    ["dust_and_spam", "dust"],
    ["risk_flags"],
    ["timing_regularity", "burst", "silence"],
    ["counterparty_diversity", "diversity"],
    ["adaptation", "blind", "out_of_gas", "overpay"],
    ["failure_recovery", "delay", "burden"],
    ["consistency", "activity", "week"],
  ]);
});

test("throws for a feature that the model does not have", () => {
  const [first] = AHS_2026_2.features;
  if (first === undefined) throw new Error("the policy has features");
  const policy = { ...AHS_2026_2, features: [{ ...first, name: "charm" }] };
  expect(() => featureCurves(policy)).toThrow("no feature is named charm");
});
