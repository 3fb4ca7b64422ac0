import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { unavailable } from "../../access/problems.ts";
import { NodeFailure } from "../../chain/node/failure.ts";
import { createMarket, type Market } from "../../model/features/market.ts";
import type { WalletRows } from "../../model/features/types.ts";
import { LISTED_DAYS } from "../../reports/recovery/call-intent.ts";
import type { FailedCall } from "../../reports/recovery/failed-calls.ts";
import { openRecovery, type Recovery, type RecoveryPorts } from "../../reports/recovery/open-recovery.ts";
import type { FailureCause, recoverFailures } from "../../reports/recovery/recover-failures.ts";
import type { RecoveryNode } from "../../reports/recovery/recovery-node.ts";
import {
  GAS_FORMULA,
  serializeUnsigned,
  type UnsignedTransaction,
} from "../../reports/recovery/unsigned-transaction.ts";
import { reportScope } from "../kit/wallet-report.ts";
import { blockSchema } from "./ahs-record.ts";
import { usdSchema, weiSchema } from "./report-parts.ts";
import {
  eip55Schema,
  fieldsOf,
  flag,
  hashSchema,
  int,
  isoOf,
  isoSchema,
  text,
  toEip55,
  toUsd,
  wholeSchema,
} from "./values.ts";

/** Services of answers that recover failed transactions. */
export type RecoveryNeeds = { readonly recovery: RecoveryPorts };

const UNREACHABLE = "The chain's node does not answer, or this deployment has none.";

export const hexSchema = z
  .string()
  .regex(/^0x[0-9a-f]*$/)
  .openapi({ example: "0x322e9f04" });

export const costUsdSchema = usdSchema.openapi({
  description: "Null where no feed prices the native coin",
  example: 0.012027,
});

export const maxCostSchema = weiSchema.openapi({ example: "6013441764000" });

export const nonceSchema = z.int().min(0).openapi({ example: 412 });

/** An unsigned transaction: the caller checks, signs and sends it. */
export const unsignedTransactionSchema = z
  .object({
    type: z.literal("eip1559"),
    chainId: z.int().positive().openapi({ example: 8453 }),
    nonce: nonceSchema,
    to: eip55Schema.nullable().openapi({ description: "Null for a contract creation" }),
    data: hexSchema,
    value: weiSchema.openapi({ example: "0" }),
    gas: wholeSchema.openapi({ description: `Gas limit: ${GAS_FORMULA}`, example: "60126" }),
    maxFeePerGas: wholeSchema.openapi({
      description: "Wei: twice the newest block's base fee, plus the priority fee",
      example: "100014000",
    }),
    maxPriorityFeePerGas: wholeSchema.openapi({
      description: "Wei, as the node suggests",
      example: "100000000",
    }),
    serialized: hexSchema.openapi({
      description: "0x02 and the RLP of the above: what is to be signed",
      example:
        "0x02ef827a6982019c8405f5e1008405f617b082eade945fc8d32690cc91d4c39d9d3abcbd16989f8757078084322e9f04c0",
    }),
  })
  .openapi("UnsignedTransaction", {
    description: "An EIP-1559 transaction. It is never signed or sent by this service.",
  });

/** A simulation that passed. */
export const passedSimulationSchema = z
  .object({
    passes: z.literal(true),
    block: blockSchema,
    gas_estimate: wholeSchema.openapi({ example: "48100" }),
  })
  .openapi("PassedSimulation", {
    description: "By eth_estimateGas, and by eth_call with the offered gas limit",
  });

const failureSchema = z
  .object({
    hash: hashSchema,
    block: blockSchema,
    time: isoSchema,
    nonce: int("Null, like intent, if only a history source reported it", 409).nullable(),
    to: eip55Schema.nullable(),
    selector: hexSchema.nullable().openapi({ description: "Null for a plain transfer" }),
    value: weiSchema.openapi({ example: "0" }),
    gas_limit: z.string().openapi({ example: "90000" }),
    gas_used: z.string().openapi({ example: "24112" }),
    fee_wei: weiSchema.openapi({
      description: "What the failure cost: gas used at its price, and what a rollup charged for posting it",
    }),
    fee_complete: flag(
      "Whether what a rollup charged is known: false for blocks that are not final and read yet, whose fee is without it",
      true,
    ),
    intent: z.enum(["transfer", "approval", "swap", "other"]).nullable().openapi({
      description: "By its calldata; null where that is not known",
      example: "other",
    }),
    cause: z.enum(["out_of_gas", "slippage", "reverted"]).openapi({
      description:
        "out_of_gas: 98% of the gas limit and more were used, as /health and the score have it. slippage: a revert by which the contract says that a price moved",
      example: "reverted",
    }),
    cause_reason: text(
      "What the contract said, by making the call again on the state before its block; null where it gave no reason, or the node has that state no more. The contract chose this text.",
      "InsufficientBalance()",
    ).nullable(),
  })
  .openapi("FailedTransaction");

/** A transaction that would now succeed where the failed one did not. */
export const retryOfferSchema = z
  .object({
    failure: failureSchema,
    transaction: unsignedTransactionSchema,
    simulation: passedSimulationSchema,
    max_cost_wei: maxCostSchema.openapi({
      description: "Value, all the gas at its highest price, and a rollup's L1 fee",
    }),
    max_cost_usd: costUsdSchema,
  })
  .openapi("RetryOffer");

/** A failure without an offered retry. */
export const refusedRetrySchema = z
  .object({
    failure: failureSchema,
    reason: z.enum([
      "wallet_listed",
      "contract_wallet",
      "too_old",
      "listed_account",
      "repaired",
      "maybe_repaired",
      "history_too_long",
      "under_way",
      "under_way_unseen",
      "deadline_passed",
      "not_tried",
      "not_read",
      "target_gone",
      "simulation_fails",
      "approval_revoked",
      "insufficient_allowance",
      "insufficient_tokens",
      "insufficient_balance",
      "duplicate",
    ]),
    detail: z.string().openapi({ example: "The wallet is on a sanctions list." }),
    by: hashSchema.nullable().openapi({
      description: "The transaction that makes another one needless",
      example: null,
    }),
  })
  .openapi("RefusedRetry");

/** The block of all simulations. */
export const simulatedAtSchema = z
  .object({ block: blockSchema, block_hash: hashSchema, time: isoSchema })
  .openapi("SimulatedAt", { description: "The newest indexed block, which the node had before and after" });

export type UnsignedTransactionAnswer = z.infer<typeof unsignedTransactionSchema>;

/** Offered and refused retries, for /retry and /agent/protect. */
export function renderOffers({
  rows,
  recovery,
  recovered,
}: {
  readonly rows: WalletRows;
  readonly recovery: Recovery;
  readonly recovered: Awaited<ReturnType<typeof recoverFailures>>;
}): {
  readonly offers: z.infer<typeof retryOfferSchema>[];
  readonly not_retried: z.infer<typeof refusedRetrySchema>[];
} {
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
    not_retried: [
      ...recovered.refused.map(({ call, cause, code, detail, by }) => ({
        failure: failureOf(call, cause),
        reason: code,
        detail,
        by,
      })),
      ...recovered.unread.map(({ call, cause, code, detail }) => ({
        failure: { ...renderFailure({ ...call, nonce: null }, cause), intent: null },
        reason: code,
        detail,
        by: null,
      })),
    ].toSorted((a, b) => b.failure.block - a.failure.block),
  };
}

/** The scope up to the block of the simulations. */
export function renderScope(rows: WalletRows, recovery: Recovery): ReturnType<typeof reportScope> {
  const { block } = recovery;
  const asOf = { blockNumber: block.number, blockHash: block.hash, timestamp: block.timestamp };
  return withUnread(reportScope({ rows, asOf }, LISTED_DAYS), recovery);
}

/** A scope, incomplete if a failure was found and not read. */
export function withUnread<Scope extends Pick<ReturnType<typeof reportScope>, "coverage">>(
  scope: Scope,
  { outcomes, unread }: Recovery,
): Scope {
  const isListed =
    outcomes.failures.length + unread.length === outcomes.failuresFound + outcomes.reported.failuresFound;
  const isRead = unread.every(({ code }) => code !== "not_read" && code !== "not_tried");
  const complete = scope.coverage.complete && isListed && isRead;
  return { ...scope, coverage: { ...scope.coverage, complete } };
}

/** The block of all simulations. */
export function renderBlock({ block }: Recovery): z.infer<typeof simulatedAtSchema> {
  return { block: block.number, block_hash: block.hash, time: isoOf(block.timestamp) };
}

/** A transaction to sign, as members and serialized. */
export function renderTransaction(transaction: UnsignedTransaction): UnsignedTransactionAnswer {
  const { to } = transaction;
  return {
    ...fieldsOf(unsignedTransactionSchema.shape, transaction),
    to: to === null ? null : toEip55(to),
    serialized: serializeUnsigned(transaction),
  };
}

/** US dollars of native coin at the price of a moment; null without a price feed. */
export function usdOf(wei: bigint, timestamp: number, market: Market): number | null {
  return toUsd(market.nativeWorth(wei, timestamp));
}

function renderFailure(
  call: Omit<FailedCall, "nonce" | "input"> & { readonly nonce: number | null },
  cause: FailureCause,
) {
  const { to, l1Fee } = call;
  const executionFee = call.gasUsed * call.gasPrice;
  return {
    ...fieldsOf(failureSchema.shape, call),
    time: isoOf(call.timestamp),
    to: to === null ? null : toEip55(to),
    fee_wei: (l1Fee === null ? executionFee : executionFee + l1Fee).toString(),
    fee_complete: l1Fee !== null,
    cause: cause.kind,
    cause_reason: cause.reason,
  };
}

const RETRY_AFTER_SECONDS = 10;

const DETAILS: Readonly<Partial<Record<NodeFailure["kind"], string>>> = {
  timeout: "The chain's node takes too long to answer.",
  garbage: "The chain's node answers what is no answer.",
  node_behind: "The chain's node has not the newest indexed block, or another one in its place.",
  state_missing: "The chain's node keeps no state of the newest indexed block.",
};

/** State of a wallet by index and node. Throws a 503 problem if either fails. */
export function requireRecovery(wallet: Address, { recovery }: RecoveryNeeds): Promise<Recovery> {
  return withNode(() => openRecovery(wallet, recovery));
}

/** Runs work that calls the node, and turns its failures into 503 problems. */
export async function withNode<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NodeFailure)) throw error;
    throw unavailable("node-unavailable", DETAILS[error.kind] ?? UNREACHABLE, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
}

/** A node client whose deadline starts now. Throws a NodeFailure if the deployment has no node. */
export function openNode({ recovery }: RecoveryNeeds): RecoveryNode {
  if (recovery.openNode === null) throw new NodeFailure("unreachable", "this deployment names no node");
  return recovery.openNode();
}
