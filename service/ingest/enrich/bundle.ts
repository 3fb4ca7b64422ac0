import { type Address, type Hex, parseAbiParameters, size, slice } from "viem";
import { decodeParameters } from "../../chain/bounded-abi.ts";

/** One operation of an ERC-4337 bundle, as its calldata tells. */
export type BundledOperation = {
  readonly sender: Address;
  readonly nonce: bigint;
  readonly callData: Hex;
  /** Sum of everything that its gas was limited by. */
  readonly gasLimit: bigint;
};

const V06 = parseAbiParameters(
  "(address sender, uint256 nonce, bytes initCode, bytes callData, uint256 callGasLimit, uint256 verificationGasLimit, uint256 preVerificationGas, uint256 maxFeePerGas, uint256 maxPriorityFeePerGas, bytes paymasterAndData, bytes signature)[], address",
);
const V07 = parseAbiParameters(
  "(address sender, uint256 nonce, bytes initCode, bytes callData, bytes32 accountGasLimits, uint256 preVerificationGas, bytes32 gasFees, bytes paymasterAndData, bytes signature)[], address",
);

const HANDLE_OPS_V06 = "0x1fad948c";
const HANDLE_OPS_V07 = "0x765e827f";
const SELECTOR_CHARACTERS = 10;
/** The paymaster's address, then what its validation and its end may use, 16 bytes each. */
const PAYMASTER_LIMITS = { start: 20, middle: 36, end: 52 };

/** The operations that calldata of handleOps holds, of entry points up to 0.6 and from 0.7 on; null for any other calldata. */
export function readBundle(input: Hex): readonly BundledOperation[] | null {
  const args: Hex = `0x${input.slice(SELECTOR_CHARACTERS)}`;
  if (input.startsWith(HANDLE_OPS_V06)) return readV06(args);
  return input.startsWith(HANDLE_OPS_V07) ? readV07(args) : null;
}

function readV06(args: Hex): readonly BundledOperation[] | null {
  const operations = decodeParameters(V06, args)?.[0] ?? null;
  if (operations === null) return null;
  return operations.map((operation) => ({
    sender: operation.sender.toLowerCase() as Address,
    nonce: operation.nonce,
    callData: operation.callData,
    gasLimit: operation.callGasLimit + operation.verificationGasLimit + operation.preVerificationGas,
  }));
}

function readV07(args: Hex): readonly BundledOperation[] | null {
  const operations = decodeParameters(V07, args)?.[0] ?? null;
  if (operations === null) return null;
  return operations.map((operation) => ({
    sender: operation.sender.toLowerCase() as Address,
    nonce: operation.nonce,
    callData: operation.callData,
    gasLimit:
      sumOfHalves(operation.accountGasLimits) +
      operation.preVerificationGas +
      paymasterLimits(operation.paymasterAndData),
  }));
}

/** Two 16-byte numbers in one word. */
function sumOfHalves(word: Hex): bigint {
  return BigInt(slice(word, 0, 16)) + BigInt(slice(word, 16, 32));
}

function paymasterLimits(paymasterAndData: Hex): bigint {
  const { start, middle, end } = PAYMASTER_LIMITS;
  if (size(paymasterAndData) < end) return 0n;
  return BigInt(slice(paymasterAndData, start, middle)) + BigInt(slice(paymasterAndData, middle, end));
}
