import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readPolicy } from "../../../bin/score/read-policy.ts";
import { AHS_2026_2 } from "../../../service/model/score/policy.ts";
import { useFolder } from "../../support/use-folder.ts";

const folder = useFolder();

function fileOf(text: string): string {
  const path = join(folder, "policy.json");
  writeFileSync(path, text);
  return path;
}

test("reads a policy that differs in numbers alone", () => {
  const policy = {
    ...AHS_2026_2,
    version: "AHS-2026.x",
    grades: { ...AHS_2026_2.grades, A: 95 },
    diversity: { curve: [[0, 50]] },
  };
  expect(readPolicy(fileOf(JSON.stringify(policy)), AHS_2026_2)).toEqual(policy);
});

test("lists every fault of shape", () => {
  const { weakLink, gate: _, ...rest } = AHS_2026_2;
  const policy = {
    ...rest,
    version: 2026,
    surprise: 1,
    weakLink: { ...weakLink, above: "20" },
    features: [{ ...AHS_2026_2.features[0], weightPercent: null }],
    diversity: {
      curve: [
        [1, 0],
        [1, 5],
        [2, "x"],
      ],
    },
    timing: { ...AHS_2026_2.timing, burstCurve: [] },
  };
  const path = fileOf(JSON.stringify(policy));
  expect(() => readPolicy(path, AHS_2026_2)).toThrow(
    [
      `${path} is not a policy:`,
      "  policy.version: expected a string, got 2026",
      "  policy.features[0].weightPercent: expected a number, got null",
      "  policy.gate: missing",
      "  policy.timing.burstCurve: expected a list that is not empty, got []",
      "  policy.diversity.curve[1]: expected an x above 1, got 1",
      '  policy.diversity.curve[2]: expected two numbers, got [2,"x"]',
      '  policy.weakLink.above: expected a number, got "20"',
      "  policy.surprise: not a member of a policy",
    ].join("\n"),
  );
});

test("refuses numbers of another sign: no divisor of 0, no effect that rewards", () => {
  const { success, gate, patterns } = AHS_2026_2;
  const policy = {
    ...AHS_2026_2,
    success: { ...success, prior: { ...success.prior, calls: -10 } },
    gate: { ...gate, range: 0 },
    patterns: { ...patterns, floor: 15 },
  };
  expect(() => readPolicy(fileOf(JSON.stringify(policy)), AHS_2026_2)).toThrow(
    /success\.prior\.calls: expected a number above 0, got -10[\s\S]*gate\.range: expected a number above 0, got 0[\s\S]*patterns\.floor: expected a number of at most 0, got 15/u,
  );
});

test("lists weights and grades that do not add up", () => {
  const [first, ...others] = AHS_2026_2.features;
  if (first === undefined) throw new Error("a policy has features");
  const policy = {
    ...AHS_2026_2,
    dimensionPercent: { D1: 40, D2: 70 },
    features: [first, first, ...others],
    grades: { ...AHS_2026_2.grades, B: 95 },
  };
  expect(() => readPolicy(fileOf(JSON.stringify(policy)), AHS_2026_2)).toThrow(
    [
      "  policy.dimensionPercent: expected a sum of 100, got 110",
      `  policy.features: expected the weights of D1 to add up to 100, got ${100 + first.weightPercent}`,
      "  policy.features: success_rate is listed 2 times",
      "  policy.grades: expected falling points of at most 100, got 90, 95, 60, 40, 20",
    ].join("\n"),
  );
});

test("says that a file is no JSON", () => {
  expect(() => readPolicy(fileOf("{"), AHS_2026_2)).toThrow("cannot be read as JSON");
});
