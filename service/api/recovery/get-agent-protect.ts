import { z } from "@hono/zod-openapi";
import { SUBSCRIPTION_DAYS } from "../../alerts/subscriptions.ts";
import { addressParams } from "../address-schema.ts";
import { purchaseBy, refuseWebhookUrl, type SubscribePorts } from "../alerts/alerts-ports.ts";
import { renderSubscription } from "../alerts/alerts-subscription.ts";
import { definePaid } from "../endpoint.ts";
import { noteInterest } from "../wallet-ports.ts";
import { requireReadable } from "../wallet-report.ts";
import { PROTECT_EXAMPLE } from "./get-agent-protect-example.ts";
import { findProtection, type ProtectPorts } from "./get-agent-protect-findings.ts";
import { renderProtection } from "./get-agent-protect-render.ts";
import { type ProtectAnswer, protectSchema } from "./get-agent-protect-schema.ts";
import { requireRecovery, requireRecoveryTurn } from "./get-retry-node.ts";

export type GetAgentProtectPorts = ProtectPorts & SubscribePorts;

const MAX_URL_CHARACTERS = 2_048;

const query = z.object({
  webhook_url: z
    .string()
    .min(1)
    .max(MAX_URL_CHARACTERS)
    .optional()
    .openapi({
      param: { name: "webhook_url", in: "query" },
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
  answer: { schema: protectSchema, example: PROTECT_EXAMPLE, description: "The plan" },
  problems: [
    "not-indexed",
    "index-unavailable",
    "index-behind",
    "scoring-unavailable",
    "node-unavailable",
    "names-unavailable",
  ],
  async check({ params }, { deps, now }: { deps: GetAgentProtectPorts; now: Date }) {
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
    // Last, since all that can fail has succeeded by then.
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
