import { expect, test } from "vitest";
import { effectiveVotes, errorCorrelation, type Voted } from "../../../eval/panel/effective-votes.ts";

const voted = (truth: string, ...scores: (number | null)[]): Voted => ({ truth, scores });

test.each([
  [4, 0, 4],
  [4, 1, 1],
  [4, 0.5, 1.6],
  [3, -0.2, 3],
])("%d votes with a correlation of %d are worth %d", (votes, correlation, worth) => {
  expect(effectiveVotes(votes, correlation)).toBeCloseTo(worth);
});

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
  const correlation = errorCorrelation(cases);
  if (expected === null) expect(correlation).toBeNull();
  else expect(correlation).toBeCloseTo(expected);
});
