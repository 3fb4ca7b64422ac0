import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type AttemptOutcome, failureOf, fateOf } from "../../../service/alerts/retry-schedule.ts";

const NOW = new Date("2026-11-20T10:00:00.000Z");
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** Half of the jitter: none. */
const even = () => 0.5;

function answered(status: number, retryAfter: string | null = null): AttemptOutcome {
  return { kind: "answered", status, retryAfter };
}
const unanswered: AttemptOutcome = { kind: "failed", detail: "The host name could not be resolved." };

function later(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

describe("an event after an attempt", () => {
  it.each([200, 201, 202, 204, 299])("is delivered by %i", (status) => {
    expect(fateOf(answered(status), { before: 3, now: NOW }, even)).toEqual({ kind: "delivered" });
  });

  it.each([
    [0, 5 * SECOND],
    [1, 5 * MINUTE],
    [2, 30 * MINUTE],
    [3, 2 * HOUR],
    [4, 5 * HOUR],
    [5, 10 * HOUR],
    [6, 14 * HOUR],
  ])("that had %i attempts before is tried again after %i ms", (before, wait) => {
    const fate = { kind: "retry", at: later(wait), holdUntil: null };
    expect(fateOf(answered(500), { before, now: NOW }, even)).toEqual(fate);
    expect(fateOf(unanswered, { before, now: NOW }, even)).toEqual(fate);
  });

  it("is given up after the eighth attempt", () => {
    expect(fateOf(answered(500), { before: 7, now: NOW }, even)).toEqual({
      kind: "exhausted",
      reason: "The endpoint answered 500. That was the last attempt.",
    });
    expect(fateOf(answered(429, "60"), { before: 7, now: NOW }, even).kind).toBe("exhausted");
  });

  it("is refused by 410 at once, and by no other status", () => {
    expect(fateOf(answered(410), { before: 0, now: NOW }, even)).toEqual({
      kind: "refused",
      reason: "The endpoint answered 410.",
    });
  });

  it.each([301, 302, 307, 308, 400, 401, 404, 500])(
    "is tried again after %i, a redirect included",
    (status) => {
      expect(fateOf(answered(status), { before: 0, now: NOW }, even).kind).toBe("retry");
    },
  );

  it.each([
    ["without Retry-After for a minute", 429, null, MINUTE],
    ["as long as Retry-After says", 503, "120", 2 * MINUTE],
    ["until the date that it says", 502, "Fri, 20 Nov 2026 10:10:00 GMT", 10 * MINUTE],
    ["at most for six hours", 504, "999999", 6 * HOUR],
    ["at least for a second", 429, "0", SECOND],
    ["at least for a second where the date is past", 429, "Fri, 20 Nov 2026 09:00:00 GMT", SECOND],
    ["for a minute where Retry-After is no time", 429, "soon", MINUTE],
    ["for a minute where Retry-After is no time", 429, "-5", MINUTE],
    ["for a minute where Retry-After is no time", 429, "", MINUTE],
  ])("leaves an overloaded endpoint alone %s", (_how, status, retryAfter, hold) => {
    expect(fateOf(answered(status, retryAfter), { before: 0, now: NOW }, even)).toEqual({
      kind: "retry",
      at: later(Math.max(5 * SECOND, hold)),
      holdUntil: later(hold),
    });
  });

  it("does not come earlier than planned because an endpoint asks for less", () => {
    expect(fateOf(answered(429, "1"), { before: 3, now: NOW }, even)).toEqual({
      kind: "retry",
      at: later(2 * HOUR),
      holdUntil: later(SECOND),
    });
  });

  it("pays no heed to Retry-After of an answer that is no overload, nor to a 503 that does not say how long", () => {
    expect(fateOf(answered(503), { before: 0, now: NOW }, even)).toMatchObject({ holdUntil: null });
    expect(fateOf(answered(500, "7200"), { before: 0, now: NOW }, even)).toEqual({
      kind: "retry",
      at: later(5 * SECOND),
      holdUntil: null,
    });
  });
});

test("every wait is jittered by a tenth at most, and no answer makes it shorter or longer than six hours and the plan", () => {
  const outcomes = fc.oneof(
    fc.record({
      kind: fc.constant("answered" as const),
      status: fc.integer({ min: 300, max: 599 }),
      retryAfter: fc.option(fc.oneof(fc.nat().map(String), fc.string())),
    }),
    fc.constant(unanswered),
  );
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(outcomes, fc.integer({ min: 0, max: 9 }), random, (outcome, before, chance) => {
      const fate = fateOf(outcome, { before, now: NOW }, () => chance);
      if (fate.kind !== "retry") return;
      const planned = fateOf(answered(500), { before, now: NOW }, even);
      if (planned.kind !== "retry") throw new Error("planned");
      const wait = fate.at.getTime() - NOW.getTime();
      const plan = planned.at.getTime() - NOW.getTime();
      expect(wait).toBeGreaterThanOrEqual(plan * 0.9 - 1);
      expect(wait).toBeLessThanOrEqual(Math.max(plan * 1.1 + 1, 6 * HOUR));
    }),
  );
});

test("describes a failure in a sentence", () => {
  expect(failureOf(answered(302))).toBe("The endpoint answered 302.");
  expect(failureOf(unanswered)).toBe("The host name could not be resolved.");
});
