import { Counter, Histogram, type Registry } from "prom-client";

/** Counts and times answered requests. */
export type RequestMetrics = {
  observe(request: {
    readonly route: string;
    readonly method: string;
    readonly status: number;
    readonly ms: number;
  }): void;
};

// From a cached read to a request that fetches history, in seconds.
const BUCKETS = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Request metrics in a registry of prom-client; throws when that registry has them already. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
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
    observe({ route, method, status, ms }) {
      requests.inc({ route, method, status });
      duration.observe({ route }, ms / 1000);
    },
  };
}
