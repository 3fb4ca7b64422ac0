import { encodeErrorResult, parseAbi } from "viem";
import { describe, expect, test } from "vitest";
import { stepOf } from "../../../../service/sender/orders/fate.ts";
import type {
  Evidence,
  OrderKind,
  OrderTransaction,
  Step,
} from "../../../../service/sender/orders/order-kind.ts";

type Row = { readonly createdAt: Date };
const NOW = new Date("2026-11-20T12:00:00Z");
const moment = { now: NOW, indexedBlock: 20 };
const row: Row = { createdAt: NOW };
const SENT: OrderTransaction = {
  state: "broadcast",
  final: false,
  minedBlock: null,
  failure: null,
  revertData: null,
};
const failed = { ...SENT, state: "failed", failure: "given_up" } as const;
const simulated = { ...failed, failure: "reverted_in_simulation" } as const;
const reverted = { ...SENT, state: "reverted", minedBlock: 19 } as const;
const mined = { ...SENT, state: "mined", minedBlock: 19 } as const;
const final = { final: true } as const;

type Rules = Omit<OrderKind<Row>, "look">;
const byEvent: Rules = {
  done: "indexed event",
  isRepeatable: false,
  retryMs: { first: 1_000, longest: 4_000 },
};
const byFinal: Rules = { ...byEvent, done: "final block" };
const byNewest: Rules = { ...byEvent, done: "newest block" };
const repeatable: Rules = { ...byEvent, isRepeatable: true };

function step(rules: Rules, seen: Partial<Evidence>, of = row): Step {
  return stepOf(rules, { row: of, seen: { transaction: SENT, failures: 0, ...seen } }, moment);
}

describe("an order", () => {
  test.each<[string, Rules, Partial<Evidence>, Step["kind"]]>([
    ["waits while its transaction is queued", byEvent, { transaction: { ...SENT, state: "queued" } }, "wait"],
    ["waits while it is prepared", byEvent, { transaction: { ...SENT, state: "prepared" } }, "wait"],
    ["waits while it is broadcast", byFinal, {}, "wait"],
    ["is queued if it never was", byEvent, { transaction: null }, "again"],
    ["by event is done once its effect is shown", byEvent, { shown: "done", transaction: failed }, "done"],
    ["waits while a reorg may undo the effect", byEvent, { shown: "soon", transaction: failed }, "wait"],
    [
      "by event waits in a final block that is not indexed",
      byEvent,
      { transaction: { ...mined, ...final, minedBlock: 21 } },
      "wait",
    ],
    ["by event waits in a block that is not final", byEvent, { transaction: mined }, "wait"],
    [
      "by event is lost in a final block without it",
      byEvent,
      { transaction: { ...mined, ...final } },
      "again",
    ],
    ["by final block waits in the newest block", byFinal, { transaction: mined }, "wait"],
    ["by final block is done there", byFinal, { transaction: { ...mined, ...final } }, "done"],
    ["by newest block is done there", byNewest, { transaction: mined }, "done"],
    ["by newest block waits after a revert that is not final", byNewest, { transaction: reverted }, "wait"],
    ["is tried again after a final revert", byFinal, { transaction: { ...reverted, ...final } }, "again"],
    ["waits while a reorg may undo the revert", byEvent, { transaction: reverted }, "wait"],
    ["that may be repeated is so after any revert", repeatable, { transaction: reverted }, "again"],
    ["is tried again after a refusal in simulation", byFinal, { transaction: simulated }, "again"],
    ["is tried again if it was given up", byEvent, { transaction: failed }, "again"],
    ["ends with a fact of the chain", byEvent, { ended: "overtaken", transaction: failed }, "end"],
    ["ends with such a fact while it is under way", byEvent, { ended: "overtaken" }, "end"],
    ["that is shown does not end", byEvent, { ended: "overtaken", shown: "done" }, "done"],
    ["that is done stays so", byEvent, { shown: "done", isDone: true }, "wait"],
    ["that is done in its block stays so", byNewest, { transaction: mined, isDone: true }, "wait"],
    ["that is done opens again after a reorg", byEvent, { isDone: true }, "reopen"],
    [
      "that is done is tried again after a reorg and a failure",
      byEvent,
      { isDone: true, transaction: failed },
      "again",
    ],
  ])("%s", (_name, rules, seen, kind) => {
    expect(step(rules, seen).kind).toBe(kind);
  });
});

const REASON = encodeErrorResult({
  abi: parseAbi(["error Error(string)"]),
  errorName: "Error",
  args: ["no, thanks"],
});

test.each([
  ["the sender's word", failed, { kind: "given_up", cause: "given_up", revertData: null }],
  [
    "the contract's reason",
    { ...simulated, revertData: REASON },
    { kind: "reverted_in_simulation", cause: "no, thanks", revertData: REASON },
  ],
  [
    "a revert",
    { ...reverted, ...final },
    { kind: "reverted", cause: "reverted in a block", revertData: null },
  ],
  [
    "a lost event",
    { ...mined, ...final },
    { kind: "lost", cause: "the index shows nothing of it in block 19", revertData: null },
  ],
])("a failure says %s", (_name, transaction, failure) => {
  expect(step(byEvent, { transaction })).toMatchObject({ kind: "again", failure });
});

describe("an attempt that came to nothing", () => {
  const later = (ms: number) => new Date(NOW.getTime() + ms);
  test.each([
    ["first", { failures: 0 }, 1_000],
    ["third", { failures: 2 }, 4_000],
    ["hundredth", { failures: 99 }, 4_000],
    ["reverted", { failures: 1, transaction: { ...reverted, ...final } }, 20_000],
  ])("is made again after a pause: %s", (_name, seen, ms) => {
    const afterRevert = { first: 10_000, longest: 90_000 };
    const rules: Rules = {
      ...byEvent,
      retryMs: ({ kind }) => (kind === "reverted" ? afterRevert : { first: 1_000, longest: 4_000 }),
    };
    expect(step(rules, { transaction: failed, ...seen })).toMatchObject({ kind: "again", at: later(ms) });
  });
  test("waits for the pause since its failure where the row stores no next attempt", () => {
    const since = (ms: number) => ({ ...byEvent, failedAt: () => later(ms) });
    expect(step(since(-999), { transaction: failed })).toEqual({ kind: "wait" });
    expect(step(since(-1_000), { transaction: failed })).toMatchObject({ kind: "again", at: NOW });
  });
  test("ends the order only by a failure that its kind names, or past its deadline", () => {
    const named: Rules = { ...byEvent, isForGood: ({ kind }) => kind === "lost" };
    expect(step(named, { transaction: { ...mined, ...final } })).toMatchObject({ kind: "end" });
    expect(step(named, { transaction: { ...reverted, ...final } })).toMatchObject({ kind: "again" });
    const dated: Rules = {
      ...byEvent,
      deadlineOf: ({ createdAt }) => later(createdAt.getTime() - NOW.getTime() + 1),
    };
    expect(step(dated, { transaction: failed })).toMatchObject({ kind: "again" });
    expect(step(dated, { transaction: failed }, { createdAt: later(-1) })).toMatchObject({
      kind: "end",
      cause: "given_up",
    });
    expect(step(dated, {}, { createdAt: later(-9) })).toEqual({ kind: "wait" });
  });
});
