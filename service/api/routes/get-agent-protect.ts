import { z } from "@hono/zod-openapi";
import { ownerOf } from "../../access/access.ts";
import { SUBSCRIPTION_DAYS } from "../../alerts/subscriptions.ts";
import { type ProtectionStep, planProtection } from "../../reports/diagnosis/protect.ts";
import { listChecks, summarize } from "../../reports/diagnosis/protect-checks.ts";
import { sumMoney } from "../../reports/diagnosis/report-facts.ts";
import { definePaid } from "../kit/endpoint.ts";
import type { PreviewNeeds } from "../kit/report-preview.ts";
import { previewQuery, previewReport, previewSchema } from "../kit/report-preview.ts";
import type { ReadableNeeds } from "../kit/wallet-report.ts";
import { reportScope, requireReadable } from "../kit/wallet-report.ts";
import type { SubscribeNeeds, UrlNeeds } from "../schemas/alert-subscription.ts";
import { purchaseBy, refuseWebhookUrl, renderSubscription } from "../schemas/alert-subscription.ts";
import { renderAdviceNumbers } from "../schemas/report-parts.ts";
import { renderBlock, renderOffers, renderTransaction, usdOf, withUnread } from "../schemas/retries.ts";
import { addressParams, isoOf, toUsd } from "../schemas/values.ts";
import type { FindingNeeds } from "./get-agent-protect-findings.ts";
import { findingsOf, findProtection, type Protection, type Ready } from "./get-agent-protect-findings.ts";
import { type ProtectAnswer, protectSchema } from "./get-agent-protect-schema.ts";

/** Services of the endpoint. */
type Needs = ReadableNeeds & FindingNeeds & PreviewNeeds & UrlNeeds & Pick<SubscribeNeeds, "subscribe">;

const MAX_URL_CHARACTERS = 2_048;

const query = previewQuery.extend({
  webhook_url: z
    .string()
    .min(1)
    .max(MAX_URL_CHARACTERS)
    .optional()
    .openapi({
      description: `Adds ${SUBSCRIPTION_DAYS} days of monitoring, as GET /alerts/subscribe/{address} sells it with every event. A URL that leads anywhere but to a public https host is refused.`,
      example: "https://hooks.example.com/agent-health",
    }),
});

/** GET /agent/protect/{address}. */
export const getAgentProtect = definePaid<Needs>()({
  method: "get",
  path: "/agent/protect/{address}",
  operationId: "protect_wallet",
  tool: "Returns one ranked plan that protects a wallet: revocations, repeats of failed calls and savings, with transactions ready to be signed. It is the most expensive report: use it for a wallet that you operate, after check_risk or diagnose_wallet showed problems.",
  price: { units: 25_000 },
  tag: "Recovery",
  summary: "One ranked plan that protects a wallet, with its transactions ready to be signed",
  description:
    "Runs all checks (risk, health, wash, optimize, retry) and answers one plan. It starts with transactions to sign: revocations of approvals at risk and failed transactions worth repeating, unsigned, simulated at one block alone and in sequence, with consecutive nonces and costs that the balance covers together. Then follow blockers, costs and untidiness. This service signs and sends nothing. With `webhook_url` the wallet is also monitored for 30 days. If there is no step, nothing is charged and no monitoring starts. `preview=true` answers a free preview.",
  request: { params: addressParams, query, body: null },
  answer: { schema: protectSchema, description: "The plan", preview: previewSchema },
  preview: previewReport,
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "node-unavailable",
    "names-unavailable",
  ],
  async check({ params }, { deps, now }) {
    await requireReadable(params.address, deps, now);
  },
  async prepare({ params: { address }, query }, _checked, { deps, now, caller }) {
    if (query.webhook_url !== undefined) await refuseWebhookUrl(query.webhook_url, deps);
    return findProtection({ address, owner: ownerOf(caller), now }, deps);
  },
  freeAnswer(_input, protection) {
    const answer = renderProtection(protection, { charged: false, monitoring: null });
    return answer.steps.every(({ severity }) => severity === "info") ? answer : null;
  },
  interestIn: ({ address }) => [address],
  async work(
    { params: { address }, query },
    prepared,
    { deps, now, caller, debitId },
  ): Promise<ProtectAnswer> {
    // The settlement may have used the wallet's own balance.
    const protection =
      caller.kind === "payer"
        ? await findProtection({ address, owner: ownerOf(caller), now }, deps)
        : prepared;
    // Last, because everything that can fail has succeeded by now.
    const monitoring =
      query.webhook_url === undefined
        ? null
        : await deps.subscribe({
            ...purchaseBy(caller, debitId),
            wallet: address,
            webhookUrl: query.webhook_url,
            events: null,
            thresholds: null,
          });
    if (monitoring === null) return renderProtection(protection, { charged: true, monitoring });
    const { subscription, secret, manageToken } = monitoring;
    return renderProtection(protection, {
      charged: true,
      monitoring: { ...renderSubscription(subscription, now), secret, manage_token: manageToken },
    });
  },
  withoutSecrets: (answer) => ({
    ...answer,
    monitoring:
      answer.monitoring === null ? null : { ...answer.monitoring, secret: null, manage_token: null },
  }),
});

/** The answer of GET /agent/protect/{address}. */
function renderProtection(
  protection: Protection,
  { charged, monitoring }: Pick<ProtectAnswer, "charged" | "monitoring">,
): ProtectAnswer {
  const { facts, risk, recovery, recovered } = protection;
  const findings = findingsOf(protection);
  const steps = planProtection(findings);
  const checks = listChecks(findings);
  const maxCosts = steps.flatMap(({ ready }) => (ready?.kind === "ready" ? [ready.maxCost] : []));
  const total = maxCosts.reduce((sum, cost) => sum + cost, 0n);
  const { not_retried } = renderOffers({ rows: facts.rows, recovery, recovered });
  const { microUsd } = sumMoney(findings.savings.map(({ monthly }) => monthly));
  return {
    address: risk.address,
    ...withUnread(reportScope(facts, facts.policy.window.days), recovery),
    summary: `${summarize(steps, checks)}${charged ? "" : " Nothing was charged."}`,
    charged,
    risk_level: risk.risk_level,
    risk_score: risk.risk_score,
    verdict: risk.verdict,
    checks: [...checks],
    simulated_at: renderBlock(recovery),
    steps: steps.map((step, place) => renderStep(step, place + 1, protection)),
    transactions: maxCosts.length,
    first_nonce: recovery.state.pendingNonce,
    total_max_cost_wei: total.toString(),
    total_max_cost_usd: usdOf(total, recovery.block.timestamp, facts.market),
    saves_usd_per_month: toUsd(microUsd),
    simulated_in_order: maxCosts.length === 0 ? null : protection.simulatedInOrder,
    not_retried,
    monitoring,
  };
}

function renderStep(
  step: ProtectionStep<Ready>,
  priority: number,
  { recovery: { block }, known }: Protection,
): ProtectAnswer["steps"][number] {
  const { ready, lastUsedAt } = step;
  const base = {
    priority,
    service: step.service,
    kind: step.kind,
    warning: step.warning,
    ...renderAdviceNumbers(step, known),
    value_usd: toUsd(step.valueMicroUsd),
    failed_tx_hash: step.failedHash,
    last_used_at: lastUsedAt === null ? null : isoOf(lastUsedAt),
  };
  if (ready?.kind !== "ready") {
    const reason = ready === null ? null : ready.detail;
    return { ...base, transaction: null, simulation: null, max_cost_wei: null, not_ready_reason: reason };
  }
  return {
    ...base,
    transaction: renderTransaction(ready.transaction),
    simulation: { passes: true, block: block.number, gas_estimate: ready.gas.toString() },
    max_cost_wei: ready.maxCost.toString(),
    not_ready_reason: null,
  };
}
