import { expect, it } from "vitest";
import { type ClockSight, decideClock, holdMoments } from "../../../service/escrow/decide-clock.ts";

const at = (seconds: number) => new Date(seconds * 1000);
const clock = { ...holdMoments(1_000n, 1_400n), rerunAskedAt: null, reviewToldAt: null };
const sight = (seconds: number): ClockSight => ({
  end: null,
  finalBlock: 50n,
  at: at(seconds),
  finalAt: at(seconds - 30),
});

it("a held job is run again at half of its time and reviewed at a quarter of it left", () => {
  expect(holdMoments(1_000n, 1_400n)).toEqual({
    rerunAt: at(1_200),
    reviewBy: at(1_300),
    expiresAt: at(1_400),
  });
});

it("a job without an end in sight has moments that a date can hold", () => {
  const { expiresAt, reviewBy } = holdMoments(1_000n, 2n ** 256n - 1n);
  expect(expiresAt.toISOString()).toBe("9999-12-31T23:59:59.000Z");
  expect(reviewBy < expiresAt).toBe(true);
});

it.each([
  [1_199, {}, { kind: "ring", rerun: false, review: false }],
  [1_200, {}, { kind: "ring", rerun: true, review: false }],
  [1_250, { rerunAskedAt: at(1_201) }, { kind: "ring", rerun: false, review: false }],
  [1_300, { rerunAskedAt: at(1_201) }, { kind: "ring", rerun: false, review: true }],
  [1_300, {}, { kind: "ring", rerun: true, review: true }],
  [
    1_310,
    { rerunAskedAt: at(1_201), reviewToldAt: at(1_301) },
    { kind: "ring", rerun: false, review: false },
  ],
  [1_400, {}, { kind: "ring", rerun: false, review: false }],
  [1_430, {}, { kind: "end", isExpiredOnHold: true }],
] as const)("at second %i a clock of %o does %o", (seconds, done, step) => {
  expect(decideClock({ ...clock, ...done }, sight(seconds))).toEqual(step);
});

it("a clock ends with its job, and does nothing while that end may be reorged", () => {
  const ended = (status: "Rejected" | "Expired", block: bigint) =>
    decideClock(clock, { ...sight(1_300), end: { status, block } });
  expect(ended("Rejected", 50n)).toEqual({ kind: "end", isExpiredOnHold: false });
  expect(ended("Expired", 50n)).toEqual({ kind: "end", isExpiredOnHold: true });
  expect(ended("Rejected", 51n)).toEqual({ kind: "ring", rerun: false, review: false });
});
