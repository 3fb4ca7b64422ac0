import { type Address, type Hex, parseAbiParameters, size, slice } from "viem";
import { z } from "zod";
import { decodeParameters } from "../../chain/bounded-abi.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import {
  BEFORE_EXECUTION,
  logAnswer,
  OPERATION_TROUBLE,
  type RawLog,
  type RawReceipt,
  type RawTransaction,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  USER_OPERATION,
} from "../../chain/node/rpc-answers.ts";
import { readTokenPayment } from "../../chain/token-payment.ts";
import { lowerCase } from "../../db/columns.ts";
import { createLogDecoder, decodeLog, type LogDecoder } from "./decode-log.ts";
import { EXECUTE_USER_OP, type InnerCall, readInnerCall, readSafeCall } from "./inner-call.ts";
import { type Followed, isFollowed } from "./log-rows.ts";
import { type AskedPayment, findPayments, type TraceFrame } from "./native-payments.ts";

/** Logs that Safes' executions may share in one transaction: without a bound the work is the Safes times the logs. */
const MAX_SHARED_LOGS = 100_000;

const EXEC_TRANSACTION = "0x6a761202";
const SELECTOR_CHARACTERS = 10;

/**
 * The own calls that executions of one transaction are, in order, with their logs. A Safe's execution within an operation of the
 * same account is not an own call. Counts those left out by MAX_SHARED_LOGS. `withPayments` adds the native coin
 * that they sent. Throws a NodeFailure for an execution that the logs do not show.
 */
export function describeExecutions(
  executions: readonly Execution[],
  bundle: BundleTransaction,
  entryPoints: ReadonlySet<Address>,
) {
  const extents = extentsOf(executions, bundle.logs, entryPoints);
  const read = createCalldataReader(bundle);
  // Accounts can share thousands of logs: each is decoded once for all executions.
  const decode = createLogDecoder();
  let leftOut = 0;
  const calls = executions.flatMap((execution) => {
    const { log, wallet, ok, origin } = execution;
    const extent = extents.get(log.logIndex);
    if (extent === undefined)
      throw new NodeFailure("inconsistent", `a log of ${log.transactionHash} is not in its receipt`);
    if (extent === "left_out") {
      leftOut += 1;
      return [];
    }
    if (origin === "safe" && extent.operationOf === wallet) return [];
    const logs = bundle.logs.slice(extent.start, extent.end).filter((one) => !isTrouble(one, log.address));
    const { inner, entry, ...cost } = read(execution);
    const seen = inner === null ? UNKNOWN_CALL : ok ? believable({ ...inner, wallet }, logs, decode) : inner;
    const value = seen.value === 0n ? 0n : null;
    const asked: AskedPayment | null =
      ok && inner !== null && value === null ? { account: wallet, call: inner, entry } : null;
    const place = {
      hash: log.transactionHash,
      block: log.blockNumber,
      transactionIndex: bundle.index,
      position: log.logIndex + 1,
    };
    return [{ execution, asked, call: { ...place, wallet, ok, ...cost, ...seen, value }, logs, decode }];
  });
  return { calls, leftOut };
}

type DescribedExecution = ReturnType<typeof describeExecutions>["calls"][number];

/** The executions with the native coin that a trace of their transaction shows; without a trace it stays unknown. */
export function withPayments(
  executions: readonly DescribedExecution[],
  trace: readonly TraceFrame[] | null,
): readonly DescribedExecution[] {
  if (trace === null) return executions;
  const asking = executions.flatMap(({ asked }) => asked ?? []);
  const sent = new Map(findPayments(trace, asking).map((value, place) => [asking[place], value]));
  return executions.map((execution) => {
    const value = execution.asked === null ? undefined : sent.get(execution.asked);
    return value === undefined ? execution : { ...execution, call: { ...execution.call, value } };
  });
}

const UNKNOWN_CALL = { to: null, value: 0n, input: "0x" } as const;

/**
 * The part of the calldata that cannot be forged: the account's own code may do something else. So an execution pays tokens only
 * if their contract logs that payment, and native coin only if a trace shows it. Whether the called account logged is checked by
 * the model.
 */
function believable(
  { wallet, to, value, input }: InnerCall & { readonly wallet: Address },
  logs: readonly RawLog[],
  decode: LogDecoder,
): InnerCall {
  const payment = readTokenPayment(input, wallet);
  const isPaid = (log: RawLog): boolean => {
    if (payment === null || log.address !== to) return false;
    const decoded = decode(log);
    const [moved] = decoded?.event === "transfer" ? decoded.movements : [];
    const { recipient, amount } = payment;
    return moved?.standard === "erc20" && moved.to === recipient && moved.amount === amount;
  };
  if (payment === null || logs.some(isPaid)) return { to, value, input };
  return { to, value, input: `0x${input.slice(2, SELECTOR_CHARACTERS)}` };
}

/** Reads what executions called and cost, and decodes the calldata once for all of them, however large it is. */
function createCalldataReader(bundle: BundleTransaction) {
  const { to, input, gasLimit, gasPrice } = bundle;
  let operations: ReadonlyMap<string, EnteredOperation> | null = null;
  let direct: { readonly inner: InnerCall | null } | null = null;
  return (execution: Execution) => {
    if (execution.origin === "safe") {
      if (execution.wallet === to) direct ??= { inner: directCall(bundle) };
      const inner = execution.wallet === to && direct !== null ? direct.inner : null;
      // The sender paid for the whole transaction; the Safe's event has no gas figure.
      const fee = bundle.gasUsed * gasPrice;
      return { inner, entry: null, gasLimit, gasUsed: bundle.gasUsed, gasPrice, fee };
    }
    const { wallet, nonce, log, gasCost: fee, gasUsed } = execution;
    if (log.address === to)
      // Of several with one sender and nonce the first.
      operations ??= new Map(
        enteredBy(log.address, readBundle(input) ?? [])
          .toReversed()
          .map((one) => [`${one.sender} ${one.nonce}`, one]),
      );
    const operation = log.address === to ? operations?.get(`${wallet} ${nonce}`) : undefined;
    return {
      inner: operation === undefined ? null : readInnerCall(operation.callData),
      entry: operation?.entry ?? null,
      // The transaction's where its calldata is not a bundle.
      gasLimit: operation === undefined ? gasLimit : operation.gasLimit,
      gasUsed,
      gasPrice: gasUsed === 0n ? 0n : fee / gasUsed,
      fee,
    };
  };
}

type EnteredOperation = BundledOperation & { readonly entry: NonNullable<AskedPayment["entry"]> };

/** Operations with how the entry point calls their accounts: with their calldata, or with the whole operation as an argument. */
function enteredBy(by: Address, operations: readonly BundledOperation[]): readonly EnteredOperation[] {
  const turns = new Map<string, number>();
  const placed = operations.map((operation) => {
    const isWhole = !operation.callData.startsWith(EXECUTE_USER_OP);
    const input = isWhole ? lowerCase(operation.callData) : EXECUTE_USER_OP;
    const key = `${operation.sender} ${input}`;
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    return { operation, key, entry: { by, input, isWhole, turn } };
  });
  return placed.map(({ operation, key, entry }) => ({
    ...operation,
    entry: { ...entry, turns: turns.get(key) ?? 0 },
  }));
}

function directCall({ input }: BundleTransaction): InnerCall | null {
  if (!input.startsWith(EXEC_TRANSACTION)) return null;
  return readSafeCall(`0x${input.slice(SELECTOR_CHARACTERS)}`);
}

/** Where the logs of an execution begin and end among those of the transaction, and whose operation ends next after it. */
type Extent = { readonly start: number; readonly end: number; readonly operationOf: Address | null };

/**
 * The logs of each execution, by the number of its own log: those after the execution before it, or the transaction's start. Logs
 * of an untrusted entry point are no bound for a Safe. The cut ignores who is followed, so that verifying one wallet makes it too.
 */
function extentsOf(
  executions: readonly Execution[],
  logs: readonly RawLog[],
  entryPoints: ReadonlySet<Address>,
): ReadonlyMap<number, Extent | "left_out"> {
  const wanted = new Set(executions.map(({ log }) => log.logIndex));
  const extents = new Map<number, Extent | "left_out">();
  let shared = 0;
  const bounds = new Map<Address, number>();
  for (const [end, log] of logs.entries()) {
    const start = (bounds.get(log.address) ?? -1) + 1;
    const isSafe = !entryPoints.has(log.address);
    const extent = { start, end, operationOf: null };
    if (wanted.has(log.logIndex))
      extents.set(log.logIndex, isSafe && shared > MAX_SHARED_LOGS ? "left_out" : extent);
    if (!isBound(log, entryPoints)) continue;
    bounds.set(log.address, end);
    if (isSafe) shared += end - start;
  }
  let operating: Address | null = null;
  for (const log of logs.toReversed()) {
    const extent = extents.get(log.logIndex);
    if (extent !== undefined && extent !== "left_out")
      extents.set(log.logIndex, { ...extent, operationOf: operating });
    if (entryPoints.has(log.address)) operating = operationOf(log)?.wallet ?? operating;
  }
  return extents;
}

function isBound({ address, topics: [event] }: RawLog, entryPoints: ReadonlySet<Address>): boolean {
  if (entryPoints.has(address)) return event === USER_OPERATION || event === BEFORE_EXECUTION;
  return event === SAFE_SUCCESS || event === SAFE_FAILURE;
}

/** An entry point's log about a failure is no effect of the execution. */
function isTrouble({ address, topics: [event = "0x"] }: RawLog, entryPoint: Address): boolean {
  return address === entryPoint && OPERATION_TROUBLE.includes(event);
}

/** The log by which a followed smart account is known to have executed something. */
export type Execution =
  | {
      readonly origin: "erc4337";
      readonly wallet: Address;
      readonly ok: boolean;
      readonly log: RawLog;
      readonly nonce: bigint;
      readonly gasCost: bigint;
      readonly gasUsed: bigint;
    }
  | { readonly origin: "safe"; readonly wallet: Address; readonly ok: boolean; readonly log: RawLog };

/** Most executions of one account in one transaction: a fake Safe can log thousands for little gas. */
export const MAX_EXECUTIONS = 64;

/** Operations of followed accounts by trusted entry points, and executions that followed Safes log; the first of each account. */
export function findExecutions(
  logs: readonly RawLog[],
  believed: { readonly followed: Followed; readonly entryPoints: ReadonlySet<Address> },
) {
  const counts = new Map<string, number>();
  const executions: Execution[] = [];
  let dropped = 0;
  for (const log of logs) {
    const execution = believed.entryPoints.has(log.address) ? operationOf(log) : safeExecutionOf(log);
    if (execution === null || !isFollowed(believed.followed, execution.wallet, log.blockNumber)) continue;
    const key = `${execution.wallet} ${log.transactionHash}`;
    const before = counts.get(key) ?? 0;
    if (before === MAX_EXECUTIONS) {
      dropped += 1;
      continue;
    }
    counts.set(key, before + 1);
    executions.push(execution);
  }
  return { executions, dropped };
}

/** The operation in a log of an entry point; null for any other log. */
function operationOf(log: RawLog): Execution | null {
  const decoded = decodeLog(log);
  if (decoded?.event !== "user_operation") return null;
  const { wallet, nonce, success, actualGasCostWei, actualGasUsed } = decoded.operation;
  const cost = { gasCost: actualGasCostWei, gasUsed: actualGasUsed };
  return { origin: "erc4337", wallet, nonce, log, ok: success, ...cost };
}

const WORD_CHARACTERS = 64;
/** Hash and payment, of which the hash may be a topic. */
const SAFE_EVENT_WORDS = 2;

function safeExecutionOf(log: RawLog): Execution | null {
  const [event, ...more] = log.topics;
  if (event !== SAFE_SUCCESS && event !== SAFE_FAILURE) return null;
  const words = more.length + (log.data.length - 2) / WORD_CHARACTERS;
  if (words !== SAFE_EVENT_WORDS || more.length > 1) return null;
  return { origin: "safe", wallet: log.address, ok: event === SAFE_SUCCESS, log };
}

/** One operation of an ERC-4337 bundle, by its calldata. */
type BundledOperation = {
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
/** The paymaster's address, then what its validation and its end may use, 16 bytes each. */
const PAYMASTER_LIMITS = { start: 20, middle: 36, end: 52 };

/** The operations that calldata of handleOps holds, of entry points up to 0.6 and from 0.7 on; null for any other calldata. */
export function readBundle(input: Hex): readonly BundledOperation[] | null {
  const args: Hex = `0x${input.slice(SELECTOR_CHARACTERS)}`;
  if (input.startsWith(HANDLE_OPS_V06)) {
    const [operations] = decodeParameters(V06, args) ?? [null];
    return (
      operations?.map((one) =>
        bundled(one, one.callGasLimit + one.verificationGasLimit + one.preVerificationGas),
      ) ?? null
    );
  }
  if (!input.startsWith(HANDLE_OPS_V07)) return null;
  const [operations] = decodeParameters(V07, args) ?? [null];
  return (
    operations?.map((one) => {
      const limits = sumOfHalves(one.accountGasLimits) + paymasterLimits(one.paymasterAndData);
      return bundled(one, limits + one.preVerificationGas);
    }) ?? null
  );
}

function bundled(
  { sender, nonce, callData }: Pick<BundledOperation, "sender" | "nonce" | "callData">,
  gasLimit: bigint,
): BundledOperation {
  return { sender: lowerCase(sender), nonce, callData, gasLimit };
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

/** A mined transaction in which smart accounts executed something. */
export type BundleTransaction = {
  readonly block: number;
  readonly index: number;
  readonly to: Address | null;
  readonly input: Hex;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  /** All its logs, in order. */
  readonly logs: readonly RawLog[];
};

/** A transaction with its receipt; throws a NodeFailure if the two are not of one transaction, or the logs are malformed. */
export function bundleTransactionOf(
  receipt: RawReceipt,
  transaction: RawTransaction | null,
): BundleTransaction {
  const fits =
    transaction?.hash === receipt.transactionHash &&
    transaction.blockHash === receipt.blockHash &&
    transaction.transactionIndex === receipt.transactionIndex;
  if (!fits) {
    const hash = receipt.transactionHash;
    throw new NodeFailure("inconsistent", `${hash} has a receipt and is not itself there`);
  }
  return {
    block: receipt.blockNumber,
    index: receipt.transactionIndex,
    to: transaction.to ?? null,
    input: transaction.input,
    gasLimit: transaction.gas,
    gasUsed: receipt.gasUsed,
    gasPrice: receipt.effectiveGasPrice,
    logs: receiptLogs(receipt),
  };
}

/** Returns the logs of a receipt, in order; throws a NodeFailure if they are malformed. */
export function receiptLogs(receipt: RawReceipt): readonly RawLog[] {
  const logs = z.array(logAnswer).safeParse(receipt.logs);
  if (!logs.success) {
    throw new NodeFailure("garbage", `the receipt of ${receipt.transactionHash} has no readable logs`);
  }
  return logs.data;
}
