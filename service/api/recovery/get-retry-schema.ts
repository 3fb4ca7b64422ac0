import { z } from "@hono/zod-openapi";
import { GAS_FORMULA } from "../../reports/recovery/unsigned-transaction.ts";
import { eip55Schema } from "../address-schema.ts";
import { isoSchema } from "../scores/ahs-record-schema.ts";
import { reportScopeShape } from "../wallet-report.ts";

const hashSchema = z.string().regex(/^0x[0-9a-f]{64}$/);
const weiSchema = z.string().regex(/^\d+$/).openapi({ description: "Wei, decimal" });
const hexSchema = z.string().regex(/^0x[0-9a-f]*$/);
const usdSchema = z
  .number()
  .min(0)
  .nullable()
  .openapi({ description: "Null where no feed prices the native coin" });

/** What nobody has signed: the caller looks at it, signs it and sends it. */
export const unsignedTransactionSchema = z
  .object({
    type: z.literal("eip1559"),
    chainId: z.int().positive(),
    nonce: z.int().min(0),
    to: eip55Schema.nullable().openapi({ description: "Null for a contract creation" }),
    data: hexSchema,
    value: weiSchema,
    gas: z
      .string()
      .regex(/^\d+$/)
      .openapi({ description: `Gas limit: ${GAS_FORMULA}` }),
    maxFeePerGas: z
      .string()
      .regex(/^\d+$/)
      .openapi({ description: "Wei: twice the newest block's base fee, plus the priority fee" }),
    maxPriorityFeePerGas: z.string().regex(/^\d+$/).openapi({ description: "Wei, as the node suggests" }),
    serialized: hexSchema.openapi({ description: "0x02 and the RLP of the above: what is to be signed" }),
  })
  .openapi("UnsignedTransaction", {
    description: "An EIP-1559 transaction. It is never signed or sent by this service.",
  });

/** A simulation that passed. */
export const passedSimulationSchema = z
  .object({
    passes: z.literal(true),
    block: z.int(),
    gas_estimate: z.string().regex(/^\d+$/),
  })
  .openapi("PassedSimulation", {
    description: "By eth_estimateGas, and by eth_call with the offered gas limit",
  });

const failureSchema = z
  .object({
    hash: hashSchema,
    block: z.int(),
    time: isoSchema,
    nonce: z
      .int()
      .nullable()
      .openapi({ description: "Null, as intent, where only a history source told of it" }),
    to: eip55Schema.nullable(),
    selector: hexSchema.nullable().openapi({ description: "Null for a plain transfer" }),
    value: weiSchema,
    gas_limit: z.string(),
    gas_used: z.string(),
    fee_wei: weiSchema.openapi({
      description: "What the failure cost: gas used at its price, and what a rollup charged for posting it",
    }),
    fee_complete: z.boolean().openapi({
      description:
        "Whether what a rollup charged is known: false for blocks that are not final and read yet, whose fee is without it",
    }),
    intent: z.enum(["transfer", "approval", "swap", "other"]).nullable().openapi({
      description: "By its calldata; null where that is not known",
    }),
    cause: z.enum(["out_of_gas", "slippage", "reverted"]).openapi({
      description:
        "out_of_gas: 98 % of the gas limit and more were used, as /health and the score have it. slippage: a revert by which the contract says that a price moved",
    }),
    cause_reason: z.string().nullable().openapi({
      description:
        "What the contract said, by making the call again on the state before its block; null where it gave no reason, or the node has that state no more. The contract chose this text.",
    }),
  })
  .openapi("FailedTransaction");

/** A transaction that would now do what the failed one was to do. */
const retryOfferSchema = z
  .object({
    failure: failureSchema,
    transaction: unsignedTransactionSchema,
    simulation: passedSimulationSchema,
    max_cost_wei: weiSchema.openapi({
      description: "Value, all the gas at its highest price, and a rollup's L1 fee",
    }),
    max_cost_usd: usdSchema,
  })
  .openapi("RetryOffer");

/** A failure that is not offered. */
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
    detail: z.string(),
    by: hashSchema.nullable().openapi({ description: "The transaction that makes another one needless" }),
  })
  .openapi("RefusedRetry");

const executionSchema = z
  .object({
    hash: hashSchema,
    position: z.int().openapi({ description: "Place within the transaction that carried it" }),
    block: z.int(),
    time: isoSchema,
    to: eip55Schema.nullable(),
    selector: hexSchema.nullable(),
  })
  .openapi("FailedExecution", {
    description: "A call of a smart account that failed; its operation is its client's to build again",
  });

/** The block that everything was simulated at. */
export const simulatedAtSchema = z
  .object({ block: z.int(), block_hash: hashSchema, time: isoSchema })
  .openapi("SimulatedAt", { description: "The newest indexed block, which the node had before and after" });

/** The answer of GET /retry/{address}. */
export const retrySchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    account: z.enum(["eoa", "delegated_eoa", "smart_account"]).openapi({
      description:
        "By its code, in the words of /health. smart_account: no key signs for it, so that nothing is offered. delegated_eoa: another account's code acts for it as well (EIP-7702), so that nothing is offered that this code may have made good",
    }),
    simulated_at: simulatedAtSchema,
    pending_transactions: z
      .int()
      .min(0)
      .openapi({ description: "Of the wallet, under way since that block; nonces follow them" }),
    failures_found: z
      .int()
      .min(0)
      .openapi({ description: "In the window; the newest 200 of them are listed" }),
    offers: z.array(retryOfferSchema).openapi({ description: "To be sent in this order" }),
    rehearsed: z.boolean().openapi({
      description:
        "Whether the offers were also simulated one after the other (eth_simulateV1); false where the node cannot",
    }),
    total_max_cost_wei: weiSchema,
    total_max_cost_usd: usdSchema,
    others: z.array(refusedRetrySchema).openapi({ description: "Newest first" }),
    executions: z.array(executionSchema).openapi({ description: "Newest first" }),
  })
  .openapi("RetryReport");

export type RetryAnswer = z.infer<typeof retrySchema>;
export type UnsignedTransactionAnswer = z.infer<typeof unsignedTransactionSchema>;
