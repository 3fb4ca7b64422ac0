import fc from "fast-check";
import { expect, it } from "vitest";
import { effectiveVotes } from "../../../../service/verification/panel/effective-votes.ts";
import { CORRELATION, MONEY } from "../../../../service/verification/panel/policy.ts";

it.each<[families: readonly number[], sameModel: number, otherModel: number, worth: number]>([
  [[4], 0, 0, 4],
  [[4], 1, 0, 1],
  [[4], 0.5, 0, 1.6],
  [[3], -0.2, 0, 3],
  [[3, 1], 1, 0, 2],
  [[3, 1], 0.5, 0.5, 1.6],
  [[], 0.5, 0.5, 0],
])(
  "votes of families of %j, correlated by %d and %d, are worth %d",
  (families, sameModel, otherModel, worth) => {
    expect(effectiveVotes(families, { sameModel, otherModel })).toBeCloseTo(worth);
  },
);

it("no number of ballots of one model reaches the floor, and three with one of another do", () => {
  expect(effectiveVotes([1_000]) * 100).toBeLessThan(MONEY.effectiveVotesHundredths);
  expect(effectiveVotes([3, 1]) * 100).toBeGreaterThan(MONEY.effectiveVotesHundredths);
  expect(effectiveVotes([3, 1])).toBeCloseTo(1.624, 3);
});

it("a further ballot never makes the others worth less", () => {
  const share = fc.integer({ min: 0, max: 99 }).map((hundredths) => hundredths / 100);
  fc.assert(
    fc.property(fc.nat(6), fc.nat(6), share, share, (first, second, one, other) => {
      const correlation = { sameModel: Math.max(one, other), otherModel: Math.min(one, other) };
      const worth = effectiveVotes([first, second], correlation);
      expect(effectiveVotes([first + 1, second], correlation)).toBeGreaterThanOrEqual(worth - 1e-9);
      expect(effectiveVotes([first, second + 1], correlation)).toBeGreaterThanOrEqual(worth - 1e-9);
    }),
  );
  expect(CORRELATION.sameModel).toBeGreaterThan(CORRELATION.otherModel);
});
