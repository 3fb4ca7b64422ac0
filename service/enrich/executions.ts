import type { Address, Hex } from "viem";
import { readBundle } from "./bundle.ts";
import { decodeLog } from "./decode-log.ts";
import {
  BEFORE_EXECUTION,
  OPERATION_TROUBLE,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  USER_OPERATION,
} from "./event-topics.ts";
import { type InnerCall, readInnerCall, readSafeTransaction } from "./inner-call.ts";
import type { Followed } from "./log-rows.ts";
import type { MinedCall } from "./own-call.ts";
import type { RawLog } from "./raw-log.ts";

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

/** The transaction in which it happened. */
export type CarryingTransaction = {
  readonly index: number;
  readonly to: Address | null;
  readonly input: Hex;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  readonly gasPrice: bigint;
  /** All its logs, in order. */
  readonly logs: readonly RawLog[];
};

/** An execution as an own call, with the logs that belong to it. */
export type ExecutedCall = { readonly call: MinedCall; readonly logs: readonly RawLog[] };

const EXEC_TRANSACTION = "0x6a761202";
const SELECTOR_CHARACTERS = 10;

/**
 * Executions that the logs tell of: operations of followed accounts by believed entry points, and what followed Safes say
 * of themselves. What any other contract says is not believed.
 */
export function findExecutions(
  logs: readonly RawLog[],
  believed: { readonly followed: Followed; readonly entryPoints: ReadonlySet<Address> },
): readonly Execution[] {
  return logs.flatMap((log): readonly Execution[] => {
    const execution = believed.entryPoints.has(log.address) ? operationOf(log) : safeExecutionOf(log);
    const since = execution === null ? undefined : believed.followed.get(execution.wallet);
    return execution !== null && since !== undefined && since <= log.blockNumber ? [execution] : [];
  });
}

/** The own call that an execution is; null for a Safe's that is part of an operation of the same account. */
export function describeExecution(
  execution: Execution,
  carrier: CarryingTransaction,
  timestamp: number,
): ExecutedCall | null {
  const { log, wallet, ok } = execution;
  if (execution.origin === "safe" && isWithinOperation(execution.wallet, log, carrier.logs)) return null;
  const { inner, ...cost } =
    execution.origin === "safe" ? readSafe(execution, carrier) : readOperation(execution, carrier);
  const call = {
    hash: log.transactionHash,
    block: log.blockNumber,
    transactionIndex: carrier.index,
    position: log.logIndex + 1,
    ...{ timestamp, wallet, ok },
    ...cost,
    ...(inner ?? UNKNOWN_CALL),
  };
  return { call, logs: logsOf(execution, carrier.logs) };
}

const UNKNOWN_CALL = { to: null, value: 0n, input: "0x" } as const;

type ReadExecution = Pick<MinedCall, "gasLimit" | "gasUsed" | "gasPrice" | "fee"> & {
  readonly inner: InnerCall | null;
};

/** Gas and cost are those of the event; the limit is the operation's, or the transaction's where its calldata is not a bundle. */
function readOperation(
  execution: Extract<Execution, { origin: "erc4337" }>,
  { to, input, gasLimit }: CarryingTransaction,
): ReadExecution {
  const { wallet, nonce, gasCost, gasUsed, log } = execution;
  const bundle = to === log.address ? readBundle(input) : null;
  const operation = bundle?.find((one) => one.sender === wallet && one.nonce === nonce) ?? null;
  return {
    inner: operation === null ? null : readInnerCall(operation.callData),
    gasLimit: operation === null ? gasLimit : operation.gasLimit,
    gasUsed,
    gasPrice: gasUsed === 0n ? 0n : gasCost / gasUsed,
    fee: gasCost,
  };
}

/** Whoever sent it paid for the whole transaction; the Safe's own event tells no gas. */
function readSafe(
  { wallet }: Execution,
  { to, input, gasLimit, gasUsed, gasPrice }: CarryingTransaction,
): ReadExecution {
  const isDirect = to === wallet && input.startsWith(EXEC_TRANSACTION);
  return {
    inner: isDirect ? readSafeTransaction(`0x${input.slice(SELECTOR_CHARACTERS)}`) : null,
    gasLimit,
    gasUsed,
    gasPrice,
    fee: gasUsed * gasPrice,
  };
}

function operationOf(log: RawLog): Execution | null {
  const decoded = decodeLog(log);
  if (decoded?.event !== "user_operation") return null;
  const { wallet, nonce, success, actualGasCostWei, actualGasUsed } = decoded.operation;
  return {
    origin: "erc4337",
    ...{ wallet, nonce, log, ok: success },
    gasCost: actualGasCostWei,
    gasUsed: actualGasUsed,
  };
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

/**
 * The logs between the execution before it, or the transaction's start, and the one that tells of it: an entry point tells
 * of each operation right after it, and of none before all were found valid. What it says of a failure is no effect.
 */
function logsOf({ origin, log }: Execution, all: readonly RawLog[]): readonly RawLog[] {
  const isBound = origin === "safe" ? isSafeBound : isOperationBound;
  const before = all.filter((other) => other.logIndex < log.logIndex);
  const start = before.findLastIndex((other) => other.address === log.address && isBound(other));
  return before
    .slice(start + 1)
    .filter((other) => other.address !== log.address || !OPERATION_TROUBLE.includes(other.topics[0] ?? "0x"));
}

function isOperationBound({ topics }: RawLog): boolean {
  return topics[0] === USER_OPERATION || topics[0] === BEFORE_EXECUTION;
}

function isSafeBound({ topics }: RawLog): boolean {
  return topics[0] === SAFE_SUCCESS || topics[0] === SAFE_FAILURE;
}

/** Whether an operation of the account ends after the log, and no other operation in between. */
function isWithinOperation(wallet: Address, log: RawLog, all: readonly RawLog[]): boolean {
  const next = all.find((other) => other.logIndex > log.logIndex && other.topics[0] === USER_OPERATION);
  const operation = next === undefined ? null : operationOf(next);
  return operation?.wallet === wallet;
}
