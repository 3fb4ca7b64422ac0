import { z } from "@hono/zod-openapi";
import { SUBSCRIPTION_DAYS } from "../../alerts/subscriptions.ts";
import { type ProtectionStep, type ProtectService, planProtection } from "../../reports/diagnosis/protect.ts";
import { definePaid } from "../kit/endpoint.ts";
import { noteInterest, reportScope, requireReadable } from "../kit/wallet-report.ts";
import { purchaseBy, refuseWebhookUrl, renderSubscription } from "../schemas/alert-subscription.ts";
import {
  renderBlock,
  renderOffers,
  renderScope,
  renderTransaction,
  requireRecovery,
  requireRecoveryTurn,
  usdOf,
  withUnread,
} from "../schemas/retries.ts";
import { addressParams, fieldsOf, isoOf, toUsd } from "../schemas/values.ts";
import { findingsOf, findProtection, type Protection, type Ready } from "./get-agent-protect-findings.ts";
import { type ProtectAnswer, protectSchema, stepSchema } from "./get-agent-protect-schema.ts";

const MAX_URL_CHARACTERS = 2_048;

const query = z.object({
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
export const getAgentProtect = definePaid({
  method: "get",
  path: "/agent/protect/{address}",
  price: 25_000,
  tag: "Recovery",
  summary: "One ranked plan that protects a wallet, with its transactions ready to be signed",
  description:
    "Runs what the wallet's risk calls for (risk, health, wash, optimize, retry) and ranks what they find. Approvals at risk come with the transaction that takes them back, failures worth sending again with theirs: unsigned, simulated at one block alone and one after the other, with nonces that follow one another over the whole plan and costs that the balance pays for together. Nothing is signed or sent by this service. With `webhook_url` the wallet is monitored for 30 days as well.",
  request: { params: addressParams, query, body: null },
  answer: { schema: protectSchema, description: "The plan" },
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
    requireRecoveryTurn(deps);
  },
  async prepare({ params, query }, _checked, { deps }) {
    if (query.webhook_url !== undefined) await refuseWebhookUrl(query.webhook_url, deps);
    await deps.recoveryTurns.take(() => requireRecovery(params.address, deps));
  },
  async work(
    { params: { address }, query },
    _prepared,
    { deps, now, caller, debitId },
  ): Promise<ProtectAnswer> {
    const protection = await findProtection({ address, now }, deps);
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
    noteInterest(address, deps);
    if (monitoring === null) return renderProtection(protection, null);
    const { subscription, secret, manageToken } = monitoring;
    return renderProtection(protection, {
      ...renderSubscription(subscription, now),
      ...{ secret, manage_token: manageToken },
    });
  },
  withoutSecrets: (answer) => ({
    ...answer,
    monitoring:
      answer.monitoring === null ? null : { ...answer.monitoring, secret: null, manage_token: null },
  }),
});

/** The answer of GET /agent/protect/{address}. */
function renderProtection(protection: Protection, monitoring: ProtectAnswer["monitoring"]): ProtectAnswer {
  const { facts, risk, recovery, recovered, optimization } = protection;
  const steps = planProtection(findingsOf(protection));
  const maxCosts = steps.flatMap(({ ready }) => (ready?.kind === "ready" ? [ready.maxCost] : []));
  const total = maxCosts.reduce((sum, cost) => sum + cost, 0n);
  const { others } =
    recovered === null ? { others: [] } : renderOffers({ rows: facts.rows, recovery, recovered });
  return {
    address: risk.address,
    ...withUnread(reportScope(facts, facts.policy.window.days), recovery),
    risk_level: risk.risk_level,
    risk_score: risk.risk_score,
    verdict: risk.verdict,
    services: protection.services.map(({ name, run, reason }) => ({
      ...{ name, ran: run, reason },
      window: run ? windowOf(name, protection) : null,
    })),
    simulated_at: renderBlock(recovery),
    steps: steps.map((step, place) => renderStep(step, place + 1, recovery.block.number)),
    transactions: maxCosts.length,
    first_nonce: recovery.state.pendingNonce,
    total_max_cost_wei: total.toString(),
    total_max_cost_usd: usdOf(total, recovery.block.timestamp, facts.market),
    saves_usd_per_month: optimization === null ? null : toUsd(optimization.totals.monthly.microUsd),
    rehearsed: maxCosts.length === 0 ? null : protection.rehearsed,
    not_retried: others,
    monitoring,
  };
}

/** The window of a service: that of the report, or that of the retries, which ends at a newer block. */
function windowOf(
  name: ProtectService,
  { facts, recovery }: Protection,
): ProtectAnswer["services"][number]["window"] {
  switch (name) {
    case "risk":
      return null;
    case "health":
    case "wash":
    case "optimize":
      return reportScope(facts, facts.policy.window.days).window;
    case "retry":
      return renderScope(facts.rows, recovery).window;
  }
}

function renderStep(
  step: ProtectionStep<Ready>,
  priority: number,
  block: number,
): ProtectAnswer["steps"][number] {
  const { ready, lastUsedAt } = step;
  const base = {
    ...fieldsOf(stepSchema.shape, step),
    priority,
    value_usd: toUsd(step.valueMicroUsd),
    saves_usd_per_month: toUsd(step.monthlySavingMicroUsd),
    last_used_at: lastUsedAt === null ? null : isoOf(lastUsedAt),
  };
  if (ready?.kind !== "ready") {
    const obstacle = ready === null ? null : ready.detail;
    return { ...base, transaction: null, simulation: null, max_cost_wei: null, obstacle };
  }
  return {
    ...base,
    transaction: renderTransaction(ready.transaction),
    simulation: { passes: true, block, gas_estimate: ready.gas.toString() },
    max_cost_wei: ready.maxCost.toString(),
    obstacle: null,
  };
}
