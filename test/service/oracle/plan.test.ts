import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PublishReason } from "../../../service/db/tables/publish.ts";
import {
  isWithinBudget,
  type Published,
  planPublish,
  reasonToPublish,
  type Standing,
} from "../../../service/oracle/plan.ts";
import { defaultPublishPolicy as policy } from "../../../service/oracle/publish-policy.ts";

const now = new Date("2026-11-20T12:00:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ago = (ms: number): Date => new Date(now.getTime() - ms);

function published(fields: Partial<Published>): Published {
  return { ahsScore: 80, sanctioned: false, asOf: 100, asOfTime: ago(HOUR), ...fields };
}

const none: Standing = { kind: "none" };
const onChain = (fields: Partial<Published> = {}): Standing => ({
  kind: "record",
  record: published({ asOf: 90, ...fields }),
});
const publish = (reason: PublishReason) => ({ kind: "publish", reason });
const skip = (because: string) => ({ kind: "skip", because });

describe("whether and why a score goes on chain", () => {
  test.each([
    { name: "a first score", score: {}, standing: none, expected: publish("first") },
    { name: "a first score of 0", score: { ahsScore: 0 }, standing: none, expected: publish("first") },
    {
      name: "a first score of a sanctioned wallet",
      score: { ahsScore: 0, sanctioned: true },
      standing: none,
      expected: publish("flag"),
    },
    {
      name: "insufficient, nothing on chain",
      score: { ahsScore: null },
      standing: none,
      expected: skip("insufficient_unpublished"),
    },
    {
      name: "insufficient over a score",
      score: { ahsScore: null },
      standing: onChain(),
      expected: publish("grade"),
    },
    {
      name: "a score over insufficient",
      score: {},
      standing: onChain({ ahsScore: null }),
      expected: publish("grade"),
    },
    {
      name: "insufficient over insufficient",
      score: { ahsScore: null },
      standing: onChain({ ahsScore: null }),
      expected: skip("unchanged"),
    },
    { name: "the same score", score: {}, standing: onChain(), expected: skip("unchanged") },
    {
      name: "2 points up in the grade",
      score: { ahsScore: 82 },
      standing: onChain(),
      expected: skip("unchanged"),
    },
    {
      name: "3 points up in the grade",
      score: { ahsScore: 83 },
      standing: onChain(),
      expected: publish("move"),
    },
    {
      name: "3 points down in the grade",
      score: { ahsScore: 77 },
      standing: onChain(),
      expected: publish("move"),
    },
    {
      name: "1 point over a grade's bound",
      score: { ahsScore: 75 },
      standing: onChain({ ahsScore: 74 }),
      expected: publish("grade"),
    },
    {
      name: "1 point under a grade's bound",
      score: { ahsScore: 89 },
      standing: onChain({ ahsScore: 90 }),
      expected: publish("grade"),
    },
    {
      name: "newly sanctioned",
      score: { ahsScore: 0, sanctioned: true },
      standing: onChain(),
      expected: publish("flag"),
    },
    {
      name: "no longer sanctioned",
      score: {},
      standing: onChain({ ahsScore: 0, sanctioned: true }),
      expected: publish("flag"),
    },
    {
      name: "a change as old as the record",
      score: { ahsScore: 40, asOf: 90 },
      standing: onChain(),
      expected: skip("not_newer"),
    },
    {
      name: "a change older than the record",
      score: { ahsScore: 40, asOf: 89 },
      standing: onChain(),
      expected: skip("not_newer"),
    },
    {
      name: "a score after a cleared record",
      score: {},
      standing: { kind: "cleared", asOfFloor: 99 } as const,
      expected: publish("first"),
    },
    {
      name: "a score under a cleared record's floor",
      score: {},
      standing: { kind: "cleared", asOfFloor: 100 } as const,
      expected: skip("not_newer"),
    },
    {
      name: "insufficient after a cleared record",
      score: { ahsScore: null },
      standing: { kind: "cleared", asOfFloor: 9 } as const,
      expected: skip("insufficient_unpublished"),
    },
  ])("$name", ({ score, standing, expected }) => {
    expect(reasonToPublish({ score: published(score), standing, interestAt: null, now }, policy)).toEqual(
      expected,
    );
  });
});

describe("heartbeats", () => {
  const day = onChain({ asOfTime: ago(DAY) });
  test.each([
    { name: "a day old, read now", standing: day, interestAt: now, expected: publish("heartbeat") },
    {
      name: "a day old, read 30 days ago",
      standing: day,
      interestAt: ago(30 * DAY),
      expected: publish("heartbeat"),
    },
    {
      name: "a day old, read longer ago",
      standing: day,
      interestAt: ago(30 * DAY + 1),
      expected: skip("unchanged"),
    },
    { name: "a day old, never read", standing: day, interestAt: null, expected: skip("unchanged") },
    {
      name: "younger than a day, read now",
      standing: onChain({ asOfTime: ago(DAY - 1) }),
      interestAt: now,
      expected: skip("unchanged"),
    },
    {
      name: "a day old without a newer score",
      standing: onChain({ asOfTime: ago(DAY), asOf: 100 }),
      interestAt: now,
      expected: skip("not_newer"),
    },
    { name: "nothing on chain", standing: none, interestAt: now, expected: publish("first") },
  ])("$name", ({ standing, interestAt, expected }) => {
    expect(reasonToPublish({ score: published({}), standing, interestAt, now }, policy)).toEqual(expected);
  });
});

test.each([
  { percent: 0, goes: ["heartbeat", "move", "first", "grade", "flag"] },
  { percent: 49, goes: ["heartbeat", "move", "first", "grade", "flag"] },
  { percent: 50, goes: ["move", "first", "grade", "flag"] },
  { percent: 70, goes: ["first", "grade", "flag"] },
  { percent: 85, goes: ["grade", "flag"] },
  { percent: 100, goes: ["flag"] },
  { percent: 1_000, goes: ["flag"] },
])("at $percent % of the day's gas only $goes go", ({ percent, goes }) => {
  const spentGas = (policy.dailyGas * BigInt(percent)) / 100n;
  const reasons: readonly PublishReason[] = ["heartbeat", "move", "first", "grade", "flag"];
  expect(reasons.filter((reason) => isWithinBudget(reason, { spentGas }, policy))).toEqual(goes);
});

test("a score that the budget holds back keeps its reason", () => {
  const input = { score: published({ ahsScore: 83 }), standing: onChain(), interestAt: null, now };
  expect(planPublish(input, { spentGas: policy.dailyGas }, policy)).toEqual({
    kind: "wait_for_budget",
    reason: "move",
  });
});

const anyScore = fc.record({
  ahsScore: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
  sanctioned: fc.boolean(),
  asOf: fc.integer({ min: 1, max: 200 }),
  asOfTime: fc.constant(ago(HOUR)),
});

test("whatever was published, a record never differs by 3 points, in grade or in flag once there is a newer score", () => {
  fc.assert(
    fc.property(anyScore, anyScore, (score, record) => {
      fc.pre(score.asOf > record.asOf);
      const decision = reasonToPublish(
        { score, standing: { kind: "record", record }, interestAt: null, now },
        policy,
      );
      if (decision.kind === "publish") return;
      expect(record.sanctioned).toBe(score.sanctioned);
      expect(record.ahsScore === null).toBe(score.ahsScore === null);
      if (record.ahsScore !== null && score.ahsScore !== null) {
        expect(Math.abs(record.ahsScore - score.ahsScore)).toBeLessThan(3);
      }
    }),
  );
});

test("nothing is ever sent that the contract would skip", () => {
  fc.assert(
    fc.property(anyScore, anyScore, (score, record) => {
      const decision = reasonToPublish(
        { score, standing: { kind: "record", record }, interestAt: now, now },
        policy,
      );
      if (decision.kind === "publish") expect(score.asOf).toBeGreaterThan(record.asOf);
    }),
  );
});
