import { type Address, concat, encodeFunctionData, type Hex, numberToHex, pad, zeroHash } from "viem";
import { entryPointAbi } from "../../devnet/abi/entry-point.ts";

/** executeBatch(address[],bytes[]), as common accounts have it. */
const EXECUTE_BATCH: Hex = "0x18dfb3c7";
/** multicall(bytes[]), as routers have it. */
const MULTICALL: Hex = "0xac9650d8";
const WORD_BYTES = 32;
const GAS_LIMITS = concat([numberToHex(1_000_000n, { size: 16 }), numberToHex(10_000_000n, { size: 16 })]);

/**
 * Calldata of executeBatch whose elements all point at the same bytes: read element by element it grows with the square of its
 * own length, of some 32 bytes an element.
 */
export function selfPointingBatch(elements: number): Hex {
  return concat([
    EXECUTE_BATCH,
    word(2 * WORD_BYTES),
    word(4 * WORD_BYTES),
    word(1),
    word(1),
    ...selfPointingArray(elements),
  ]);
}

/** Calldata of a multicall of that kind. */
export function selfPointingMulticall(elements: number): Hex {
  return concat([MULTICALL, word(WORD_BYTES), ...selfPointingArray(elements)]);
}

/** handleOps with one operation of an account. */
export function bundleOf(sender: Address, nonce: bigint, callData: Hex): Hex {
  const operation = {
    sender,
    nonce,
    initCode: "0x",
    callData,
    accountGasLimits: GAS_LIMITS,
    preVerificationGas: 50_000n,
    gasFees: zeroHash,
    paymasterAndData: "0x",
    signature: "0x",
  } as const;
  return encodeFunctionData({ abi: entryPointAbi, functionName: "handleOps", args: [[operation], sender] });
}

/** The length of an array of bytes, and as many equal pointers into the middle of them: the word there is a length as well. */
function selfPointingArray(elements: number): Hex[] {
  const pointer = word(Math.floor(elements / 2) * WORD_BYTES);
  return [word(elements), ...Array.from({ length: elements }, () => pointer)];
}

function word(value: number): Hex {
  return pad(numberToHex(value));
}
