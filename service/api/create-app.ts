import { Hono } from "hono";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Access } from "./access/access.ts";
import type { IpLimit } from "./access/ip-limit.ts";
import { getAlertDeliveries, postAlertReplay } from "./alerts/alerts-deliveries.ts";
import { deleteAlert, getAlert, postAlertRotate, postAlertTest } from "./alerts/alerts-manage.ts";
import type { SubscribePorts, SubscriptionPorts } from "./alerts/alerts-ports.ts";
import { getAlertsSubscribe } from "./alerts/get-alerts-subscribe.ts";
import { answer, answerJson } from "./answer.ts";
import type { ApiContext, ApiEnv, Clock } from "./api-env.ts";
import { createRequestLimits } from "./deadline.ts";
import { type GetHealthPorts, getHealth } from "./diagnosis/get-health.ts";
import { type GetOptimizePorts, getOptimize } from "./diagnosis/get-optimize.ts";
import { type PostWashPorts, postWash } from "./diagnosis/post-wash.ts";
import { type DiscoveryPorts, mountDiscovery } from "./discovery/mount-discovery.ts";
import type { Endpoint } from "./endpoint.ts";
import { createEnvelope } from "./envelope.ts";
import { answerProblem, createErrorHandler } from "./handle-error.ts";
import { getKeysSelf } from "./keys/get-keys-self.ts";
import type { KeyPorts } from "./keys/key-sale.ts";
import { postKeys } from "./keys/post-keys.ts";
import { postKeysRotate } from "./keys/post-keys-rotate.ts";
import { postKeysTopup } from "./keys/post-keys-topup.ts";
import { mountMcp } from "./mcp/mount-mcp.ts";
import { createRequestMetrics } from "./metrics.ts";
import { mountEndpoints, mountPage } from "./mount-endpoints.ts";
import { mountMetrics } from "./mount-metrics.ts";
import { type GetCounterpartiesPorts, getCounterparties } from "./network/get-counterparties.ts";
import { type GetNetworkMapPorts, getNetworkMap } from "./network/get-network-map.ts";
import { openApiDocument } from "./openapi-document.ts";
import { type GetEpochPorts, getEpoch } from "./operation/get-epoch.ts";
import { type GetInputPorts, getInput } from "./operation/get-input.ts";
import { getLivez } from "./operation/get-livez.ts";
import { type GetReadyzPorts, getReadyz } from "./operation/get-readyz.ts";
import { renderReference } from "./pages/render-reference.ts";
import { Problem } from "./problems.ts";
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
import type { ServerLife } from "./server-life.ts";
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
  DiscoveryPorts &
  PolicyPorts &
  KeyPorts &
  SubscribePorts &
  SubscriptionPorts &
  ReportPorts & {
    readonly access: Access;
    readonly clock: Clock;
    readonly logger: Logger;
    /** A fresh id for requests that bring none. */
    readonly randomId: () => string;
    /** Where request metrics go, and what /metrics prints; it must not hold them already. */
    readonly registry: Registry;
    /** Whether /metrics is a page of this port, for those on this machine alone, or elsewhere. */
    readonly metricsPage: "loopback" | "elsewhere";
    /** Origins whose pages may read answers, or every one. */
    readonly allowedOrigins: readonly string[] | "*";
    readonly life: ServerLife;
    readonly ipLimit: IpLimit;
    /** Address of the socket that a request came over; null for one that came over none. */
    readonly socketAddress: (context: ApiContext) => string | null;
    /** Milliseconds that preparing and doing the work of a request may take together. */
    readonly deadlineMs: number;
  };

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

/** The scoring interface as a Hono app that touches nothing but its ports. */
export function createApp(ports: ApiPorts): Hono<ApiEnv> {
  const { access, clock, logger, registry } = ports;
  const app = new Hono<ApiEnv>();
  const isHttps = ports.discovery.origin.startsWith("https:");
  app.use(createEnvelope({ ...ports, metrics: createRequestMetrics(registry), isHttps }));
  app.onError(createErrorHandler(logger));
  app.notFound((context) =>
    answerProblem(new Problem("not-found", `There is no ${context.req.path} here; see /docs.`), context),
  );
  mountEndpoints(app, SCORING_ENDPOINTS, {
    deps: ports,
    access,
    clock,
    limits: createRequestLimits({ ...ports, stopping: ports.life.stopping }),
  });
  mountDocuments(app, ports);
  return app;
}

function mountDocuments(app: Hono<ApiEnv>, ports: ApiPorts): void {
  const { logger, discovery } = ports;
  const document = openApiDocument(SCORING_ENDPOINTS);
  mountDiscovery(app, document, ports);
  mountMcp(app, { document, origin: discovery.origin, logger });
  const reference = renderReference(document);
  mountPage(app, "/openapi.json", (context) => answerJson(context, document));
  mountPage(app, "/docs", (context) =>
    answer(context, {
      status: 200,
      body: reference.html,
      headers: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": reference.contentSecurityPolicy,
      },
    }),
  );
  if (ports.metricsPage === "loopback") mountMetrics(app, ports);
}
