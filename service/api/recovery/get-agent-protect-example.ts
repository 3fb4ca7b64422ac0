import { SUBSCRIPTION_EXAMPLE } from "../alerts/alerts-subscription.ts";
import type { ProtectAnswer } from "./get-agent-protect-schema.ts";
import { RETRY_EXAMPLE } from "./get-retry-example.ts";

const { address, chain_id, coverage, simulated_at } = RETRY_EXAMPLE;

const REPORT_WINDOW = { from: "2026-05-24T09:59:00.000Z", to: "2026-11-20T09:59:00.000Z", days: 180 };

/** The example that the reference shows for the protection of a wallet. */
export const PROTECT_EXAMPLE: ProtectAnswer = {
  ...{ address, chain_id, coverage },
  as_of_block: 7982,
  as_of_time: "2026-11-20T09:59:00.000Z",
  window: REPORT_WINDOW,
  risk_level: "MEDIUM",
  risk_score: 34,
  verdict: "Medium risk: risk flags.",
  services: [
    { name: "risk", ran: true, reason: "always", window: null },
    { name: "health", ran: true, reason: "always", window: REPORT_WINDOW },
    { name: "wash", ran: true, reason: "approvals at risk: 1", window: REPORT_WINDOW },
    {
      name: "optimize",
      ran: true,
      reason: "wei of fees wasted or known to be overpaid: 2411368784000",
      window: REPORT_WINDOW,
    },
    { name: "retry", ran: true, reason: "failed transactions: 2", window: RETRY_EXAMPLE.window },
  ],
  simulated_at,
  steps: [
    {
      priority: 1,
      service: "health",
      action: "revoke_approval",
      severity: "high",
      description:
        "Take back the unlimited approval of 0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9 to 0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65.",
      reason:
        "The spender has no code: whoever holds its key can take everything. kind amount, given at 2026-11-02T08:00:00.000Z, no use known.",
      value_usd: 1250.5,
      saves_usd_per_month: null,
      last_used_at: null,
      warning: null,
      transaction: {
        type: "eip1559",
        chainId: 31337,
        nonce: 412,
        to: "0xDc64a140Aa3E981100a9becA4E685f962f0cF6C9",
        data: "0x095ea7b300000000000000000000000015d34aaf54267db7d7c367839aaf71a00a2c6a650000000000000000000000000000000000000000000000000000000000000000",
        value: "0",
        gas: "32868",
        maxFeePerGas: "100014000",
        maxPriorityFeePerGas: "100000000",
        serialized:
          "0x02f870827a6982019c8405f5e1008405f617b082806494dc64a140aa3e981100a9beca4e685f962f0cf6c980b844095ea7b300000000000000000000000015d34aaf54267db7d7c367839aaf71a00a2c6a650000000000000000000000000000000000000000000000000000000000000000c0",
      },
      simulation: { passes: true, block: 8012, gas_estimate: "26294" },
      max_cost_wei: "3287260152000",
      obstacle: null,
    },
    {
      priority: 2,
      service: "optimize",
      action: "simulate_first",
      severity: "low",
      description:
        "Simulate calls of 0x322e9f04 at 0x5FC8d32690cc91D4c39d9d3abcBD16989F875707 right before sending and hold back what fails.",
      reason:
        "The fees of reverted calls bought nothing. Saved at most: a simulation cannot foresee every revert. 1 calls, 2411368784000 wei in 30 days; x 30 / 30 = 2411368784000 wei a month.",
      value_usd: null,
      saves_usd_per_month: 0.004823,
      last_used_at: null,
      warning: null,
      transaction: null,
      simulation: null,
      max_cost_wei: null,
      obstacle: null,
    },
  ],
  transactions: 1,
  first_nonce: 412,
  total_max_cost_wei: "3287260152000",
  total_max_cost_usd: 0.006575,
  monthly_saving_usd: 0.004823,
  rehearsed: true,
  not_retried: RETRY_EXAMPLE.others,
  monitoring: {
    ...SUBSCRIPTION_EXAMPLE,
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
    manage_token: "amt_3q2-7wABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhs",
  },
};
