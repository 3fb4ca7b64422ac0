import { type Address, encodeErrorResult } from "viem";
import { describe, expect, test } from "vitest";
import { agentHealthOracleAbi as abi } from "../../../service/chain/abi/agent-health-oracle.ts";
import { defaultPublishPolicy } from "../../../service/oracle/publish-policy.ts";
import type { OracleState } from "../../../service/oracle/publish-records.ts";
import { intentKind, onChainOf, readRefusal, type SentScore } from "../../../service/oracle/score-fate.ts";
import { stepOf } from "../../../service/sender/orders/fate.ts";

const asOfTime = new Date("2026-11-20T12:00:00Z");
const wallet: Address = "0x00000000000000000000000000000000000a9e27";
const other: Address = "0x00000000000000000000000000000000000a9e28";

function oracleAt(asOf: number, fields: Partial<OracleState> = {}): OracleState {
  return {
    wallet,
    present: true,
    ahsScore: 50,
    sanctioned: false,
    insufficient: false,
    safeMicroUsd: 7_000_000n,
    asOf,
    asOfTime,
    ...fields,
  };
}

function sent(transaction: SentScore["transaction"]): SentScore {
  const score = {
    id: 1,
    wallet,
    asOfBlock: 100,
    asOfTime,
    modelVersion: "AHS-2026.0",
    ahsScore: 80,
    d1Score: 80,
    d2Score: 80,
    confidenceMicros: 900_000,
    sanctioned: false,
  };
  return { score, safeMicroUsd: 9_000_000n, transaction };
}

const underWay = {
  state: "broadcast",
  final: false,
  minedBlock: null,
  failure: null,
  revertData: null,
} as const;
const malformed = (named: Address) => {
  const args = [3n, `${named}650000000000000000000000` as const, 2] as const;
  return encodeErrorResult({ abi, errorName: "MalformedRecord", args });
};
const refusedFor = (named: Address) => ({
  ...underWay,
  state: "failed" as const,
  failure: "reverted_in_simulation",
  revertData: malformed(named),
});

test.each([
  ["broadcast, and shown", underWay, oracleAt(100), "done"],
  [
    "reverted, and overtaken by a newer record",
    { ...underWay, state: "reverted" as const },
    oracleAt(101),
    "done",
  ],
  ["broadcast, and cleared after it landed", underWay, oracleAt(100, { present: false }), "done"],
  ["broadcast over an older record", underWay, oracleAt(99), "wait"],
  ["reverted in the newest block", { ...underWay, state: "reverted" as const }, oracleAt(99), "again"],
  ["refused by a name of another wallet", refusedFor(other), undefined, "again"],
  ["refused by its own name", refusedFor(wallet), undefined, "end"],
])("a sent score that is %s", async (_name, transaction, record, expected) => {
  const oracle = new Map(record === undefined ? [] : [[wallet, record]]);
  const kind = intentKind(defaultPublishPolicy, oracle);
  const row = { ...sent(transaction), attempts: 0, state: "sent" as const };
  const moment = { now: asOfTime, indexedBlock: 20 };
  expect(stepOf(kind, { row, seen: await kind.look(row) }, moment).kind).toBe(expected);
});

test("a score beside a malformed one is sent again at once", async () => {
  const kind = intentKind(defaultPublishPolicy, new Map());
  const row = { ...sent(refusedFor(other)), attempts: 5, state: "sent" as const };
  const step = stepOf(kind, { row, seen: await kind.look(row) }, { now: asOfTime, indexedBlock: 20 });
  expect(step).toMatchObject({ kind: "again", at: asOfTime });
});

describe("the score to compare a new one with", () => {
  const ours = {
    kind: "record",
    record: { ahsScore: 80, sanctioned: false, safeMicroUsd: 9_000_000n, asOf: 100, asOfTime },
  };
  const theirs = {
    kind: "record",
    record: { ahsScore: 50, sanctioned: false, safeMicroUsd: 7_000_000n, asOf: 90, asOfTime },
  };
  test.each([
    ["nothing", undefined, null, { kind: "none" }],
    ["the oracle's record", oracleAt(90), null, theirs],
    [
      "an insufficient record",
      oracleAt(90, { ahsScore: 0, insufficient: true }),
      null,
      {
        kind: "record",
        record: { ahsScore: null, sanctioned: false, safeMicroUsd: 7_000_000n, asOf: 90, asOfTime },
      },
    ],
    [
      "the floor of a cleared record",
      oracleAt(90, { present: false }),
      null,
      { kind: "cleared", asOfFloor: 90 },
    ],
    ["a score under way", oracleAt(90), sent(underWay), ours],
    [
      "the record, where the sent score was refused",
      oracleAt(90),
      sent({ ...underWay, state: "failed" }),
      theirs,
    ],
    [
      "the record, where the sent score is lost",
      oracleAt(90),
      sent({ ...underWay, state: "mined", final: true, minedBlock: 5 }),
      theirs,
    ],
  ])("%s", (_name, oracle, last, expected) => {
    expect(onChainOf({ oracle, indexedBlock: 10 }, last)).toEqual(expected);
  });
});

const kind = "reverted_in_simulation";
test.each([
  ["a paused oracle", encodeErrorResult({ abi, errorName: "WritesPaused" }), "WritesPaused", null],
  [
    "another publisher",
    encodeErrorResult({ abi, errorName: "NotPublisher", args: [wallet] }),
    "NotPublisher",
    null,
  ],
  [
    "an as-of ahead of the chain",
    encodeErrorResult({ abi, errorName: "InvalidAsOf", args: [9n, 8n] }),
    "InvalidAsOf",
    null,
  ],
  ["a malformed word", malformed(wallet), "MalformedRecord", wallet],
  ["an unknown revert", "0x2a", kind, null],
  ["an empty revert", "0x", kind, null],
  ["no revert at all", null, kind, null],
])("reads a refusal by %s", (_name, revertData, cause, malformedWallet) => {
  expect(readRefusal({ kind, revertData })).toEqual({ cause, malformedWallet });
});
