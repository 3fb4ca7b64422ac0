import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { readRefusal } from "../../../../service/verification/escrow/refusal.ts";

const errors = parseAbi([
  "error Error(string)",
  "error EnforcedPause()",
  "error WrongDecision(uint8 decision)",
]);
const failed = (revertData: Hex | null) =>
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
    expect(failed(data)).toEqual({ cause, isForGood: false });
  });

  it("and ends for good where the evaluator never takes what was signed", () => {
    const data = encodeErrorResult({ abi: errors, errorName: "WrongDecision", args: [3] });
    expect(failed(data)).toEqual({ cause: "the evaluator refuses it: WrongDecision", isForGood: true });
  });
});
