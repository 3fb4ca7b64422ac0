import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { verdictEvaluatorAbi } from "../../../../service/chain/abi/verdict-evaluator.ts";
import {
  decideSettlement,
  readRefusal,
  type SettlementSnapshot,
} from "../../../../service/verification/escrow/decide-settlement.ts";
import type { SettlementTransaction } from "../../../../service/verification/escrow/settlements.ts";

const NOW = new Date("2026-11-20T12:00:00Z");
const AT = BigInt(NOW.getTime() / 1000);
const event = {
  decision: 1,
  evidenceHash: "0xab",
  reviewBy: null,
  block: 70n,
  transactionHash: "0xcd",
} as const;
const sight: SettlementSnapshot = {
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
const failed = {
  ...transaction,
  state: "failed",
  failure: "reverted_in_simulation",
  error: "reverted",
} as const;

function failedBy(
  errorName: "JobOver" | "AlreadySettled" | "EscrowNotAllowed",
  args: readonly unknown[],
): SettlementTransaction {
  const revertData = encodeErrorResult({ abi: verdictEvaluatorAbi, errorName, args } as Parameters<
    typeof encodeErrorResult
  >[0]);
  return { ...failed, revertData };
}
const ESCROW = "0x00000000000000000000000000000000000000e5";

describe("a signed verdict", () => {
  it("is confirmed by its event in a final block, whatever became of our own transaction", () => {
    expect(decideSettlement({ ...signed, transaction: failed }, { ...sight, event })).toEqual({
      kind: "confirm",
      event,
    });
    const late = { ...sight, event, final: { number: 70n, timestamp: AT + 999n } };
    expect(decideSettlement(signed, late)).toEqual({ kind: "confirm", event });
  });

  it("waits while its event may still be reorged", () => {
    const open = { ...sight, event: { ...event, block: 71n } };
    expect(decideSettlement({ ...signed, transaction: failed }, open)).toEqual({ kind: "wait" });
  });

  it("waits while its transaction is under way, or mined and not final, or final and not indexed", () => {
    for (const state of ["queued", "prepared", "broadcast"] as const)
      expect(decideSettlement({ ...signed, transaction: { ...transaction, state } }, sight)).toEqual({
        kind: "wait",
      });
    const mined = { ...transaction, state: "mined", minedBlock: 90 } as const;
    expect(decideSettlement({ ...signed, transaction: mined }, sight)).toEqual({ kind: "wait" });
    const ahead = { ...mined, final: true, minedBlock: 101 };
    expect(decideSettlement({ ...signed, transaction: ahead }, sight)).toEqual({ kind: "wait" });
  });

  it("is sent where it never was, where it was lost, and once a failure is old enough", () => {
    expect(decideSettlement({ ...signed, transaction: null }, sight)).toEqual({ kind: "send", cause: null });
    const lost = { ...transaction, state: "mined", final: true, minedBlock: 60 } as const;
    expect(decideSettlement({ ...signed, transaction: lost }, sight).kind).toBe("send");
    expect(decideSettlement({ ...signed, transaction: failed }, sight)).toEqual({
      kind: "send",
      cause: "reverted",
    });
    const reverted = { ...transaction, state: "reverted" } as const;
    expect(decideSettlement({ ...signed, transaction: reverted }, sight).kind).toBe("send");
  });

  it("is not sent again while the escrow's code is not what was reviewed, and is confirmed all the same", () => {
    const changed = { ...sight, codeChange: "its code hashes to 0x" };
    expect(decideSettlement({ ...signed, transaction: failed }, changed)).toEqual({ kind: "wait" });
    expect(decideSettlement({ ...signed, transaction: null }, changed)).toEqual({ kind: "wait" });
    expect(decideSettlement(signed, { ...changed, event }).kind).toBe("confirm");
  });

  it("waits longer after each failure", () => {
    expect(decideSettlement({ ...signed, attempts: 2, transaction: failed }, sight)).toEqual({
      kind: "wait",
    });
    const later = { ...sight, now: new Date(NOW.getTime() + 3_000) };
    expect(decideSettlement({ ...signed, attempts: 2, transaction: failed }, later).kind).toBe("send");
  });

  it("is sent again where the evaluator may take it later", () => {
    const owned = failedBy("EscrowNotAllowed", [ESCROW]);
    expect(decideSettlement({ ...signed, transaction: owned }, sight)).toEqual({
      kind: "send",
      cause: "the evaluator refuses it: EscrowNotAllowed",
    });
    expect(
      decideSettlement({ ...signed, transaction: failedBy("AlreadySettled", [ESCROW, 1n, 1]) }, sight).kind,
    ).toBe("send");
  });

  it("is refused where the evaluator never takes it", () => {
    const over = failedBy("JobOver", [1n, 2n]);
    expect(decideSettlement({ ...signed, transaction: over }, sight)).toEqual({
      kind: "refuse",
      reason: "the evaluator refuses it: JobOver",
    });
  });

  it("is sent again however often it came to nothing, while its deadline lasts", () => {
    const later = { ...sight, now: new Date(NOW.getTime() + 600_000) };
    expect(decideSettlement({ ...signed, attempts: 1_000, transaction: failed }, later).kind).toBe("send");
  });

  it("is over with its job, once that end is final", () => {
    const rejected = { status: "Rejected", block: 70n } as const;
    expect(decideSettlement(signed, { ...sight, end: rejected }).kind).toBe("refuse");
    expect(decideSettlement(signed, { ...sight, end: { ...rejected, block: 71n } }).kind).toBe("wait");
    expect(decideSettlement(signed, { ...sight, end: { ...rejected, status: "Expired" } }).kind).toBe(
      "expire",
    );
  });

  it("expires once every block to come is past its deadline, even while it is queued", () => {
    const past = { ...sight, final: { number: 70n, timestamp: BigInt(signed.deadline) + 1n } };
    expect(decideSettlement({ ...signed, transaction: { ...transaction, state: "queued" } }, past).kind).toBe(
      "expire",
    );
    const last = { ...sight, final: { number: 70n, timestamp: BigInt(signed.deadline) } };
    expect(decideSettlement(signed, last)).toEqual({ kind: "wait" });
  });
});

const errors = parseAbi([
  "error Error(string)",
  "error EnforcedPause()",
  "error WrongDecision(uint8 decision)",
]);
const refusalOf = (revertData: Hex | null) =>
  readRefusal({ state: "failed", failure: "reverted", error: "Execution reverted.", revertData });

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
    ["with the sender's words where the node passes nothing on", "0x", "Execution reverted."],
    ["with the sender's words where there is no data", null, "Execution reverted."],
  ] as const)("%s", (_, data, cause) => {
    expect(refusalOf(data)).toEqual({ cause, isForGood: false });
  });

  it("and ends for good where the evaluator never takes what was signed", () => {
    const data = encodeErrorResult({ abi: errors, errorName: "WrongDecision", args: [3] });
    expect(refusalOf(data)).toEqual({
      cause: "the evaluator refuses it: WrongDecision",
      isForGood: true,
    });
  });
});
