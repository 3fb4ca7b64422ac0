import type { Hono } from "hono";
import { Counter, Histogram, type Registry } from "prom-client";
import { Problem } from "../../access/problems.ts";
import { isLoopbackAddress } from "../../net/public-address.ts";
import { answer } from "./answer.ts";
import type { ApiContext, ApiEnv } from "./api-env.ts";
import { mountPage } from "./mount-endpoints.ts";

// From a cached read to a request that fetches history, in seconds.
const BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times answered requests, in a prom-client registry. Throws if the registry has them already. */
export function createRequestMetrics(registry: Registry) {
  const requests = new Counter({
    name: "ahs_http_requests_total",
    help: "Requests answered, by route and status",
    labelNames: ["route", "method", "status"],
    registers: [registry],
  });
  const duration = new Histogram({
    name: "ahs_http_request_duration_seconds",
    help: "Time from the request's arrival to its answer, by route",
    labelNames: ["route"],
    buckets: BUCKETS,
    registers: [registry],
  });
  return {
    observe({
      route,
      method,
      status,
      ms,
    }: {
      readonly route: string;
      readonly method: string;
      readonly status: number;
      readonly ms: number;
    }): void {
      requests.inc({ route, method, status });
      duration.observe({ route }, ms / 1000);
    },
  };
}

/** Headers of proxies: behind a local proxy every socket looks local. */
const FORWARDED = ["x-forwarded-for", "forwarded", "x-real-ip"] as const;

/** Prefix of IPv4 addresses on a dual-stack socket. */
const MAPPED = /^::ffff:/i;

/** Mounts /metrics for local sockets; all others get a 404. */
export function mountMetrics(
  app: Hono<ApiEnv>,
  {
    registry,
    socketAddress,
  }: {
    readonly registry: Registry;
    readonly socketAddress: (context: ApiContext) => string | null;
  },
): void {
  mountPage(app, "/metrics", async (context) => {
    const isForwarded = FORWARDED.some((name) => context.req.header(name) !== undefined);
    const socket = socketAddress(context);
    if (isForwarded || socket === null || !isLoopbackAddress(socket.replace(MAPPED, "")))
      throw new Problem("not-found", "There is no /metrics here; see /docs.");
    return answer(context, {
      status: 200,
      body: await registry.metrics(),
      headers: { "content-type": registry.contentType },
    });
  });
}
