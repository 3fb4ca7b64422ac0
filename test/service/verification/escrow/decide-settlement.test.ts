import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { verdictEvaluatorAbi } from "../../../../service/chain/abi/verdict-evaluator.ts";
import {
  decideSettlement,
  describeFailure,
  type SettlementSnapshot,
} from "../../../../service/verification/escrow/decide-settlement.ts";
import type { SettlementTransaction } from "../../../../service/verification/escrow/settlements.ts";

const NOW = new Date("2026-11-20T12:00:00Z");
const AT = BigInt(NOW.getTime() / 1000);
const event = { decision: 1, evidenceHash: "0xab", block: 70n, transactionHash: "0xcd" } as const;
const snapshot: SettlementSnapshot = {
  event: null,
  end: null,
  indexedBlock: 100n,
  final: { number: 70n, timestamp: AT },
  codeChange: null,
  now: NOW,
};
const transaction: SettlementTransaction = {
  state: "broadcast",
  final: false,
  minedBlock: null,
  failure: null,
  error: null,
  revertData: null,
  updatedAt: new Date(NOW.getTime() - 3_000),
};
const signed = { deadline: Number(AT) + 60, attempts: 1, transaction };
const failure = { state: "failed", failure: "reverted_in_simulation", error: "reverted" } as const;
const failed = { transaction: { ...transaction, ...failure } };
const lost = { transaction: { ...transaction, state: "mined", final: true, minedBlock: 60 } } as const;
const queued = { transaction: { ...transaction, state: "queued" } } as const;

function failedBy(errorName: "JobOver" | "AlreadySettled" | "EscrowNotAllowed", args: readonly unknown[]) {
  const error = { abi: verdictEvaluatorAbi, errorName, args } as Parameters<typeof encodeErrorResult>[0];
  return { transaction: { ...transaction, ...failure, revertData: encodeErrorResult(error) } };
}
const ESCROW = "0x00000000000000000000000000000000000000e5";
const CHANGED = { codeChange: "its code hashes to 0x" };
const laterBy = (ms: number) => ({ now: new Date(NOW.getTime() + ms) });
const finalAt = (timestamp: bigint) => ({ final: { number: 70n, timestamp } });
const ended = (status: "Rejected" | "Expired", block: bigint) => ({ end: { status, block } });

type Case = [
  title: string,
  settlement: Partial<Parameters<typeof decideSettlement>[0]>,
  snapshot: Partial<SettlementSnapshot>,
  step: object,
];

describe("a signed verdict", () => {
  it.each<Case>([
    ["is confirmed by its event in a final block, whatever its transaction", failed, { event }, { event }],
    ["is confirmed past its deadline", {}, { event, ...finalAt(AT + 999n) }, { kind: "confirm", event }],
    ["is confirmed after a change of code", {}, { event, ...CHANGED }, { kind: "confirm", event }],
    ["waits while its event may be reorged", failed, { event: { ...event, block: 71n } }, { kind: "wait" }],
    ["waits while its transaction is queued", queued, {}, { kind: "wait" }],
    ["waits if it is prepared", { transaction: { ...transaction, state: "prepared" } }, {}, { kind: "wait" }],
    ["waits while it is broadcast", {}, {}, { kind: "wait" }],
    [
      "waits while it is mined and not final",
      { transaction: { ...lost.transaction, final: false, minedBlock: 90 } },
      {},
      { kind: "wait" },
    ],
    [
      "waits while it is final and not indexed",
      { transaction: { ...lost.transaction, minedBlock: 101 } },
      {},
      { kind: "wait" },
    ],
    ["is sent if it never was", { transaction: null }, {}, { kind: "send", cause: null }],
    ["is sent if its transaction was lost", lost, {}, { kind: "send" }],
    ["is sent once a failure is old enough", failed, {}, { kind: "send", cause: "reverted" }],
    ["is sent after a revert", { transaction: { ...transaction, state: "reverted" } }, {}, { kind: "send" }],
    ["is not sent again after a change of code", failed, CHANGED, { kind: "wait" }],
    ["is not sent at all after a change of code", { transaction: null }, CHANGED, { kind: "wait" }],
    ["waits longer after a second failure", { ...failed, attempts: 2 }, {}, { kind: "wait" }],
    ["is sent after that wait", { ...failed, attempts: 2 }, laterBy(3_000), { kind: "send" }],
    ["is sent however often it failed", { ...failed, attempts: 1_000 }, laterBy(600_000), { kind: "send" }],
    [
      "is sent again where the evaluator may take it later",
      failedBy("EscrowNotAllowed", [ESCROW]),
      {},
      { kind: "send", cause: "its call reverts with EscrowNotAllowed" },
    ],
    ["is sent again after another's", failedBy("AlreadySettled", [ESCROW, 1n, 1]), {}, { kind: "send" }],
    [
      "is sent again after an error of the evaluator, which escrow, token and hook can imitate",
      failedBy("JobOver", [1n, 2n]),
      {},
      { kind: "send", cause: "its call reverts with JobOver" },
    ],
    ["is refused once its job has ended", {}, ended("Rejected", 70n), { kind: "refuse" }],
    ["waits while that end may be reorged", {}, ended("Rejected", 71n), { kind: "wait" }],
    ["expires with its job", {}, ended("Expired", 70n), { kind: "expire" }],
    ["expires past its deadline, even queued", queued, finalAt(AT + 61n), { kind: "expire" }],
    ["waits until its deadline", {}, finalAt(AT + 60n), { kind: "wait" }],
  ])("%s", (_, settlement, changes, step) => {
    expect(decideSettlement({ ...signed, ...settlement }, { ...snapshot, ...changes })).toMatchObject(step);
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
