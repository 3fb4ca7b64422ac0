import { expect, test } from "vitest";
import { acrossModels, type Voted, withinModel } from "../../../eval/panel/error-correlation.ts";

const voted = (truth: string, ...scores: (number | null)[]): Voted => ({ truth, scores });

test.each<[string, readonly Voted[], number | null]>([
  ["roles that are right together make no error", [voted("ALLOW", 90, 90), voted("REJECT", 10, 10)], null],
  [
    "roles that err on the same case are one vote",
    [voted("ALLOW", 90, 80), voted("ALLOW", 10, 0), voted("ALLOW", 90, 80)],
    1,
  ],
  [
    "roles that err on different cases correlate negatively",
    [voted("ALLOW", 90, 10), voted("ALLOW", 10, 90), voted("ALLOW", 90, 90)],
    -0.5,
  ],
  [
    "an abstention counts for no pair",
    [voted("ALLOW", 90, 80, null), voted("ALLOW", 10, 0, null), voted("ALLOW", 50, null, 10)],
    1,
  ],
  ["no cases have no correlation", [], null],
])("%s", (_, cases, expected) => {
  const correlation = withinModel(cases);
  if (expected === null) expect(correlation).toBeNull();
  else expect(correlation).toBeCloseTo(expected);
});

test("a second model's errors are measured apart from those of the others", () => {
  const cases = [voted("ALLOW", 90, 80, 10), voted("ALLOW", 10, 0, 90), voted("ALLOW", 90, 80, 90)].map(
    (one) => ({ ...one, second: 2 }),
  );
  expect(withinModel(cases)).toBeCloseTo(1);
  expect(acrossModels(cases)).toBeCloseTo(-0.5);
  expect(acrossModels(cases.map(({ second, ...one }) => one))).toBeNull();
});
