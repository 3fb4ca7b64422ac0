/** RFC 9457 body of a refusal; members that the service added are kept. */
export type ProblemBody = {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: unknown;
  readonly request_id?: string;
  readonly claim?: string;
};

/** One fault of a request that does not fit. */
export type ValidationFault = {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
};

/** The body of a 402, as x402 defines it. */
export type PaymentTerms = {
  x402Version: number;
  error?: string;
  resource: { url: string; description?: string; mimeType?: string };
  accepts: {
    scheme: string;
    network: `${string}:${string}`;
    /** In the asset's smallest unit. */
    amount: string;
    asset: string;
    payTo: string;
    maxTimeoutSeconds: number;
    extra: Record<string, unknown>;
  }[];
  extensions?: Record<string, unknown>;
};

type Refusal = {
  readonly status: number;
  readonly body: unknown;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
};

/** By what a call goes on where an earlier attempt of it stopped, without being charged again; null without one. */
export type Stopped = {
  readonly idempotencyKey: string | null;
  /** The value of PAYMENT-SIGNATURE that was sent. */
  readonly payment: string | null;
  /** Of an answer that is paid and owed. */
  readonly claim: string | null;
};

/** Every failure of the client: one of the classes below. It says how the call can be resumed. */
export class AgentHealthError extends Error implements Stopped {
  override readonly name: string = "AgentHealthError";
  /** Of every attempt of the call; null where nothing was to be charged. */
  idempotencyKey: string | null = null;
  /** The payment that was sent; null where none was. Whether it was taken is not known, unless a claim says so. */
  payment: string | null = null;
  /** Of an answer that is paid and owed; null where the service gave none. */
  claim: string | null = null;

  /** The same error with what was sent before it. */
  after({ idempotencyKey, payment, claim }: Stopped): this {
    this.idempotencyKey = idempotencyKey;
    this.payment = payment;
    this.claim = claim;
    return this;
  }
}

/** The service was not reached, or did not answer in time; whether it did anything is not known. */
export class UnreachableError extends AgentHealthError {
  override readonly name = "UnreachableError";
}

/** An answer that the client cannot read. */
export class UnexpectedAnswerError extends AgentHealthError {
  override readonly name = "UnexpectedAnswerError";
}

/** A verdict was not there within the time that it was waited for; `getVerdict` or `waitForVerdict` ask on. */
export class VerdictPendingError extends AgentHealthError {
  override readonly name = "VerdictPendingError";
  /** Of the verdict, as it was seen last. */
  readonly verdictId: string;
  readonly status: string;

  constructor(verdict: { readonly verdict_id: string; readonly status: string }) {
    super(`verdict ${verdict.verdict_id} is still ${verdict.status}`);
    this.verdictId = verdict.verdict_id;
    this.status = verdict.status;
  }
}

/**
 * The service refused, and took nothing from a key for the refused attempt. With a `payment`, a claim or after a 409 the call may be
 * charged, or may have been by an earlier attempt: `resume` asks for its answer, and never pays twice.
 */
export class RefusedError extends AgentHealthError {
  override readonly name: string = "RefusedError";
  readonly status: number;
  readonly requestId: string | null;
  readonly body: unknown;
  /** When another attempt makes sense; null where the service does not say. */
  readonly retryAfterSeconds: number | null;

  constructor({ status, body, requestId, retryAfterSeconds }: Refusal) {
    super(messageOf(status, body));
    this.status = status;
    this.body = body;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    const claim = memberOf(body, "claim");
    this.claim = typeof claim === "string" ? claim : null;
  }
}

/** 422: the request does not fit; `faults` says where. */
export class ValidationError extends RefusedError {
  override readonly name = "ValidationError";

  get faults(): readonly ValidationFault[] {
    const detail = memberOf(this.body, "detail");
    return Array.isArray(detail) ? detail : [];
  }
}

/** 401: the key or the sign-in is no good. */
export class AuthenticationError extends RefusedError {
  override readonly name = "AuthenticationError";
}

/** 402: the balance does not reach, or the payment was not taken. */
export class PaymentRequiredError extends RefusedError {
  override readonly name = "PaymentRequiredError";

  /** The terms of payment; null where the service takes keys alone. */
  get terms(): PaymentTerms | null {
    return termsOf(this.body);
  }
}

/** 404: there is no such thing, or the wallet is not indexed. */
export class NotFoundError extends RefusedError {
  override readonly name = "NotFoundError";
}

/** 409 or 412: another request is under way, or came first. */
export class ConflictError extends RefusedError {
  override readonly name = "ConflictError";
}

/** 429: more calls than the limit allows. */
export class RateLimitError extends RefusedError {
  override readonly name = "RateLimitError";
}

/** 5xx: the service cannot answer now. */
export class UnavailableError extends RefusedError {
  override readonly name = "UnavailableError";
}

/** The error of a refusal, by its status. */
export function refusalOf(refusal: Refusal): RefusedError {
  const { status } = refusal;
  if (status === 401) return new AuthenticationError(refusal);
  if (status === 402) return new PaymentRequiredError(refusal);
  if (status === 404) return new NotFoundError(refusal);
  if (status === 409 || status === 412) return new ConflictError(refusal);
  if (status === 422) return new ValidationError(refusal);
  if (status === 429) return new RateLimitError(refusal);
  return status >= 500 ? new UnavailableError(refusal) : new RefusedError(refusal);
}

/** The terms that a 402 body holds; null where it holds none. */
export function termsOf(body: unknown): PaymentTerms | null {
  // The members that payers read are those that x402 requires of every such body.
  return Array.isArray(memberOf(body, "accepts")) ? (body as PaymentTerms) : null;
}

function messageOf(status: number, body: unknown): string {
  const detail = memberOf(body, "detail") ?? memberOf(body, "error");
  if (typeof detail === "string") return `${status}: ${detail}`;
  if (!Array.isArray(detail)) return `${status}`;
  const faults = detail.map((fault) => {
    const loc = memberOf(fault, "loc");
    return `${Array.isArray(loc) ? loc.join(".") : "?"}: ${memberOf(fault, "msg")}`;
  });
  return `${status}: ${faults.join("; ")}`;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
