import type { Address } from "viem";
import {
  BEFORE_EXECUTION,
  OPERATION_TROUBLE,
  SAFE_FAILURE,
  SAFE_SUCCESS,
  USER_OPERATION,
} from "../../chain/node/event-topics.ts";
import { EnrichFailure } from "../../chain/node/failure.ts";
import type { RawLog } from "../../chain/node/raw-log.ts";
import { readTokenPayment } from "../../chain/token-payment.ts";
import { type BundledOperation, readBundle } from "./bundle.ts";
import type { CarryingTransaction } from "./carrier.ts";
import { createLogDecoder, type LogDecoder } from "./decode-log.ts";
import { type Execution, operationOf } from "./find-executions.ts";
import { type InnerCall, readInnerCall, readSafeTransaction } from "./inner-call.ts";
import type { MinedCall } from "./own-call.ts";

/** An execution as an own call, with the logs that belong to it. */
type ExecutedCall = {
  readonly execution: Execution;
  /** All of it but when its block was mined. */
  readonly call: Omit<MinedCall, "timestamp">;
  readonly logs: readonly RawLog[];
  /** Accounts can share thousands of logs: each is decoded once for all executions. */
  readonly decode: LogDecoder;
};

export type Carried = {
  readonly carrier: CarryingTransaction;
  /** Those that are believed, lower-case. */
  readonly entryPoints: ReadonlySet<Address>;
};

/** leftOut: executions whose logs are too many, see MAX_SHARED_LOGS. */
type DescribedExecutions = { readonly calls: readonly ExecutedCall[]; readonly leftOut: number };

/**
 * Logs that executions of Safes cover in one transaction before further ones are left out. Each Safe's first execution begins
 * with the transaction, so that without a bound the work grows with the Safes times the logs.
 */
const MAX_SHARED_LOGS = 100_000;

const EXEC_TRANSACTION = "0x6a761202";
const SELECTOR_CHARACTERS = 10;

/**
 * The own calls that executions of one transaction are, in their order; a Safe's that is part of an operation of the same
 * account is none. Throws an EnrichFailure for an execution that the transaction's logs do not tell of.
 */
export function describeExecutions(
  executions: readonly Execution[],
  { carrier, entryPoints }: Carried,
): DescribedExecutions {
  const extents = extentsOf(executions, carrier.logs, entryPoints);
  const read = createCalldataReader(carrier);
  const decode = createLogDecoder();
  let leftOut = 0;
  const calls = executions.flatMap((execution) => {
    const { log, wallet, ok, origin } = execution;
    const extent = extents.get(log.logIndex);
    if (extent === undefined)
      throw new EnrichFailure("inconsistent", `a log of ${log.transactionHash} is not in its receipt`);
    if (extent === "left_out") {
      leftOut += 1;
      return [];
    }
    if (origin === "safe" && extent.operationOf === wallet) return [];
    const logs = carrier.logs.slice(extent.start, extent.end).filter((one) => !isTrouble(one, log.address));
    const { inner, ...cost } = read(execution);
    const told =
      inner === null ? UNKNOWN_CALL : ok ? believable(inner, logs, decode) : { ...inner, value: 0n };
    const call = {
      hash: log.transactionHash,
      block: log.blockNumber,
      transactionIndex: carrier.index,
      position: log.logIndex + 1,
      ...{ wallet, ok },
      ...cost,
      ...told,
    };
    return [{ execution, call, logs, decode }];
  });
  return { calls, leftOut };
}

const UNKNOWN_CALL = { to: null, value: 0n, input: "0x" } as const;

/**
 * What calldata says of a call, as far as it cannot be forged: the account runs it by code of its own, which may do something
 * else or nothing. So no execution sends native coin, which leaves no log; it pays tokens where their contract logs that very
 * payment; and whom it called counts as its counterparty where that logged, which the model looks after. A failed one has no
 * logs: whom it tried to call or pay stays as it is told, since a failure only costs.
 */
function believable({ to, input }: InnerCall, logs: readonly RawLog[], decode: LogDecoder): InnerCall {
  const payment = readTokenPayment(input);
  const isPaid = (log: RawLog): boolean => {
    if (payment === null || log.address !== to) return false;
    const decoded = decode(log);
    const [moved] = decoded?.event === "transfer" ? decoded.movements : [];
    const { recipient, amount } = payment;
    return moved?.standard === "erc20" && moved.to === recipient && moved.amount === amount;
  };
  if (payment === null || logs.some(isPaid)) return { to, value: 0n, input };
  return { to, value: 0n, input: `0x${input.slice(2, SELECTOR_CHARACTERS)}` };
}

type ReadExecution = Pick<MinedCall, "gasLimit" | "gasUsed" | "gasPrice" | "fee"> & {
  readonly inner: InnerCall | null;
};

/** Decodes the calldata once for all executions in it, however large it is. */
function createCalldataReader(carrier: CarryingTransaction): (execution: Execution) => ReadExecution {
  let operations: ReadonlyMap<string, BundledOperation> | null = null;
  let direct: { readonly inner: InnerCall | null } | null = null;
  return (execution) => {
    if (execution.origin === "safe") {
      if (execution.wallet !== carrier.to) return safeCost(carrier, null);
      direct ??= { inner: directCall(carrier) };
      return safeCost(carrier, direct.inner);
    }
    if (execution.log.address !== carrier.to) return operationCost(execution, carrier, null);
    operations ??= operationsOf(carrier);
    const { wallet, nonce } = execution;
    return operationCost(execution, carrier, operations.get(`${wallet} ${nonce}`) ?? null);
  };
}

/** Operations of a bundle by sender and nonce, the first of each. */
function operationsOf({ input }: CarryingTransaction): ReadonlyMap<string, BundledOperation> {
  const bundle = readBundle(input) ?? [];
  return new Map(bundle.toReversed().map((one) => [`${one.sender} ${one.nonce}`, one]));
}

function directCall({ input }: CarryingTransaction): InnerCall | null {
  if (!input.startsWith(EXEC_TRANSACTION)) return null;
  return readSafeTransaction(`0x${input.slice(SELECTOR_CHARACTERS)}`);
}

/** Gas and cost are those of the event; the limit is the operation's, or the transaction's where its calldata is not a bundle. */
function operationCost(
  { gasCost, gasUsed }: Extract<Execution, { origin: "erc4337" }>,
  { gasLimit }: CarryingTransaction,
  operation: BundledOperation | null,
): ReadExecution {
  return {
    inner: operation === null ? null : readInnerCall(operation.callData),
    gasLimit: operation === null ? gasLimit : operation.gasLimit,
    gasUsed,
    gasPrice: gasUsed === 0n ? 0n : gasCost / gasUsed,
    fee: gasCost,
  };
}

/** Whoever sent it paid for the whole transaction; the Safe's own event tells no gas. */
function safeCost(
  { gasLimit, gasUsed, gasPrice }: CarryingTransaction,
  inner: InnerCall | null,
): ReadExecution {
  return { inner, gasLimit, gasUsed, gasPrice, fee: gasUsed * gasPrice };
}

/** Where the logs of an execution begin and end among those of the transaction, and whose operation ends next after it. */
type Extent = { readonly start: number; readonly end: number; readonly operationOf: Address | null };

/**
 * Of each execution, by the number of its log: the logs between the execution before it, or the transaction's start, and the
 * one that tells of it. An entry point tells of each operation right after it, and of none before all were found valid; what
 * calls itself one and is not believed says nothing of what a Safe's execution is part of. Which are left out depends on the
 * logs alone, not on which Safes are followed: so a single wallet is verified by the same cut.
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

/** What an entry point says of a failure is no effect of it. */
function isTrouble({ address, topics: [event = "0x"] }: RawLog, entryPoint: Address): boolean {
  return address === entryPoint && OPERATION_TROUBLE.includes(event);
}
