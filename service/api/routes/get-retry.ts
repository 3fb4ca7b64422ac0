import { z } from "@hono/zod-openapi";
import type { Address } from "viem";
import { type Owner, ownerOf } from "../../access/access.ts";
import { createMarket } from "../../model/features/market.ts";
import { countText } from "../../reports/phrases.ts";
import { LISTED_DAYS } from "../../reports/recovery/call-intent.ts";
import type { FailedExecution } from "../../reports/recovery/failed-calls.ts";
import { NOTHING_BEFORE, recoverFailures } from "../../reports/recovery/recover-failures.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { PreviewNeeds } from "../kit/report-preview.ts";
import {
  chargedSchema,
  foundFailures,
  previewQuery,
  previewReport,
  previewSchema,
} from "../kit/report-preview.ts";
import type { FairTurns } from "../kit/report-turns.ts";
import type { ReadableNeeds, ReportNeeds } from "../kit/wallet-report.ts";
import { readReport, reportScopeShape, requireReadable } from "../kit/wallet-report.ts";
import { blockSchema } from "../schemas/ahs-record.ts";
import type { RecoveryNeeds } from "../schemas/retries.ts";
import {
  costUsdSchema,
  hexSchema,
  maxCostSchema,
  openNode,
  refusedRetrySchema,
  renderBlock,
  renderOffers,
  renderScope,
  requireRecovery,
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
  text,
  toEip55,
} from "../schemas/values.ts";

/** Services of endpoints that recover failed transactions. */
export type TurnNeeds = {
  /** A queue of its own, so that a slow node does not delay other reports. */
  readonly recoveryTurns: FairTurns;
};

type Needs = ReadableNeeds & ReportNeeds & RecoveryNeeds & TurnNeeds & PreviewNeeds;

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
    summary: text(
      "The result in one sentence",
      "1 of 2 failed transactions of the last 30 days can be repeated now.",
    ),
    charged: chargedSchema,
    account: z.enum(["eoa", "delegated_eoa", "smart_account"]).openapi({
      description:
        "By its code, in the words of /health. smart_account: no key signs for it, so that nothing is offered. delegated_eoa: another account's code acts for it as well (EIP-7702), so that nothing is offered that this code may have made good",
    }),
    simulated_at: simulatedAtSchema,
    pending_transactions: count("Of the wallet, under way since that block; nonces follow them"),
    failures_found: count("In the window; the newest 200 of them are listed", 2),
    offers: z.array(retryOfferSchema).openapi({ description: "To be sent in this order" }),
    simulated_in_order: flag(
      "Whether the offers were also simulated one after the other (eth_simulateV1); false where the node cannot",
      true,
    ),
    total_max_cost_wei: maxCostSchema,
    total_max_cost_usd: costUsdSchema,
    not_retried: z.array(refusedRetrySchema).openapi({ description: "Newest first" }),
    executions: z.array(executionSchema).openapi({ description: "Newest first" }),
  })
  .openapi("RetryReport");

export type RetryAnswer = z.infer<typeof retrySchema>;

/** GET /retry/{address}. */
export const getRetry = definePaid<Needs>()({
  method: "get",
  path: "/retry/{address}",
  operationId: "plan_retries",
  tool: "Finds failed transactions of a wallet that are worth sending again, each ready to be signed. Use it for a wallet that you operate, within hours of the failures.",
  price: { units: 10_000 },
  tag: "Recovery",
  summary: "Failed transactions worth sending again, ready to be signed",
  description:
    "Lists every transaction of the wallet that failed in the last 30 days. One of the last 14 days is offered again, as an unsigned EIP-1559 transaction of the same value and calldata, unless a later or pending transaction does the same: the same calldata at the same account, for a transfer the same token and recipient, for an allowance the same token and spender, for a swap the same two tokens and recipient. If calldata does not show its purpose, any later success of the same method counts. An offer passes a simulation at the newest indexed block, and balance and allowances suffice for all offers together; nonces follow pending ones. All other failures are listed with the reason. This service signs and sends nothing. It offers nothing that involves sanctioned accounts or mixers, and nothing for a smart account, which has no key. If there is no offer, nothing is charged. `preview=true` answers a free preview.",
  request: { params: addressParams, query: previewQuery, body: null },
  answer: { schema: retrySchema, description: "Offers, and what is not offered", preview: previewSchema },
  preview: previewReport,
  problems: ["not-indexed", "index-unavailable", "index-behind", "scoring-unavailable", "node-unavailable"],
  async check({ params }, { deps, now }) {
    await requireReadable(params.address, deps, now);
  },
  prepare: ({ params }, _checked, { deps, caller }) => findRetries(params.address, ownerOf(caller), deps),
  freeAnswer: (_input, found) => (found.recovered.offers.length === 0 ? renderRetry(found, false) : null),
  interestIn: ({ address }) => [address],
  async work({ params: { address } }, found, { deps, caller }) {
    // The settlement may have used the wallet's own balance.
    return renderRetry(
      caller.kind === "payer" ? await findRetries(address, ownerOf(caller), deps) : found,
      true,
    );
  },
});

/** Simulates the failures of a wallet. Throws the 503 problems of its sources. */
async function findRetries(address: Address, owner: Owner, deps: Needs) {
  const { rows } = await readReport(address, deps);
  return deps.recoveryTurns.take(owner, async () => {
    const recovery = await requireRecovery(address, deps);
    const recovered = await withNode(() =>
      recoverFailures(recovery, openNode(deps), { before: NOTHING_BEFORE, policy: deps.policy }),
    );
    return { rows, recovery, recovered };
  });
}

/** The answer of GET /retry/{address}. */
function renderRetry(
  { rows, recovery, recovered }: Parameters<typeof renderOffers>[0],
  charged: boolean,
): RetryAnswer {
  const { wallet, block, state, outcomes } = recovery;
  const total = recovered.offers.reduce((sum, { maxCost }) => sum + maxCost, 0n);
  return {
    address: toEip55(wallet),
    ...renderScope(rows, recovery),
    summary: summarize({ found: foundFailures(outcomes), offers: recovered.offers.length, charged }),
    charged,
    account: state.account,
    simulated_at: renderBlock(recovery),
    pending_transactions: state.pendingNonce - state.nonce,
    failures_found: foundFailures(outcomes),
    ...renderOffers({ rows, recovery, recovered }),
    simulated_in_order: recovered.simulatedInOrder,
    total_max_cost_wei: total.toString(),
    total_max_cost_usd: usdOf(total, block.timestamp, createMarket(rows.tokens)),
    executions: outcomes.executions.map(renderExecution),
  };
}

function summarize({
  found,
  offers,
  charged,
}: {
  readonly found: number;
  readonly offers: number;
  readonly charged: boolean;
}): string {
  const days = `in the last ${LISTED_DAYS} days`;
  const first =
    found === 0
      ? `No transaction failed ${days}.`
      : `${countText(found, "transaction")} failed ${days}; ${offers === 0 ? "none" : offers} can be repeated now.`;
  return charged ? first : `${first} Nothing was charged.`;
}

function renderExecution(execution: FailedExecution) {
  const { timestamp, to } = execution;
  return {
    ...fieldsOf(executionSchema.shape, execution),
    time: isoOf(timestamp),
    to: to === null ? null : toEip55(to),
  };
}
