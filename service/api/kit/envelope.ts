import type { MiddlewareHandler } from "hono";
import type { Logger } from "pino";
import type { Problem } from "../../access/problems.ts";
import { type IpLimit, rateLimited } from "../../access/rate-limits.ts";
import { answer } from "./answer.ts";
import type { ApiContext, ApiEnv, Clock } from "./api-env.ts";
import { createCompression } from "./compress-answer.ts";
import { draining } from "./deadline.ts";
import { answerProblem } from "./handle-error.ts";
import type { createRequestMetrics } from "./metrics.ts";
import type { ServerLife } from "./server-life.ts";

type EnvelopeDeps = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly randomId: () => string;
  readonly metrics: ReturnType<typeof createRequestMetrics>;
  /** Origins whose pages may read answers. */
  readonly allowedOrigins: readonly string[] | "*";
  readonly life: Pick<ServerLife, "draining" | "enter">;
  readonly ipLimit: IpLimit;
  /** Address of the socket of a request; null for requests made in process. */
  readonly socketAddress: (context: ApiContext) => string | null;
  /** Whether callers reach the service by https; then every answer has the header that binds browsers to https. */
  readonly isHttps: boolean;
};

/** Methods of the endpoints, with HEAD and OPTIONS. */
const METHODS = "GET, HEAD, POST, PUT, DELETE, OPTIONS";
const KNOWN_METHODS = new Set(METHODS.split(", "));
// x402 clients send the last two: one names the answer headers that the client reads, the other belongs to version 1.
const REQUEST_HEADERS =
  "Content-Type, Authorization, X-API-Key, X-Spending-Limit-Usd, X-Request-Id, Idempotency-Key, If-Match, If-None-Match, PAYMENT-SIGNATURE, X-Payment-Claim, SIGN-IN-WITH-X, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID, Access-Control-Expose-Headers, X-PAYMENT";
const EXPOSED_HEADERS =
  "X-Charged-Usd, X-Balance-Usd, PAYMENT-REQUIRED, PAYMENT-RESPONSE, RateLimit, RateLimit-Policy, Retry-After, ETag, Content-Digest, X-Request-Id, WWW-Authenticate, Mcp-Session-Id, Mcp-Protocol-Version";
const PREFLIGHT_SECONDS = "7200";

const FIXED_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "strict-origin-when-cross-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "access-control-expose-headers": EXPOSED_HEADERS,
};

/** For a year, and for this host alone. */
const HTTPS_ONLY = { "strict-transport-security": "max-age=31536000" } as const;

// Such ids stay one word in a log line and in a shell.
const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** A draining server still answers whether the process lives. */
const LIVENESS = "/livez";

/**
 * Middleware around every answer: request id, headers, preflight, IP limit, metrics and request log.
 */
export function createEnvelope(deps: EnvelopeDeps): MiddlewareHandler<ApiEnv> {
  const compress = createCompression();
  return async (context, next) => {
    const started = deps.clock.monotonicMs();
    const requestId = requestIdOf(context.req.header("x-request-id"), deps.randomId);
    context.set("requestId", requestId);
    context.set("headers", headersOfEvery(context, requestId, deps));
    if (isPreflight(context)) return answerPreflight(context);
    const leave = deps.life.enter();
    try {
      const refusal = refusalOf(context, deps);
      if (refusal === null) await next();
      else context.res = answerProblem(refusal, context);
      await compress(context);
    } finally {
      leave();
    }
    report(context, deps, deps.clock.monotonicMs() - started);
    return undefined;
  };
}

/** Headers of every answer, including answers that are sent before any route. */
export function envelopeHeaders(requestId: string): Readonly<Record<string, string>> {
  return { ...FIXED_HEADERS, "x-request-id": requestId };
}

function headersOfEvery(
  context: ApiContext,
  requestId: string,
  { allowedOrigins, isHttps }: Pick<EnvelopeDeps, "allowedOrigins" | "isHttps">,
): Readonly<Record<string, string>> {
  const cors = corsHeaders(context.req.header("origin"), allowedOrigins);
  return { ...envelopeHeaders(requestId), ...(isHttps ? HTTPS_ONLY : {}), ...cors };
}

/** The refusal of a request; null if it may proceed. */
function refusalOf(context: ApiContext, deps: EnvelopeDeps): Problem | null {
  if (deps.life.draining && context.req.path !== LIVENESS) return draining();
  const limit = deps.ipLimit({
    socket: deps.socketAddress(context),
    forwardedFor: context.req.header("x-forwarded-for"),
  });
  return limit === null ? null : rateLimited(limit);
}

function requestIdOf(given: string | undefined, randomId: () => string): string {
  return given !== undefined && REQUEST_ID.test(given) ? given : randomId();
}

function corsHeaders(
  origin: string | undefined,
  allowedOrigins: readonly string[] | "*",
): Readonly<Record<string, string>> {
  if (allowedOrigins === "*") return { "access-control-allow-origin": "*" };
  if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: "Origin" };
  return { vary: "Origin", "access-control-allow-origin": origin };
}

function isPreflight(context: ApiContext): boolean {
  return (
    context.req.method === "OPTIONS" && context.req.header("access-control-request-method") !== undefined
  );
}

function answerPreflight(context: ApiContext): Response {
  return answer(context, {
    status: 204,
    body: null,
    headers: {
      "access-control-allow-methods": METHODS,
      "access-control-allow-headers": REQUEST_HEADERS,
      "access-control-max-age": PREFLIGHT_SECONDS,
    },
  });
}

function report(context: ApiContext, { logger, metrics }: EnvelopeDeps, ms: number): void {
  const { method, path } = context.req;
  const route = context.get("route") ?? "unmatched";
  const { status } = context.res;
  metrics.observe({ route, method: KNOWN_METHODS.has(method) ? method : "other", status, ms });
  // Successes are only counted: a log line each would cost more than a read.
  const level = status < 400 ? "debug" : "info";
  logger[level]({ request_id: context.get("requestId"), method, path, route, status, ms }, "request");
}
