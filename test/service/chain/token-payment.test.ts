import fc from "fast-check";
import { type Address, encodeFunctionData, erc20Abi, type Hex, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import { readTokenPayment } from "../../../service/chain/token-payment.ts";

const RECIPIENT: Address = "0x00000000000000000000000000000000c0ffee11";
const OWNER: Address = "0x00000000000000000000000000000000c0ffee22";

const transfer = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [RECIPIENT, 7n] });

describe("the payment of a call", () => {
  test.each([
    ["transfer", transfer, RECIPIENT, 7n],
    [
      "transferFrom",
      encodeFunctionData({ abi: erc20Abi, functionName: "transferFrom", args: [OWNER, RECIPIENT, 9n] }),
      RECIPIENT,
      9n,
    ],
    ["a transfer in capitals", `0x${transfer.slice(2).toUpperCase()}`, RECIPIENT, 7n],
    ["a transfer with data behind its arguments", `${transfer}80218021`, RECIPIENT, 7n],
  ])("of %s is recipient and amount", (_name, input, recipient, amount) => {
    expect(readTokenPayment(input, OWNER)).toEqual({ recipient, amount });
  });

  test.each([
    ["a plain transfer of coin", "0x"],
    ["an approval", encodeFunctionData({ abi: erc20Abi, functionName: "approve", args: [RECIPIENT, 7n] })],
    ["a transfer that is cut short", transfer.slice(0, -2)],
    ["a transfer without arguments", "0xa9059cbb"],
    ["a transfer to no address", `0xa9059cbb${"f".repeat(64)}${"0".repeat(64)}`],
  ])("of %s is null", (_name, input) => {
    expect(readTokenPayment(input, OWNER)).toBeNull();
  });

  test("is what was encoded, whatever it was", () => {
    const anyAddress = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes): Address => `0x${Buffer.from(bytes).toString("hex")}`);
    const anyAmount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
    fc.assert(
      fc.property(anyAddress, anyAmount, fc.boolean(), (recipient, amount, isFrom) => {
        const input: Hex = isFrom
          ? encodeFunctionData({
              abi: erc20Abi,
              functionName: "transferFrom",
              args: [zeroAddress, recipient, amount],
            })
          : encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args: [recipient, amount] });
        expect(readTokenPayment(input, OWNER)).toEqual({ recipient, amount });
      }),
    );
  });
});
