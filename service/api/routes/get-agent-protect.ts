import { z } from "@hono/zod-openapi";
import { SUBSCRIPTION_DAYS } from "../../alerts/subscriptions.ts";
import { type ProtectionStep, type ProtectService, planProtection } from "../../reports/diagnosis/protect.ts";
import { definePaid } from "../kit/endpoint.ts";
import { noteInterest, reportScope, reportScopeShape, requireReadable } from "../kit/wallet-report.ts";
import {
  manageTokenSchema,
  purchaseBy,
  refuseWebhookUrl,
  renderSubscription,
  subscriptionShape,
  webhookSecretSchema,
} from "../schemas/alert-subscription.ts";
import { usdSchema } from "../schemas/report-parts.ts";
import {
  maxCostSchema,
  nonceSchema,
  passedSimulationSchema,
  refusedRetrySchema,
  renderBlock,
  renderOffers,
  renderScope,
  renderTransaction,
  requireRecovery,
  requireRecoveryTurn,
  simulatedAtSchema,
  unsignedTransactionSchema,
  usdOf,
  withUnread,
} from "../schemas/retries.ts";
import { riskShape } from "../schemas/risk.ts";
import {
  addressParams,
  count,
  eip55Schema,
  fieldsOf,
  flag,
  isoOf,
  isoSchema,
  text,
  toUsd,
} from "../schemas/values.ts";
import { findingsOf, findProtection, type Protection, type Ready } from "./get-agent-protect-findings.ts";

const serviceSchema = z.enum(["risk", "health", "wash", "optimize", "retry"]);

const stepSchema = z
  .object({
    priority: z.int().positive().openapi({ description: "1 is first" }),
    service: serviceSchema.openapi({ example: "retry" }),
    action: z
      .enum([
        "review_risk",
        "leave_listed_accounts",
        "revoke_delegation",
        "revoke_approval",
        "retry_transaction",
        "simulate_first",
        "raise_gas_limit",
        "lower_gas_limit",
        "pay_market_price",
        "small_savings",
        "clean_up",
      ])
      .openapi({ example: "retry_transaction" }),
    severity: z.enum(["high", "medium", "low"]).openapi({ example: "low" }),
    description: z.string().openapi({
      example:
        "Send 0x322e9f04 at 0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc again, which failed as 0x6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d.",
    }),
    reason: z.string().openapi({
      example: "It failed (reverted: InsufficientBalance()), nothing since did the same, and it passes now.",
    }),
    value_usd: usdSchema.openapi({
      description:
        "What is at stake now: of an approval the wallet's balance of the token, of a retry what it sends; null where it is not about money or nothing prices it",
      example: null,
    }),
    saves_usd_per_month: usdSchema.openapi({
      description: "Null where the step saves no money",
      example: null,
    }),
    last_used_at: isoSchema.nullable().openapi({
      description:
        "Last possible use of the approval that the step takes back; null where none is known, and for other steps",
      example: null,
    }),
    warning: text("What the step may break").nullable().openapi({ example: null }),
    transaction: unsignedTransactionSchema
      .nullable()
      .openapi({ description: "Null where nothing can be signed for the step" }),
    simulation: passedSimulationSchema.nullable(),
    max_cost_wei: maxCostSchema.nullable(),
    obstacle: text("Why a step that would have a transaction has none").nullable().openapi({ example: null }),
  })
  .openapi("ProtectionStep");

const monitoringSchema = z
  .object({
    ...subscriptionShape,
    secret: webhookSecretSchema.openapi({
      description: "Signs the deliveries (Standard Webhooks 1.0.0); shown once, null in every later answer",
    }),
    manage_token: manageTokenSchema.openapi({
      description: "Manages the subscription as `Authorization: Bearer …`; shown once, like the secret",
    }),
  })
  .openapi("ProtectionMonitoring");

/** The answer of GET /agent/protect/{address}. */
const protectSchema = z
  .object({
    address: eip55Schema,
    ...reportScopeShape,
    risk_level: riskShape.risk_level,
    risk_score: riskShape.risk_score,
    verdict: riskShape.verdict,
    services: z
      .array(
        z.object({
          name: serviceSchema,
          ran: z.boolean().openapi({ example: true }),
          reason: z.string().openapi({ example: "always" }),
          window: reportScopeShape.window.nullable().openapi({
            description:
              "What it looked back at: health, wash and optimize at the window of the report, retry at the days of failures up to the simulated block; null where it was not run, and for risk, which goes by the stored score",
            example: null,
          }),
        }),
      )
      .openapi({ description: "Everything is run unless the risk is LOW; then what has something to find" }),
    simulated_at: simulatedAtSchema,
    steps: z.array(stepSchema).openapi({
      description:
        "Sorted by severity, then: reasons to refuse the wallet, signable transactions, costly habits by cost (those below a cent a month in one step), untidiness. Transactions keep the order of their nonces, so one that precedes a graver one is listed with it",
    }),
    transactions: count("Steps that can be signed now", 1),
    first_nonce: nonceSchema.openapi({ description: "Of the first of them; they follow one another" }),
    total_max_cost_wei: maxCostSchema,
    total_max_cost_usd: usdSchema.openapi({ example: 0.012027 }),
    monthly_saving_usd: usdSchema.openapi({
      description:
        "Of all costly habits together, at most; null where it was not looked into, or has no price",
      example: 0.007234,
    }),
    rehearsed: flag(
      "Whether all transactions also passed a simulation one after the other; false if the node cannot simulate that, null without transactions",
      true,
    ).nullable(),
    not_retried: z
      .array(refusedRetrySchema)
      .openapi({ description: "Failures that are not offered, newest first" }),
    monitoring: monitoringSchema
      .nullable()
      .openapi({ description: "30 days of webhooks; null without webhook_url" }),
  })
  .openapi("Protection");

export type ProtectAnswer = z.infer<typeof protectSchema>;

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
    monthly_saving_usd: optimization === null ? null : toUsd(optimization.totals.monthly.microUsd),
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
