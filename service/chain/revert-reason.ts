import { type Hex, parseAbi } from "viem";
import { decodeError } from "./bounded-abi.ts";

/** Why a call was refused by the contract that it called. */
export type Revert = {
  /** For people; null where the contract gave no reason. */
  readonly reason: string | null;
  /** Whether it says that a price moved beyond what the caller allowed. */
  readonly isSlippage: boolean;
};

const LONGEST_REASON = 300;
/** Characters of a reason that are read, before control characters are taken out. */
const READ_CHARACTERS = 10 * LONGEST_REASON;

/** Errors of contracts that many share, beside Error(string) and Panic(uint256). */
const KNOWN_ERRORS = parseAbi([
  "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
  "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
  "error ERC20InvalidReceiver(address receiver)",
  "error SafeERC20FailedOperation(address token)",
  "error InsufficientBalance()",
  "error InsufficientAllowance()",
  "error TransferFailed()",
  "error TransferFromFailed()",
  "error ETHTransferFailed()",
  "error OwnableUnauthorizedAccount(address account)",
  "error AccessControlUnauthorizedAccount(address account, bytes32 neededRole)",
  "error Unauthorized()",
  "error EnforcedPause()",
  "error WrongStatus()",
  "error InvalidJob()",
  "error InvalidHook()",
  "error HookNotWhitelisted()",
  "error GracePeriodActive()",
  "error PaymentTokenNotAllowed()",
  "error ReentrancyGuardReentrantCall()",
  "error TransactionDeadlinePassed()",
  "error AllowanceExpired(uint256 deadline)",
  "error Expired()",
  "error V2TooLittleReceived()",
  "error V2TooMuchRequested()",
  "error V3TooLittleReceived()",
  "error V3TooMuchRequested()",
  "error V4TooLittleReceived(uint256 minAmountOut, uint256 amountOut)",
  "error V4TooMuchRequested(uint256 maxAmountIn, uint256 amountIn)",
  "error TooLittleReceived()",
  "error TooLittleReceived(uint256 amountOut, uint256 minAmountOut)",
  "error InsufficientOutputAmount()",
  "error InsufficientAmount()",
  "error ReturnAmountIsNotEnough(uint256 amountOut, uint256 minAmountOut)",
  "error Slippage()",
  "error SlippageExceeded()",
]);

const SLIPPAGE =
  /^(V\d)?Too(LittleReceived|MuchRequested)|INSUFFICIENT_OUTPUT_AMOUNT|EXCESSIVE_INPUT_AMOUNT|^InsufficientOutputAmount|too little received|too much requested|slippage|return ?amount ?is ?not ?enough/i;

/** The reason in what a call reverted with; null data is that of a node which does not pass it on. */
export function readRevert(data: Hex | null): Revert {
  if (data === null || data === "0x") return { reason: null, isSlippage: false };
  const reason = clean(describe(data));
  return { reason, isSlippage: SLIPPAGE.test(reason) };
}

function describe(data: Hex): string {
  const error: { errorName: string; args?: readonly unknown[] | undefined } | null = decodeError(
    KNOWN_ERRORS,
    data,
  );
  if (error === null) return `custom error ${data.slice(0, 10)}, data 0x${data.slice(10)}`;
  const { errorName, args } = error;
  if (errorName === "Error") return String(args?.[0]);
  return `${errorName}(${args === undefined ? "" : args.map(String).join(", ")})`;
}

/** Contracts choose these texts: no control characters, and no more than a line. */
function clean(text: string): string {
  return text
    .slice(0, READ_CHARACTERS)
    .replaceAll(/\p{Cc}+/gu, " ")
    .slice(0, LONGEST_REASON);
}
