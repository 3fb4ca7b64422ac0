import { expect, it } from "vitest";
import {
  type ClockSnapshot,
  decideClock,
  holdMoments,
  nextRerun,
} from "../../../../service/verification/escrow/decide-clock.ts";

const at = (seconds: number) => new Date(seconds * 1000);
const until1400 = { expiredAt: 1_400n, generation: "G1" } as const;
const clock = { ...holdMoments(1_000n, until1400), reviewNotifiedAt: null };
/** Of an escrow that lets the evaluator decide for an hour more, and then no longer. */
const graced = { ...holdMoments(1_000n, { expiredAt: 1_400n, generation: "G3" }), reviewNotifiedAt: null };
const sight = (seconds: number): ClockSnapshot => ({
  end: null,
  finalBlock: 50n,
  at: at(seconds),
  finalAt: at(seconds - 30),
});

it("a held job is run again at half of its time and reviewed at a quarter of it left", () => {
  const moments = { rerunAt: at(1_200), reviewBy: at(1_300), expiresAt: at(1_400) };
  expect(holdMoments(1_000n, until1400)).toEqual({ ...moments, endsAt: null });
  expect(holdMoments(1_000n, { expiredAt: 1_400n, generation: "V3" })).toEqual({ ...moments, endsAt: null });
  expect(holdMoments(1_000n, { expiredAt: 1_400n, generation: "G3" })).toEqual({
    ...moments,
    endsAt: at(5_000),
  });
});

it("a job held past its expiry is due for both at once", () => {
  expect(holdMoments(1_500n, until1400)).toMatchObject({ rerunAt: at(1_400), reviewBy: at(1_400) });
});

it.each([
  [1_000, 5_000, 3_000],
  [1_000, 2_600, 1_800],
  [1_000, 1_700, 1_600],
  [1_000, 1_600, null],
  [2_000, 1_600, null],
])("a re-run asked for at second %i before %i is asked for again at %o", (asked, expires, next) => {
  expect(nextRerun(at(asked), { expiresAt: at(expires) })).toEqual(next === null ? null : at(next));
});

it("a job without an end in sight has moments that a date can hold", () => {
  const { expiresAt, reviewBy } = holdMoments(1_000n, { expiredAt: 2n ** 256n - 1n, generation: "G1" });
  expect(expiresAt.toISOString()).toBe("9999-12-31T23:59:59.000Z");
  expect(reviewBy < expiresAt).toBe(true);
});

it.each([
  [1_199, {}, { kind: "ring", rerun: false, review: false }],
  [1_200, {}, { kind: "ring", rerun: true, review: false }],
  [1_250, { rerunAt: at(1_260) }, { kind: "ring", rerun: false, review: false }],
  [1_260, { rerunAt: at(1_260) }, { kind: "ring", rerun: true, review: false }],
  [1_300, { rerunAt: null }, { kind: "ring", rerun: false, review: true }],
  [1_300, {}, { kind: "ring", rerun: true, review: true }],
  [1_310, { rerunAt: null, reviewNotifiedAt: at(1_301) }, { kind: "ring", rerun: false, review: false }],
  [99_999, {}, { kind: "ring", rerun: true, review: true }],
] as const)("at second %i a clock of %o does %o", (seconds, done, step) => {
  expect(decideClock({ ...clock, ...done }, sight(seconds))).toEqual(step);
});

it.each([
  [4_999, { kind: "ring", rerun: true, review: true }],
  [5_000, { kind: "ring", rerun: false, review: false }],
  [5_030, { kind: "end", isExpiredOnHold: true }],
] as const)("at second %i a clock whose job is decided until 5000 does %o", (seconds, step) => {
  expect(decideClock(graced, sight(seconds))).toEqual(step);
});

it("a clock ends with its job, and does nothing while that end may be reorged", () => {
  const ended = (status: "Rejected" | "Expired", block: bigint) =>
    decideClock(clock, { ...sight(1_300), end: { status, block } });
  expect(ended("Rejected", 50n)).toEqual({ kind: "end", isExpiredOnHold: false });
  expect(ended("Expired", 50n)).toEqual({ kind: "end", isExpiredOnHold: true });
  expect(ended("Rejected", 51n)).toEqual({ kind: "ring", rerun: false, review: false });
});
