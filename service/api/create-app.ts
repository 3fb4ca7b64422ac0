import { OpenAPIHono } from "@hono/zod-openapi";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import type { Access } from "./access/access.ts";
import { answer, answerJson } from "./answer.ts";
import type { ApiEnv, Clock } from "./api-env.ts";
import type { Endpoint } from "./endpoint.ts";
import { createEnvelope } from "./envelope.ts";
import { type GetAhsPorts, getAhs } from "./get-ahs.ts";
import { getAhsRoute } from "./get-ahs-route.ts";
import { type GetEpochPorts, getEpoch } from "./get-epoch.ts";
import { type GetInputPorts, getInput } from "./get-input.ts";
import { getLivez } from "./get-livez.ts";
import { type GetReadyzPorts, getReadyz } from "./get-readyz.ts";
import { answerProblem, createErrorHandler } from "./handle-error.ts";
import { createRequestMetrics } from "./metrics.ts";
import { mountEndpoints, mountPage } from "./mount-endpoints.ts";
import { openApiDocument } from "./openapi-document.ts";
import { renderReference } from "./pages/render-reference.ts";
import { Problem } from "./problems.ts";

/** Everything that the scoring interface takes from outside. */
export type ApiPorts = GetAhsPorts &
  GetReadyzPorts &
  GetInputPorts &
  GetEpochPorts & {
    readonly access: Access;
    readonly clock: Clock;
    readonly logger: Logger;
    /** A fresh id for requests that bring none. */
    readonly randomId: () => string;
    /** Where request metrics go, and what /metrics prints; it must not hold them already. */
    readonly registry: Registry;
    /** Origins whose pages may read answers, or every one. */
    readonly allowedOrigins: readonly string[] | "*";
  };

/** Every endpoint of the scoring interface; prices, the document and the reference come from here. */
export const SCORING_ENDPOINTS: readonly Endpoint<ApiPorts>[] = [
  getAhs,
  getAhsRoute,
  getInput,
  getEpoch,
  getLivez,
  getReadyz,
];

/** The scoring interface as a Hono app that touches nothing but its ports. */
export function createApp(ports: ApiPorts): OpenAPIHono<ApiEnv> {
  const { access, clock, logger, registry } = ports;
  const app = new OpenAPIHono<ApiEnv>();
  app.use(createEnvelope({ ...ports, metrics: createRequestMetrics(registry) }));
  app.onError(createErrorHandler(logger));
  app.notFound((context) =>
    answerProblem(new Problem("not-found", `There is no ${context.req.path} here; see /docs.`), context),
  );
  mountEndpoints(app, SCORING_ENDPOINTS, { deps: ports, access, clock });
  mountDocuments(app, registry);
  return app;
}

function mountDocuments(app: OpenAPIHono<ApiEnv>, registry: Registry): void {
  const document = openApiDocument(app);
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
  mountPage(app, "/metrics", async (context) =>
    answer(context, {
      status: 200,
      body: await registry.metrics(),
      headers: { "content-type": registry.contentType },
    }),
  );
}
