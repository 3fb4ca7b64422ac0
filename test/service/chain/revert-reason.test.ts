import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { describe, expect, it } from "vitest";
import { readRevert } from "../../../service/chain/revert-reason.ts";

const abi = parseAbi([
  "error Error(string)",
  "error Panic(uint256)",
  "error TooLittleReceived(uint256,uint256)",
  "error ERC20InsufficientBalance(address,uint256,uint256)",
]);
const said = (text: string): Hex => encodeErrorResult({ abi, errorName: "Error", args: [text] });

describe("why a call was refused", () => {
  it.each<[Hex | null, string | null, boolean]>([
    [null, null, false],
    ["0x", null, false],
    [said("paused"), "paused", false],
    [
      said("UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT"),
      "UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT",
      true,
    ],
    [said("Too little received"), "Too little received", true],
    [
      encodeErrorResult({ abi, errorName: "TooLittleReceived", args: [1n, 2n] }),
      "TooLittleReceived(1, 2)",
      true,
    ],
    [encodeErrorResult({ abi, errorName: "Panic", args: [17n] }), "Panic(17)", false],
    ["0x39d35496", "V3TooLittleReceived()", true],
    ["0x5c41f80c0011", "custom error 0x5c41f80c, data 0x0011", false],
    ["0x08c379a0ff", "custom error 0x08c379a0, data 0xff", false],
  ])("%s", (data, reason, isSlippage) => {
    expect(readRevert(data)).toEqual({ reason, isSlippage });
  });

  it("is one line of bounded length, whatever the contract says", () => {
    const { reason } = readRevert(said(`a\n\u0000b${"x".repeat(10_000)}`));
    expect(reason).toMatch(/^a bx+$/);
    expect(reason).toHaveLength(300);
  });
});
