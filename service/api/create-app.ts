import type { Hono } from "hono";
import { type ApiInterface, createInterfaceApp, type ServedParts } from "./create-interface.ts";
import type { ApiEnv } from "./kit/api-env.ts";
import type { NeedsOf } from "./kit/endpoint.ts";
import { deleteAlert } from "./routes/delete-alerts.ts";
import { getAgentProtect } from "./routes/get-agent-protect.ts";
import { getAgents } from "./routes/get-agents.ts";
import { getAhs } from "./routes/get-ahs.ts";
import { getAhsAgent } from "./routes/get-ahs-agent.ts";
import { getAhsHistory } from "./routes/get-ahs-history.ts";
import { getAhsRoute } from "./routes/get-ahs-route.ts";
import { getRoutePolicy } from "./routes/get-ahs-route-policy.ts";
import { getAlert } from "./routes/get-alerts.ts";
import { getAlertDeliveries } from "./routes/get-alerts-deliveries.ts";
import { getAlertsSubscribe } from "./routes/get-alerts-subscribe.ts";
import { getCompare } from "./routes/get-compare.ts";
import { getCounterparties } from "./routes/get-counterparties.ts";
import { getEpoch } from "./routes/get-epochs.ts";
import { getEvidence } from "./routes/get-evidence.ts";
import { getHealth } from "./routes/get-health.ts";
import { getInput } from "./routes/get-inputs.ts";
import { getKeysSelf } from "./routes/get-keys-self.ts";
import { getLivez } from "./routes/get-livez.ts";
import { getNetworkMap } from "./routes/get-network-map.ts";
import { getOptimize } from "./routes/get-optimize.ts";
import { getOwed } from "./routes/get-owed.ts";
import { getOwnerCluster } from "./routes/get-owner-cluster.ts";
import { getReadyz } from "./routes/get-readyz.ts";
import { getReportCard } from "./routes/get-report-card.ts";
import { getRetry } from "./routes/get-retry.ts";
import { getRisk } from "./routes/get-risk.ts";
import { getRiskPremium } from "./routes/get-risk-premium.ts";
import { listAlerts } from "./routes/list-alerts.ts";
import { postAhsBatch } from "./routes/post-ahs-batch.ts";
import { postAlertReplay } from "./routes/post-alerts-replay.ts";
import { postAlertRotate } from "./routes/post-alerts-rotate.ts";
import { postAlertTest } from "./routes/post-alerts-test.ts";
import { postKeys } from "./routes/post-keys.ts";
import { postKeysRotate } from "./routes/post-keys-rotate.ts";
import { postKeysTopup } from "./routes/post-keys-topup.ts";
import { postWash } from "./routes/post-wash.ts";
import { putRoutePolicy } from "./routes/put-ahs-route-policy.ts";
import { describeWebhooks, WEBHOOK_EVENTS } from "./schemas/webhooks.ts";

/** Endpoints of the scoring interface; prices, document and reference derive from this list. */
export const SCORING_ENDPOINTS = [
  getRisk,
  getRiskPremium,
  getCounterparties,
  getNetworkMap,
  getOwnerCluster,
  getHealth,
  postWash,
  getAhs,
  getAhsAgent,
  getAhsHistory,
  getAgents,
  getCompare,
  getAhsRoute,
  getRoutePolicy,
  putRoutePolicy,
  getReportCard,
  getAlertsSubscribe,
  getOptimize,
  postAhsBatch,
  getRetry,
  getAgentProtect,
  listAlerts,
  getAlert,
  deleteAlert,
  postAlertTest,
  postAlertRotate,
  getAlertDeliveries,
  postAlertReplay,
  postKeys,
  postKeysTopup,
  postKeysRotate,
  getKeysSelf,
  getOwed,
  getInput,
  getEvidence,
  getEpoch,
  getLivez,
  getReadyz,
];

/** Services that they name. */
type ScoringNeeds = NeedsOf<typeof SCORING_ENDPOINTS>;

export const SCORING_INTERFACE: ApiInterface<ScoringNeeds> = {
  title: "Agent Health",
  version: "0.1.0",
  purpose: "Scores autonomous agents by what their wallets did on chain, and routes payments to them.",
  advice:
    "Ask `GET /ahs/route/{address}` before paying an agent: it answers `instant_settle`, `escrow` or `reject`. Give the payment's `amount_usd`: the score predicts failures and is no fraud score, and the safe amount says how much money a settlement may put at stake. A wallet without enough history is INSUFFICIENT, which is not a bad score.",
  endpoints: SCORING_ENDPOINTS,
  webhooks: describeWebhooks(WEBHOOK_EVENTS),
  documentPath: "/openapi.json",
  referencePath: "/docs",
};

/** The scoring interface as a Hono app. */
export function createApp(ports: ServedParts<ScoringNeeds>): Hono<ApiEnv> {
  return createInterfaceApp(ports, [SCORING_INTERFACE]);
}
