import type { MiddlewareHandler } from "hono";
import type { Logger } from "pino";
import type { ApiContext, ApiEnv, Clock } from "./api-env.ts";
import type { RequestMetrics } from "./metrics.ts";

export type EnvelopeDeps = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly randomId: () => string;
  readonly metrics: RequestMetrics;
  /** Origins whose pages may read answers, or every one. */
  readonly allowedOrigins: readonly string[] | "*";
};

/** Methods that some endpoint of ours has, and those that answer for them. */
const METHODS = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
const REQUEST_HEADERS =
  "Content-Type, X-API-Key, X-Request-Id, Idempotency-Key, If-Match, If-None-Match, PAYMENT-SIGNATURE, SIGN-IN-WITH-X";
const EXPOSED_HEADERS =
  "PAYMENT-REQUIRED, PAYMENT-RESPONSE, RateLimit, RateLimit-Policy, Retry-After, ETag, X-Request-Id";
const PREFLIGHT_SECONDS = "7200";

const SECURITY_HEADERS: readonly (readonly [string, string])[] = [
  ["X-Content-Type-Options", "nosniff"],
  ["X-Frame-Options", "DENY"],
  ["Referrer-Policy", "strict-origin-when-cross-origin"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
];

// Ids that stay one word in a log line and in a shell.
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** What surrounds every answer, whatever its status: request id, headers, preflight, metrics and the request log. */
export function createEnvelope(deps: EnvelopeDeps): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const started = deps.clock.monotonicMs();
    context.set("requestId", requestIdOf(context.req.header("x-request-id"), deps.randomId));
    setHeaders(context, deps.allowedOrigins);
    if (isPreflight(context)) return answerPreflight(context);
    await next();
    report(context, deps, deps.clock.monotonicMs() - started);
    return undefined;
  };
}

function requestIdOf(given: string | undefined, randomId: () => string): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : randomId();
}

function setHeaders(context: ApiContext, allowedOrigins: readonly string[] | "*"): void {
  context.header("X-Request-Id", context.get("requestId"));
  for (const [name, value] of SECURITY_HEADERS) context.header(name, value);
  context.header("Access-Control-Expose-Headers", EXPOSED_HEADERS);
  if (allowedOrigins === "*") {
    context.header("Access-Control-Allow-Origin", "*");
    return;
  }
  context.header("Vary", "Origin");
  const origin = context.req.header("origin");
  if (origin !== undefined && allowedOrigins.includes(origin))
    context.header("Access-Control-Allow-Origin", origin);
}

function isPreflight(context: ApiContext): boolean {
  return (
    context.req.method === "OPTIONS" && context.req.header("access-control-request-method") !== undefined
  );
}

function answerPreflight(context: ApiContext): Response {
  return context.body(null, 204, {
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": REQUEST_HEADERS,
    "Access-Control-Max-Age": PREFLIGHT_SECONDS,
  });
}

function report(context: ApiContext, { logger, metrics }: EnvelopeDeps, ms: number): void {
  const { method, path } = context.req;
  const route = context.get("route") ?? "unmatched";
  const { status } = context.res;
  metrics.observe({ route, method: METHODS.includes(method) ? method : "other", status, ms });
  logger.info(
    { request_id: context.get("requestId"), method, path, route, status, ms: Math.round(ms * 10) / 10 },
    "request",
  );
}
