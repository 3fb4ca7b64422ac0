import type { Hono } from "hono";
import { getAlertDeliveries, postAlertReplay } from "./alerts/alerts-deliveries.ts";
import { deleteAlert, getAlert, postAlertRotate, postAlertTest } from "./alerts/alerts-manage.ts";
import type { SubscribePorts, SubscriptionPorts } from "./alerts/alerts-ports.ts";
import { getAlertsSubscribe } from "./alerts/get-alerts-subscribe.ts";
import type { ApiEnv } from "./api-env.ts";
import { type ApiInterface, createInterfaceApp, type InterfacePorts } from "./create-interface.ts";
import { describeAlertWebhooks } from "./describe-webhooks.ts";
import { type GetHealthPorts, getHealth } from "./diagnosis/get-health.ts";
import { type GetOptimizePorts, getOptimize } from "./diagnosis/get-optimize.ts";
import { type PostWashPorts, postWash } from "./diagnosis/post-wash.ts";
import type { Endpoint } from "./endpoint.ts";
import { getKeysSelf } from "./keys/get-keys-self.ts";
import type { KeyPorts } from "./keys/key-sale.ts";
import { postKeys } from "./keys/post-keys.ts";
import { postKeysRotate } from "./keys/post-keys-rotate.ts";
import { postKeysTopup } from "./keys/post-keys-topup.ts";
import { type GetCounterpartiesPorts, getCounterparties } from "./network/get-counterparties.ts";
import { type GetNetworkMapPorts, getNetworkMap } from "./network/get-network-map.ts";
import { type GetEpochPorts, getEpoch } from "./operation/get-epoch.ts";
import { type GetInputPorts, getInput } from "./operation/get-input.ts";
import { getLivez } from "./operation/get-livez.ts";
import { type GetReadyzPorts, getReadyz } from "./operation/get-readyz.ts";
import { type GetAgentProtectPorts, getAgentProtect } from "./recovery/get-agent-protect.ts";
import { type GetRetryPorts, getRetry } from "./recovery/get-retry.ts";
import { type GetReportCardPorts, getReportCard } from "./report-card/get-report-card.ts";
import { type GetRiskPorts, getRisk } from "./risk/get-risk.ts";
import { type GetRiskPremiumPorts, getRiskPremium } from "./risk/get-risk-premium.ts";
import { getAhsRoute } from "./routing/get-ahs-route.ts";
import { getRoutePolicy, type PolicyPorts } from "./routing/get-route-policy.ts";
import { putRoutePolicy } from "./routing/put-route-policy.ts";
import { type GetAhsPorts, getAhs } from "./scores/get-ahs.ts";
import { postAhsBatch } from "./scores/post-ahs-batch.ts";
import type { ReportPorts } from "./wallet-report.ts";

/** Everything that the scoring interface takes from outside. */
export type ApiPorts = GetAhsPorts &
  GetRiskPorts &
  GetRiskPremiumPorts &
  GetCounterpartiesPorts &
  GetNetworkMapPorts &
  GetReportCardPorts &
  GetRetryPorts &
  GetAgentProtectPorts &
  GetHealthPorts &
  PostWashPorts &
  GetOptimizePorts &
  GetReadyzPorts &
  GetInputPorts &
  GetEpochPorts &
  PolicyPorts &
  KeyPorts &
  SubscribePorts &
  SubscriptionPorts &
  ReportPorts &
  InterfacePorts;

/** Every endpoint of the scoring interface; prices, the document and the reference come from here. */
export const SCORING_ENDPOINTS: readonly Endpoint<ApiPorts>[] = [
  getRisk,
  getRiskPremium,
  getCounterparties,
  getNetworkMap,
  getHealth,
  postWash,
  getAhs,
  getAhsRoute,
  getRoutePolicy,
  putRoutePolicy,
  getReportCard,
  getAlertsSubscribe,
  getOptimize,
  postAhsBatch,
  getRetry,
  getAgentProtect,
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
  getInput,
  getEpoch,
  getLivez,
  getReadyz,
];

/** The scoring interface: what it is, and where it tells of itself. */
export const SCORING_INTERFACE: ApiInterface<ApiPorts> = {
  title: "Agent Health",
  version: "0.1.0",
  purpose: "Scores autonomous agents by what their wallets did on chain, and routes payments to them.",
  advice:
    "Ask `GET /ahs/route/{address}` before paying an agent: it answers `instant_settle`, `escrow` or `reject`. A wallet without enough history is INSUFFICIENT, which is not a bad score.",
  endpoints: SCORING_ENDPOINTS,
  webhooks: describeAlertWebhooks(),
  documentPath: "/openapi.json",
  referencePath: "/docs",
};

/** The scoring interface as a Hono app that touches nothing but its ports. */
export function createApp(ports: ApiPorts): Hono<ApiEnv> {
  return createInterfaceApp(ports, [SCORING_INTERFACE]);
}
