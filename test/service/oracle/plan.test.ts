import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PublishReason } from "../../../service/db/tables/publish.ts";
import {
  isWithinBudget,
  type OnChain,
  type Published,
  planPublish,
  reasonToPublish,
} from "../../../service/oracle/plan.ts";
import { defaultPublishPolicy as policy } from "../../../service/oracle/publish-policy.ts";

const now = new Date("2026-11-20T12:00:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ago = (ms: number): Date => new Date(now.getTime() - ms);

function published(fields: Partial<Published>): Published {
  return { ahsScore: 80, sanctioned: false, asOf: 100, asOfTime: ago(HOUR), ...fields };
}

const none: OnChain = { kind: "none" };
const onChain = (fields: Partial<Published> = {}): OnChain => ({
  kind: "record",
  record: published({ asOf: 90, ...fields }),
});
const publish = (reason: PublishReason) => ({ kind: "publish", reason });
const skip = (because: string) => ({ kind: "skip", because });

describe("whether and why a score goes on chain", () => {
  test.each([
    { name: "a first score", score: {}, onChain: none, expected: publish("first") },
    { name: "a first score of 0", score: { ahsScore: 0 }, onChain: none, expected: publish("first") },
    {
      name: "a first score of a sanctioned wallet",
      score: { ahsScore: 0, sanctioned: true },
      onChain: none,
      expected: publish("flag"),
    },
    {
      name: "insufficient, nothing on chain",
      score: { ahsScore: null },
      onChain: none,
      expected: skip("insufficient_unpublished"),
    },
    {
      name: "insufficient over a score",
      score: { ahsScore: null },
      onChain: onChain(),
      expected: publish("grade"),
    },
    {
      name: "a score over insufficient",
      score: {},
      onChain: onChain({ ahsScore: null }),
      expected: publish("grade"),
    },
    {
      name: "insufficient over insufficient",
      score: { ahsScore: null },
      onChain: onChain({ ahsScore: null }),
      expected: skip("unchanged"),
    },
    { name: "the same score", score: {}, onChain: onChain(), expected: skip("unchanged") },
    {
      name: "2 points up in the grade",
      score: { ahsScore: 82 },
      onChain: onChain(),
      expected: skip("unchanged"),
    },
    {
      name: "3 points up in the grade",
      score: { ahsScore: 83 },
      onChain: onChain(),
      expected: publish("move"),
    },
    {
      name: "3 points down in the grade",
      score: { ahsScore: 77 },
      onChain: onChain(),
      expected: publish("move"),
    },
    {
      name: "1 point over a grade's bound",
      score: { ahsScore: 75 },
      onChain: onChain({ ahsScore: 74 }),
      expected: publish("grade"),
    },
    {
      name: "1 point under a grade's bound",
      score: { ahsScore: 89 },
      onChain: onChain({ ahsScore: 90 }),
      expected: publish("grade"),
    },
    {
      name: "newly sanctioned",
      score: { ahsScore: 0, sanctioned: true },
      onChain: onChain(),
      expected: publish("flag"),
    },
    {
      name: "no longer sanctioned",
      score: {},
      onChain: onChain({ ahsScore: 0, sanctioned: true }),
      expected: publish("flag"),
    },
    {
      name: "a change as old as the record",
      score: { ahsScore: 40, asOf: 90 },
      onChain: onChain(),
      expected: skip("not_newer"),
    },
    {
      name: "a change older than the record",
      score: { ahsScore: 40, asOf: 89 },
      onChain: onChain(),
      expected: skip("not_newer"),
    },
    {
      name: "a score after a cleared record",
      score: {},
      onChain: { kind: "cleared", asOfFloor: 99 } as const,
      expected: publish("first"),
    },
    {
      name: "a score under a cleared record's floor",
      score: {},
      onChain: { kind: "cleared", asOfFloor: 100 } as const,
      expected: skip("not_newer"),
    },
    {
      name: "insufficient after a cleared record",
      score: { ahsScore: null },
      onChain: { kind: "cleared", asOfFloor: 9 } as const,
      expected: skip("insufficient_unpublished"),
    },
  ])("$name", ({ score, onChain, expected }) => {
    expect(reasonToPublish({ score: published(score), onChain, interestAt: null, now }, policy)).toEqual(
      expected,
    );
  });
});

describe("heartbeats", () => {
  const day = onChain({ asOfTime: ago(DAY) });
  test.each([
    { name: "a day old, read now", onChain: day, interestAt: now, expected: publish("heartbeat") },
    {
      name: "a day old, read 30 days ago",
      onChain: day,
      interestAt: ago(30 * DAY),
      expected: publish("heartbeat"),
    },
    {
      name: "a day old, read longer ago",
      onChain: day,
      interestAt: ago(30 * DAY + 1),
      expected: skip("unchanged"),
    },
    { name: "a day old, never read", onChain: day, interestAt: null, expected: skip("unchanged") },
    {
      name: "younger than a day, read now",
      onChain: onChain({ asOfTime: ago(DAY - 1) }),
      interestAt: now,
      expected: skip("unchanged"),
    },
    {
      name: "a day old without a newer score",
      onChain: onChain({ asOfTime: ago(DAY), asOf: 100 }),
      interestAt: now,
      expected: skip("not_newer"),
    },
    { name: "nothing on chain", onChain: none, interestAt: now, expected: publish("first") },
  ])("$name", ({ onChain, interestAt, expected }) => {
    expect(reasonToPublish({ score: published({}), onChain, interestAt, now }, policy)).toEqual(expected);
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
  const input = { score: published({ ahsScore: 83 }), onChain: onChain(), interestAt: null, now };
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
        { score, onChain: { kind: "record", record }, interestAt: null, now },
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
        { score, onChain: { kind: "record", record }, interestAt: now, now },
        policy,
      );
      if (decision.kind === "publish") expect(score.asOf).toBeGreaterThan(record.asOf);
    }),
  );
});
