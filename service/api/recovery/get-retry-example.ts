import type { RetryAnswer } from "./get-retry-schema.ts";

/** The transaction that the examples offer. */
const TRANSACTION_EXAMPLE = {
  type: "eip1559",
  chainId: 31337,
  nonce: 412,
  to: "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707",
  data: "0x322e9f04",
  value: "0",
  gas: "60126",
  maxFeePerGas: "100014000",
  maxPriorityFeePerGas: "100000000",
  serialized:
    "0x02ef827a6982019c8405f5e1008405f617b082eade945fc8d32690cc91d4c39d9d3abcbd16989f8757078084322e9f04c0",
} as const;

/** The example that the reference shows for the retries of a wallet. */
export const RETRY_EXAMPLE: RetryAnswer = {
  address: "0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc",
  chain_id: 31337,
  as_of_block: 8012,
  as_of_time: "2026-11-20T09:59:57.000Z",
  window: { from: "2026-10-21T09:59:57.000Z", to: "2026-11-20T09:59:57.000Z", days: 30 },
  coverage: { from_block: 1, to_block: 7982, complete: true, sources: ["index"] },
  account: "eoa",
  simulated_at: { block: 8012, block_hash: `0x${"11".repeat(32)}`, time: "2026-11-20T09:59:57.000Z" },
  pending_transactions: 0,
  failures_found: 2,
  offers: [
    {
      failure: {
        hash: `0x${"22".repeat(32)}`,
        block: 7988,
        time: "2026-11-20T09:41:12.000Z",
        nonce: 409,
        to: "0x5FC8d32690cc91D4c39d9d3abcBD16989F875707",
        selector: "0x322e9f04",
        value: "0",
        gas_limit: "90000",
        gas_used: "24112",
        fee_wei: "2411368784000",
        fee_complete: true,
        intent: "other",
        cause: "reverted",
        cause_reason: "custom error 0x5c41f80c, data 0x",
      },
      transaction: TRANSACTION_EXAMPLE,
      simulation: { passes: true, block: 8012, gas_estimate: "48100" },
      max_cost_wei: "6013441764000",
      max_cost_usd: 0.012027,
    },
  ],
  rehearsed: true,
  total_max_cost_wei: "6013441764000",
  total_max_cost_usd: 0.012027,
  others: [
    {
      failure: {
        hash: `0x${"33".repeat(32)}`,
        block: 7901,
        time: "2026-11-20T08:12:40.000Z",
        nonce: 401,
        to: "0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9",
        selector: "0xa9059cbb",
        value: "0",
        gas_limit: "60000",
        gas_used: "29550",
        fee_wei: "2955413700000",
        fee_complete: true,
        intent: "transfer",
        cause: "reverted",
        cause_reason: "InsufficientBalance()",
      },
      reason: "repaired",
      detail: `Transaction 0x${"44".repeat(32)} brought about the same later.`,
      by: `0x${"44".repeat(32)}`,
    },
  ],
  executions: [],
};
