import type { ContentfulStatusCode } from "hono/utils/http-status";

type ProblemKind = {
  readonly status: ContentfulStatusCode;
  readonly title: string;
  /** Where the problem has a registered type, which then takes the place of ours. */
  readonly type?: string;
};

/** The registered type of draft-ietf-httpapi-ratelimit-headers-11. */
const QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded";

/** All problems of the service: one code, one status, one title. */
export const PROBLEMS = {
  "request-malformed": { status: 400, title: "Request malformed" },
  "body-malformed": { status: 400, title: "Body malformed" },
  "header-malformed": { status: 400, title: "Header malformed" },
  "payment-malformed": { status: 400, title: "Payment malformed" },
  "key-missing": { status: 401, title: "API key missing" },
  "key-unknown": { status: 401, title: "API key unknown" },
  "key-expired": { status: 401, title: "API key expired" },
  "key-revoked": { status: 401, title: "API key revoked" },
  "identity-missing": { status: 401, title: "Neither API key nor sign-in" },
  "sign-in-invalid": { status: 401, title: "Sign-in invalid" },
  "balance-insufficient": { status: 402, title: "API key balance insufficient" },
  "spending-limit-reached": { status: 403, title: "Caller's spending limit reached" },
  "scope-missing": { status: 403, title: "API key lacks the scope" },
  "cross-site": { status: 403, title: "Sent from another site" },
  "not-the-submitter": { status: 403, title: "Not the submitter's key or wallet" },
  "not-found": { status: 404, title: "Not found" },
  "not-indexed": { status: 404, title: "Wallet not indexed" },
  "registry-not-followed": { status: 404, title: "Registry not followed" },
  "agent-unknown": { status: 404, title: "Agent unknown" },
  "agent-without-wallet": { status: 404, title: "Agent without a wallet" },
  "method-not-allowed": { status: 405, title: "Method not allowed" },
  "request-timeout": { status: 408, title: "Request too slow" },
  "payment-in-flight": { status: 409, title: "Payment in use by another request" },
  "request-in-flight": {
    status: 409,
    title: "Request with this Idempotency-Key or payment identifier under way",
  },
  "payment-identifier-reused": { status: 409, title: "Payment identifier used for another request" },
  "job-not-submitted": { status: 409, title: "Nothing submitted to the job yet" },
  "deliverable-differs": { status: 409, title: "Not what was submitted to the job" },
  "output-unsettled": { status: 409, title: "Another submission of this output is being paid" },
  "verdict-not-completed": { status: 409, title: "Verdict not completed" },
  "verdict-not-failed": { status: 409, title: "Verdict not failed" },
  "verdict-open": { status: 409, title: "Verdict or its job not over" },
  "verdict-not-held": { status: 409, title: "Verdict not on HOLD" },
  "appeal-closed": { status: 409, title: "Verdict cannot be appealed now" },
  "appeal-unsettled": { status: 409, title: "Another appeal of this verdict is being paid" },
  "retries-used-up": { status: 409, title: "Retries used up" },
  "evidence-used-up": { status: 409, title: "Evidence used up" },
  "texts-dropped": { status: 410, title: "Texts no longer kept" },
  "precondition-failed": { status: 412, title: "Changed meanwhile" },
  "body-too-large": { status: 413, title: "Body too large" },
  "target-too-long": { status: 414, title: "Path and query too long" },
  "encoding-unsupported": { status: 415, title: "Content-Encoding unsupported" },
  "idempotency-key-reused": { status: 422, title: "Idempotency-Key used for another request" },
  "headers-too-large": { status: 431, title: "Request header too large" },
  "rate-limited": { status: 429, title: "Rate limit exceeded", type: QUOTA_EXCEEDED },
  internal: { status: 500, title: "Internal error" },
  "database-unavailable": { status: 503, title: "Database unavailable" },
  "index-unavailable": { status: 503, title: "Index unavailable" },
  "index-behind": { status: 503, title: "Index behind the chain" },
  "scoring-unavailable": { status: 503, title: "Scoring unavailable" },
  "history-unavailable": { status: 503, title: "History unavailable" },
  "escrow-suspended": { status: 503, title: "Escrow suspended" },
  "names-unavailable": { status: 503, title: "Name servers unavailable" },
  "node-unavailable": { status: 503, title: "Node unavailable" },
  "signer-unavailable": { status: 503, title: "Signer unavailable" },
  "payments-unavailable": { status: 503, title: "Payments unavailable" },
  "settlement-too-dear": { status: 503, title: "Settlement too dear now" },
  "settlement-pending": { status: 503, title: "Settlement pending" },
  "answer-owed": { status: 503, title: "Paid answer owed" },
  "panel-not-configured": { status: 503, title: "Panel not configured" },
  "panel-budget-spent": { status: 503, title: "Panel's budget spent" },
  "storage-spent": { status: 503, title: "Storage budget spent" },
  "appeals-not-configured": { status: 503, title: "Appeals not configured" },
  "receipts-not-configured": { status: 503, title: "Receipts not configured" },
  "deadline-exceeded": { status: 503, title: "Deadline exceeded" },
  "connection-crowded": { status: 503, title: "Too many requests on one connection" },
  draining: { status: 503, title: "Shutting down" },
  // Of the proxy in ops/Caddyfile.
  "no-server": { status: 503, title: "No server answered" },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

/** An expected refusal or failure; `detail` is shown to the caller, so it never carries a secret or a cause. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: ProblemCode;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly claim: string | null;
  readonly violatedPolicies: readonly string[] | null;
  /** Heading and title of its page. */
  readonly heading: string;

  constructor(
    code: ProblemCode,
    detail: string,
    options: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
      /** Claim of a payment that is reserved or has moved, hexadecimal. */
      readonly claim?: string;
      /** Names of limits, as in the header RateLimit-Policy. */
      readonly violatedPolicies?: readonly string[];
      /** The title of its kind by default. */
      readonly heading?: string;
    } = {},
  ) {
    super(`${code}: ${detail}`, { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.headers = options.headers ?? {};
    this.claim = options.claim ?? null;
    this.violatedPolicies = options.violatedPolicies ?? null;
    this.heading = options.heading ?? PROBLEMS[code].title;
  }

  get status(): ContentfulStatusCode {
    return PROBLEMS[this.code].status;
  }

  /** The RFC 9457 body for one request. `type` points into the reference page of the same host. */
  render(request: { readonly instance: string; readonly requestId: string }) {
    return {
      type: problemType(this.code),
      title: PROBLEMS[this.code].title,
      status: this.status,
      detail: this.detail,
      instance: request.instance,
      request_id: request.requestId,
      ...(this.claim === null ? {} : { claim: this.claim }),
      ...(this.violatedPolicies === null ? {} : { "violated-policies": this.violatedPolicies }),
    };
  }
}

/** The `type` member: a registered URI, or an absolute path, which resolves on any host. */
export function problemType(code: ProblemCode): string {
  const kind: ProblemKind = PROBLEMS[code];
  return kind.type ?? `/docs#problem-${code}`;
}

/** A 401; the header names the expected credential for generic clients. */
export function unauthorized(
  code: "key-missing" | "key-unknown" | "key-expired" | "key-revoked",
  detail: string,
): Problem {
  return new Problem(code, detail, {
    headers: {
      "www-authenticate": 'ApiKey realm="agent-health", header="X-API-Key", Bearer realm="agent-health"',
    },
  });
}

type UnavailableCode = {
  [code in ProblemCode]: (typeof PROBLEMS)[code]["status"] extends 503 ? code : never;
}[ProblemCode];

/** A 503 with Retry-After. */
export function unavailable(
  code: UnavailableCode,
  detail: string,
  options: { readonly retryAfterSeconds: number; readonly cause?: unknown },
): Problem {
  return new Problem(code, detail, {
    headers: { "retry-after": String(options.retryAfterSeconds) },
    cause: options.cause,
  });
}

/** A 405 with the methods of the path. */
export function methodNotAllowed(method: string, path: string, allow: readonly string[]): Problem {
  const allowed = allow.join(", ");
  return new Problem("method-not-allowed", `${method} is not a method of ${path}; it has ${allowed}.`, {
    headers: { allow: allowed },
  });
}
