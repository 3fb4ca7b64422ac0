import { type Address, encodeErrorResult } from "viem";
import { describe, expect, test } from "vitest";
import { agentHealthOracleAbi as abi } from "../../../service/chain/abi/agent-health-oracle.ts";
import type { OracleState } from "../../../service/oracle/publish-records.ts";
import {
  type Fate,
  fateOf,
  onChainOf,
  readRefusal,
  type SentScore,
} from "../../../service/oracle/score-fate.ts";

const asOfTime = new Date("2026-11-20T12:00:00Z");
const wallet: Address = "0x00000000000000000000000000000000000a9e27";

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

const underWay = { state: "broadcast", final: false, minedBlock: null } as const;

describe("the fate of a sent score", () => {
  const cases: readonly {
    name: string;
    transaction: SentScore["transaction"];
    oracle: OracleState | undefined;
    indexedBlock: number;
    expected: Fate;
  }[] = [
    {
      name: "shown by the oracle",
      transaction: underWay,
      oracle: oracleAt(100),
      indexedBlock: 1,
      expected: "landed",
    },
    {
      name: "overtaken by a newer record",
      transaction: { state: "reverted", final: true, minedBlock: 9 },
      oracle: oracleAt(101),
      indexedBlock: 1,
      expected: "landed",
    },
    {
      name: "cleared after it landed",
      transaction: underWay,
      oracle: oracleAt(100, { present: false }),
      indexedBlock: 1,
      expected: "landed",
    },
    {
      name: "queued",
      transaction: { state: "queued", final: false, minedBlock: null },
      oracle: undefined,
      indexedBlock: 1,
      expected: "under_way",
    },
    {
      name: "prepared",
      transaction: { state: "prepared", final: false, minedBlock: null },
      oracle: undefined,
      indexedBlock: 1,
      expected: "under_way",
    },
    {
      name: "broadcast over an older record",
      transaction: underWay,
      oracle: oracleAt(99),
      indexedBlock: 1,
      expected: "under_way",
    },
    {
      name: "mined, index behind",
      transaction: { state: "mined", final: true, minedBlock: 20 },
      oracle: undefined,
      indexedBlock: 19,
      expected: "under_way",
    },
    {
      name: "mined, reorg in progress",
      transaction: { state: "mined", final: false, minedBlock: 20 },
      oracle: undefined,
      indexedBlock: 25,
      expected: "under_way",
    },
    {
      name: "final, and not shown",
      transaction: { state: "mined", final: true, minedBlock: 20 },
      oracle: undefined,
      indexedBlock: 20,
      expected: "lost",
    },
    {
      name: "reverted",
      transaction: { state: "reverted", final: false, minedBlock: 20 },
      oracle: oracleAt(99),
      indexedBlock: 20,
      expected: "reverted",
    },
    {
      name: "never sent",
      transaction: { state: "failed", final: false, minedBlock: null },
      oracle: undefined,
      indexedBlock: 20,
      expected: "refused",
    },
  ];
  test.each(cases)("$name: $expected", ({ transaction, oracle, indexedBlock, expected }) => {
    expect(fateOf(sent(transaction), { oracle, indexedBlock })).toBe(expected);
  });
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
      sent({ state: "failed", final: false, minedBlock: null }),
      theirs,
    ],
    [
      "the record, where the sent score is lost",
      oracleAt(90),
      sent({ state: "mined", final: true, minedBlock: 5 }),
      theirs,
    ],
  ])("%s", (_name, oracle, last, expected) => {
    expect(onChainOf({ oracle, indexedBlock: 10 }, last)).toEqual(expected);
  });
});

const kind = "reverted_in_simulation";
const word = `${wallet}650000000000000000000000` as const;
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
  [
    "a malformed word",
    encodeErrorResult({ abi, errorName: "MalformedRecord", args: [3n, word, 2] }),
    "MalformedRecord",
    wallet,
  ],
  ["an unknown revert", "0x2a", kind, null],
  ["an empty revert", "0x", kind, null],
  ["no revert at all", null, kind, null],
])("reads a refusal by %s", (_name, revertData, cause, malformedWallet) => {
  expect(readRefusal({ kind, revertData })).toEqual({ cause, malformedWallet });
});
