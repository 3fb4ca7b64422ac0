import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { stepOf } from "../../../../service/sender/orders/fate.ts";
import type { Step } from "../../../../service/sender/orders/order-kind.ts";
import {
  describeFailure,
  lookAtSettlement,
  type SettlementSnapshot,
  VERDICTS,
} from "../../../../service/verification/escrow/decide-settlement.ts";
import type { SettlementTransaction } from "../../../../service/verification/escrow/settlements.ts";

const NOW = new Date("2026-11-20T12:00:00Z");
const AT = BigInt(NOW.getTime() / 1000);
const event = { decision: 1, evidenceHash: "0xab", block: 70n, transactionHash: "0xcd" } as const;
const snapshot: SettlementSnapshot = {
  event: null,
  end: null,
  final: { number: 70n, timestamp: AT },
  codeChange: null,
};
const transaction: SettlementTransaction = {
  ...{ id: 1, state: "broadcast", final: false, minedBlock: null, minedHash: null },
  ...{ failure: null, error: null, revertData: null, updatedAt: new Date(NOW.getTime() - 3_000) },
};
const signed = { deadline: Number(AT) + 60, attempts: 1, transaction };
const failed = {
  transaction: { ...transaction, state: "failed", failure: "reverted_in_simulation" },
} as const;
const reverted = { transaction: { ...transaction, state: "reverted" } } as const;
const lost = { transaction: { ...transaction, state: "mined", final: true, minedBlock: 60 } } as const;
const never = { transaction: null };
const CHANGED = { codeChange: "its code hashes to 0x" };
const finalAt = (timestamp: bigint) => ({ final: { number: 70n, timestamp } });
const ended = (status: "Rejected" | "Expired", block: bigint) => ({ end: { status, block } });

type Case = [
  title: string,
  settlement: Partial<Parameters<typeof lookAtSettlement>[0]>,
  snapshot: Partial<SettlementSnapshot>,
  step: Step["kind"] | "expired" | "refused",
  laterMs?: number,
];

describe("a signed verdict", () => {
  it.each<Case>([
    ["is confirmed by its event in a final block, whatever its transaction", failed, { event }, "done"],
    ["is confirmed past its deadline", {}, { event, ...finalAt(AT + 999n) }, "done"],
    ["is confirmed after a change of code", {}, { event, ...CHANGED }, "done"],
    ["waits while its event may be reorged", failed, { event: { ...event, block: 71n } }, "wait"],
    [
      "waits for its event past its deadline",
      {},
      { event: { ...event, block: 71n }, ...finalAt(AT + 61n) },
      "wait",
    ],
    ["is sent if it never was", never, {}, "again"],
    ["is sent if its transaction was lost", lost, {}, "again"],
    ["is sent once a failure is old enough", failed, {}, "again"],
    ["is sent after a revert that is not final", reverted, {}, "again"],
    ["is not sent again after a change of code", failed, CHANGED, "wait"],
    ["is not sent at all after a change of code", never, CHANGED, "wait"],
    ["waits longer after a second failure", { ...failed, attempts: 2 }, {}, "wait"],
    ["is sent after that wait", { ...failed, attempts: 2 }, {}, "again", 3_000],
    ["is sent however often it failed", { ...failed, attempts: 1_000 }, {}, "again", 600_000],
    ["is refused once its job has ended", {}, ended("Rejected", 70n), "refused"],
    ["waits while that end may be reorged", {}, ended("Rejected", 71n), "wait"],
    ["expires with its job", {}, ended("Expired", 70n), "expired"],
    ["expires past its deadline, even on its way", {}, finalAt(AT + 61n), "expired"],
    ["waits until its deadline", {}, finalAt(AT + 60n), "wait"],
  ])("%s", (_, settlement, changes, expected, laterMs = 0) => {
    const row = { ...signed, ...settlement };
    const seen = lookAtSettlement(row, { ...snapshot, ...changes });
    const moment = { now: new Date(NOW.getTime() + laterMs), indexedBlock: 100 };
    const { kind } = stepOf(VERDICTS, { row, seen }, moment);
    expect(kind === "end" ? seen.endsAs : kind).toBe(expected);
  });
});

const errors = parseAbi([
  "error Error(string)",
  "error EnforcedPause()",
  "error WrongDecision(uint8 decision)",
]);
const refusalOf = (revertData: Hex | null) =>
  describeFailure({ state: "failed", failure: "reverted", error: "Execution reverted.", revertData });

describe("a failed settlement says why", () => {
  it.each([
    [
      "with the text of the contract",
      encodeErrorResult({ abi: errors, errorName: "Error", args: ["no, thanks"] }),
      "the escrow refuses it: no, thanks",
    ],
    [
      "with the name of a known error",
      encodeErrorResult({ abi: errors, errorName: "EnforcedPause" }),
      "the escrow refuses it: EnforcedPause()",
    ],
    [
      "with the selector of an unknown error, once",
      "0x12345678",
      "the escrow refuses it: custom error 0x12345678, data 0x",
    ],
    [
      "with the name of an error of the evaluator",
      encodeErrorResult({ abi: errors, errorName: "WrongDecision", args: [3] }),
      "its call reverts with WrongDecision",
    ],
    ["with the sender's words where the node passes nothing on", "0x", "Execution reverted."],
    ["with the sender's words where there is no data", null, "Execution reverted."],
  ] as const)("%s", (_, data, cause) => {
    expect(refusalOf(data)).toBe(cause);
  });
});
