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
  return { ahsScore: 80, sanctioned: false, safeMicroUsd: 0n, asOf: 100, asOfTime: ago(HOUR), ...fields };
}

const usd = (amount: number): bigint => BigInt(amount) * 1_000_000n;
const none: OnChain = { kind: "none" };
const onChain = (fields: Partial<Published> = {}): OnChain => ({
  kind: "record",
  record: published({ asOf: 90, ...fields }),
});
const publish = (reason: PublishReason) => ({ kind: "publish", reason });
const skip = (because: string) => ({ kind: "skip", because });

describe("whether and why a score goes on chain", () => {
  test.each([
    ["a first score", {}, none, publish("first")],
    ["a first score of 0", { ahsScore: 0 }, none, publish("first")],
    ["a first score of a sanctioned wallet", { ahsScore: 0, sanctioned: true }, none, publish("flag")],
    ["insufficient, nothing on chain", { ahsScore: null }, none, skip("insufficient_unpublished")],
    ["insufficient over a score", { ahsScore: null }, onChain(), publish("grade")],
    ["a score over insufficient", {}, onChain({ ahsScore: null }), publish("grade")],
    ["insufficient over insufficient", { ahsScore: null }, onChain({ ahsScore: null }), skip("unchanged")],
    ["the same score", {}, onChain(), skip("unchanged")],
    ["2 points up in the grade", { ahsScore: 82 }, onChain(), skip("unchanged")],
    ["3 points up in the grade", { ahsScore: 83 }, onChain(), publish("move")],
    ["3 points down in the grade", { ahsScore: 77 }, onChain(), publish("move")],
    ["1 point over a grade's bound", { ahsScore: 75 }, onChain({ ahsScore: 74 }), publish("grade")],
    ["1 point under a grade's bound", { ahsScore: 89 }, onChain({ ahsScore: 90 }), publish("grade")],
    [
      "a safe amount fallen below half",
      { safeMicroUsd: usd(49) },
      onChain({ safeMicroUsd: usd(99) }),
      publish("backing"),
    ],
    [
      "a safe amount fallen to half",
      { safeMicroUsd: usd(50) },
      onChain({ safeMicroUsd: usd(100) }),
      skip("unchanged"),
    ],
    ["a safe amount lost", {}, onChain({ safeMicroUsd: usd(1) }), publish("backing")],
    [
      "a safe amount above four times",
      { safeMicroUsd: usd(9) },
      onChain({ safeMicroUsd: usd(2) }),
      publish("backing"),
    ],
    [
      "a safe amount of four times",
      { safeMicroUsd: usd(8) },
      onChain({ safeMicroUsd: usd(2) }),
      skip("unchanged"),
    ],
    ["a first safe amount", { safeMicroUsd: usd(1) }, onChain(), publish("backing")],
    ["a first safe amount below 1 USD", { safeMicroUsd: usd(1) - 1n }, onChain(), skip("unchanged")],
    ["a safe amount below 1 USD lost", {}, onChain({ safeMicroUsd: 10_000n }), publish("backing")],
    [
      "a safe amount lost without a score",
      { ahsScore: null },
      onChain({ ahsScore: null, safeMicroUsd: usd(5) }),
      publish("backing"),
    ],
    [
      "a safe amount lost and 3 points",
      { ahsScore: 83 },
      onChain({ safeMicroUsd: usd(5) }),
      publish("backing"),
    ],
    ["a safe amount lost and a grade", { ahsScore: 70 }, onChain({ safeMicroUsd: usd(5) }), publish("grade")],
    [
      "a safe amount lost as of the same block",
      { asOf: 90 },
      onChain({ safeMicroUsd: usd(5) }),
      skip("not_newer"),
    ],
    ["newly sanctioned", { ahsScore: 0, sanctioned: true }, onChain(), publish("flag")],
    ["no longer sanctioned", {}, onChain({ ahsScore: 0, sanctioned: true }), publish("flag")],
    ["a change as old as the record", { ahsScore: 40, asOf: 90 }, onChain(), skip("not_newer")],
    ["a change older than the record", { ahsScore: 40, asOf: 89 }, onChain(), skip("not_newer")],
    ["a score after a cleared record", {}, { kind: "cleared", asOfFloor: 99 } as const, publish("first")],
    [
      "a score under a cleared record's floor",
      {},
      { kind: "cleared", asOfFloor: 100 } as const,
      skip("not_newer"),
    ],
    [
      "insufficient after a cleared record",
      { ahsScore: null },
      { kind: "cleared", asOfFloor: 9 } as const,
      skip("insufficient_unpublished"),
    ],
  ])("%s", (_name, score, onChain, expected) => {
    expect(reasonToPublish({ score: published(score), onChain, interestAt: null, now }, policy)).toEqual(
      expected,
    );
  });
});

describe("heartbeats", () => {
  const day = onChain({ asOfTime: ago(DAY) });
  test.each([
    ["a day old, read now", day, now, publish("heartbeat")],
    ["a day old, read 30 days ago", day, ago(30 * DAY), publish("heartbeat")],
    ["a day old, read longer ago", day, ago(30 * DAY + 1), skip("unchanged")],
    ["a day old, never read", day, null, skip("unchanged")],
    ["younger than a day, read now", onChain({ asOfTime: ago(DAY - 1) }), now, skip("unchanged")],
    ["a day old without a newer score", onChain({ asOfTime: ago(DAY), asOf: 100 }), now, skip("not_newer")],
    ["nothing on chain", none, now, publish("first")],
  ])("%s", (_name, onChain, interestAt, expected) => {
    expect(reasonToPublish({ score: published({}), onChain, interestAt, now }, policy)).toEqual(expected);
  });
});

test.each([
  [0, ["heartbeat", "move", "first", "backing", "grade", "flag"]],
  [49, ["heartbeat", "move", "first", "backing", "grade", "flag"]],
  [50, ["move", "first", "backing", "grade", "flag"]],
  [70, ["first", "backing", "grade", "flag"]],
  [85, ["backing", "grade", "flag"]],
  [90, ["grade", "flag"]],
  [100, ["flag"]],
  [1_000, ["flag"]],
])("at %s % of the day's gas only %s go", (percent, goes) => {
  const spentGas = (policy.dailyGas * BigInt(percent)) / 100n;
  const reasons: readonly PublishReason[] = ["heartbeat", "move", "first", "backing", "grade", "flag"];
  expect(reasons.filter((reason) => isWithinBudget(reason, spentGas, policy))).toEqual(goes);
});

test("a score that the budget holds back keeps its reason", () => {
  const input = { score: published({ ahsScore: 83 }), onChain: onChain(), interestAt: null, now };
  expect(planPublish(input, policy.dailyGas, policy)).toEqual({
    kind: "wait_for_budget",
    reason: "move",
  });
});

const anyScore = fc.record({
  ahsScore: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
  sanctioned: fc.boolean(),
  safeMicroUsd: fc.bigInt({ min: 0n, max: usd(1_000) }),
  asOf: fc.integer({ min: 1, max: 200 }),
  asOfTime: fc.constant(ago(HOUR)),
});

test("whatever was published, a record never differs by 3 points, in grade, in flag or twice in safe amount once there is a newer score", () => {
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
      expect(record.safeMicroUsd).toBeLessThanOrEqual(2n * score.safeMicroUsd);
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
