import { z } from "@hono/zod-openapi";
import { createMarket } from "../../model/features/market.ts";
import type { FailedExecution } from "../../reports/recovery/failed-calls.ts";
import { NOTHING_BEFORE, recoverFailures } from "../../reports/recovery/recover-failures.ts";
import { definePaid } from "../kit/endpoint.ts";
import { noteInterest, readReport, reportScopeShape, requireReadable } from "../kit/wallet-report.ts";
import { blockSchema } from "../schemas/ahs-record.ts";
import {
  costUsdSchema,
  foundFailures,
  hexSchema,
  maxCostSchema,
  openNode,
  refusedRetrySchema,
  renderBlock,
  renderOffers,
  renderScope,
  requireRecovery,
  requireRecoveryTurn,
  retryOfferSchema,
  simulatedAtSchema,
  usdOf,
  withNode,
} from "../schemas/retries.ts";
import {
  addressParams,
  count,
  eip55Schema,
  fieldsOf,
  flag,
  hashSchema,
  int,
  isoOf,
  isoSchema,
  toEip55,
} from "../schemas/values.ts";

const executionSchema = z
  .object({
    hash: hashSchema,
    position: int("Place within the transaction that carried it"),
    block: blockSchema,
    time: isoSchema,
    to: eip55Schema.nullable(),
    selector: hexSchema.nullable(),
  })
  .openapi("FailedExecution", {
    description: "A call of a smart account that failed; its operation is its client's to build again",
  });

/** The answer of GET /retry/{address}. */
const retrySchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    account: z.enum(["eoa", "delegated_eoa", "smart_account"]).openapi({
      description:
        "By its code, in the words of /health. smart_account: no key signs for it, so that nothing is offered. delegated_eoa: another account's code acts for it as well (EIP-7702), so that nothing is offered that this code may have made good",
    }),
    simulated_at: simulatedAtSchema,
    pending_transactions: count("Of the wallet, under way since that block; nonces follow them"),
    failures_found: count("In the window; the newest 200 of them are listed", 2),
    offers: z.array(retryOfferSchema).openapi({ description: "To be sent in this order" }),
    rehearsed: flag(
      "Whether the offers were also simulated one after the other (eth_simulateV1); false where the node cannot",
      true,
    ),
    total_max_cost_wei: maxCostSchema,
    total_max_cost_usd: costUsdSchema,
    others: z.array(refusedRetrySchema).openapi({ description: "Newest first" }),
    executions: z.array(executionSchema).openapi({ description: "Newest first" }),
  })
  .openapi("RetryReport");

export type RetryAnswer = z.infer<typeof retrySchema>;

/** GET /retry/{address}. */
export const getRetry = definePaid({
  method: "get",
  path: "/retry/{address}",
  price: 10_000,
  tag: "Recovery",
  summary: "Failed transactions worth sending again, ready to be signed",
  description:
    "Every transaction that the wallet sent and that failed in the last 30 days. One of the last 14 days is offered again, as an unsigned EIP-1559 transaction of the same value and calldata, unless a later success or a transaction under way does the same: the same calldata at the same account, for a transfer the same token and recipient, for an allowance the same token and spender, for a swap the same two tokens and recipient, whatever router and amounts. Where calldata does not show its purpose, as with routers that are not known here, any later success of the same method of the same account counts as one that may have done the same, and of several such failures one is offered at a time. The same holds for whatever an EIP-7702 wallet's own code did since. It is offered only if it passes a simulation at the newest indexed block now, and only as far as balance and allowances pay for all offers together; nonces follow those under way. All others are listed with the reason. Of failures from before the index followed the wallet, which a history source reported, the chain's node is asked for the calldata; what it does not know is not_read. Nothing is signed or sent by this service. What deals with sanctioned accounts or mixers, or names one in its calldata, is not offered, nor anything for a wallet that is one, nor for a smart account, which has no key.",
  request: { params: addressParams, query: z.object({}), body: null },
  answer: { schema: retrySchema, description: "Offers, and what is not offered" },
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable", "node-unavailable"],
  async check({ params }, { deps, now }) {
    await requireReadable(params.address, deps, now);
    requireRecoveryTurn(deps);
  },
  prepare: ({ params }, _checked, { deps }) =>
    deps.recoveryTurns.take(async () => {
      await requireRecovery(params.address, deps);
    }),
  // Read again, because the payment settled between preparation and work.
  async work({ params: { address } }, _, { deps }) {
    const { rows } = await readReport(address, deps);
    const { recovery, recovered } = await deps.recoveryTurns.take(async () => {
      const recovery = await requireRecovery(address, deps);
      const recovered = await withNode(() =>
        recoverFailures(recovery, openNode(deps), { before: NOTHING_BEFORE, policy: deps.policy }),
      );
      return { recovery, recovered };
    });
    noteInterest(address, deps);
    return renderRetry({ rows, recovery, recovered });
  },
});

/** The answer of GET /retry/{address}. */
function renderRetry({ rows, recovery, recovered }: Parameters<typeof renderOffers>[0]): RetryAnswer {
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

function renderExecution(execution: FailedExecution) {
  const { timestamp, to } = execution;
  return {
    ...fieldsOf(executionSchema.shape, execution),
    time: isoOf(timestamp),
    to: to === null ? null : toEip55(to),
  };
}
