import { createMarket, type Market } from "../../model/features/market.ts";
import type { WalletRows } from "../../model/features/types.ts";
import type { CallOutcomes, FailedCall, FailedExecution } from "../../reports/recovery/failed-calls.ts";
import { LISTED_DAYS, type Recovery } from "../../reports/recovery/open-recovery.ts";
import type { FailureCause, Recovered } from "../../reports/recovery/recover-failures.ts";
import { serializeUnsigned, type UnsignedTransaction } from "../../reports/recovery/unsigned-transaction.ts";
import { toEip55 } from "../address-schema.ts";
import { isoOf, reportScope } from "../wallet-report.ts";
import type { RetryAnswer, UnsignedTransactionAnswer } from "./get-retry-schema.ts";

const MICROS = 1_000_000;

export type RetryFindings = {
  readonly rows: WalletRows;
  readonly recovery: Recovery;
  readonly recovered: Recovered;
};

/** The answer of GET /retry/{address}. */
export function renderRetry({ rows, recovery, recovered }: RetryFindings): RetryAnswer {
  const { wallet, block, state, outcomes } = recovery;
  const total = recovered.offers.reduce((sum, { maxCost }) => sum + maxCost, 0n);
  return {
    address: toEip55(wallet),
    ...renderScope(rows, recovery),
    account: state.account,
    simulated_at: renderBlock(recovery),
    pending_transactions: state.pendingNonce - state.nonce,
    failures_found: foundFailures(outcomes),
    ...renderOffers({ rows, recovery, recovered }),
    rehearsed: recovered.rehearsed,
    total_max_cost_wei: total.toString(),
    total_max_cost_usd: usdOf(total, block.timestamp, createMarket(rows.tokens)),
    executions: outcomes.executions.map(renderExecution),
  };
}

/** What is offered and what is not, as /retry and /agent/protect show it. */
export function renderOffers({
  rows,
  recovery,
  recovered,
}: RetryFindings): Pick<RetryAnswer, "offers" | "others"> {
  const { block, failures } = recovery;
  const market = createMarket(rows.tokens);
  const kinds = new Map(failures.map(({ call, intent }) => [call.hash, intent.kind]));
  const failureOf = (call: FailedCall, cause: FailureCause) => ({
    ...renderFailure(call, cause),
    intent: kinds.get(call.hash) ?? null,
  });
  return {
    offers: recovered.offers.map(({ call, cause, transaction, gas, maxCost }) => ({
      failure: failureOf(call, cause),
      transaction: renderTransaction(transaction),
      simulation: { passes: true, block: block.number, gas_estimate: gas.toString() },
      max_cost_wei: maxCost.toString(),
      max_cost_usd: usdOf(maxCost, block.timestamp, market),
    })),
    others: [
      ...recovered.refused.map(({ call, cause, code, detail, by }) => ({
        ...{ failure: failureOf(call, cause), reason: code, detail, by },
      })),
      ...recovered.unread.map(({ call, cause, code, detail }) => ({
        failure: { ...renderFailure({ ...call, nonce: null }, cause), intent: null },
        ...{ reason: code, detail, by: null },
      })),
    ].toSorted((a, b) => b.failure.block - a.failure.block),
  };
}

/** Failed transactions of the listed days, those that only a history source told of included. */
export function foundFailures({ failuresFound, told }: CallOutcomes): number {
  return failuresFound + told.failuresFound;
}

/** The scope of what is read up to the block of the simulations. */
export function renderScope(rows: WalletRows, recovery: Recovery): ReturnType<typeof reportScope> {
  const { block } = recovery;
  const asOf = { blockNumber: block.number, blockHash: block.hash, timestamp: block.timestamp };
  return withUnread(reportScope({ rows, asOf }, LISTED_DAYS), recovery);
}

/** A scope that is not complete where a failure was found and not read. */
export function withUnread<Scope extends Pick<ReturnType<typeof reportScope>, "coverage">>(
  scope: Scope,
  { outcomes, unread }: Recovery,
): Scope {
  const isListed = outcomes.failures.length + unread.length === foundFailures(outcomes);
  const isRead = unread.every(({ code }) => code !== "not_read" && code !== "not_tried");
  const complete = scope.coverage.complete && isListed && isRead;
  return { ...scope, coverage: { ...scope.coverage, complete } };
}

/** The block that everything was simulated at. */
export function renderBlock({ block }: Recovery): RetryAnswer["simulated_at"] {
  return { block: block.number, block_hash: block.hash, time: isoOf(block.timestamp) };
}

/** A transaction to be signed: its members, and the same serialized. */
export function renderTransaction(transaction: UnsignedTransaction): UnsignedTransactionAnswer {
  const { type, chainId, nonce, to, data, value, gas } = transaction;
  return {
    ...{ type, chainId, nonce },
    to: to === null ? null : toEip55(to),
    data,
    value: value.toString(),
    gas: gas.toString(),
    maxFeePerGas: transaction.maxFeePerGas.toString(),
    maxPriorityFeePerGas: transaction.maxPriorityFeePerGas.toString(),
    serialized: serializeUnsigned(transaction),
  };
}

/** US dollars of native coin at the price of a moment; null where no feed prices it. */
export function usdOf(wei: bigint, timestamp: number, market: Market): number | null {
  const micros = market.nativeWorth(wei, timestamp);
  return micros === null ? null : Math.round(micros) / MICROS;
}

function renderFailure(
  call: Omit<FailedCall, "nonce" | "input"> & { readonly nonce: number | null },
  cause: FailureCause,
) {
  const { hash, block, nonce, to, selector, l1Fee } = call;
  const executionFee = call.gasUsed * call.gasPrice;
  return {
    ...{ hash, block, time: isoOf(call.timestamp), nonce },
    to: to === null ? null : toEip55(to),
    selector,
    value: call.value.toString(),
    gas_limit: call.gasLimit.toString(),
    gas_used: call.gasUsed.toString(),
    fee_wei: (l1Fee === null ? executionFee : executionFee + l1Fee).toString(),
    fee_complete: l1Fee !== null,
    cause: cause.kind,
    cause_reason: cause.reason,
  };
}

function renderExecution({ hash, position, block, timestamp, to, selector }: FailedExecution) {
  return {
    ...{ hash, position, block, time: isoOf(timestamp), selector },
    to: to === null ? null : toEip55(to),
  };
}
