import {
  type PaymentTerms,
  type RefusedError,
  refusalOf,
  type Stopped,
  termsOf,
  UnexpectedAnswerError,
  UnreachableError,
} from "./errors.ts";

/** Makes a payment for the terms of a 402: the value of PAYMENT-SIGNATURE. It may refuse by throwing. */
export type Payer = (terms: PaymentTerms) => Promise<string>;

/** The charge of an answered call. */
export type Charge = {
  readonly method: string;
  readonly path: string;
  /** US dollars; 0 for a free or repeated call. */
  readonly chargedUsd: number;
  /** US dollars left on the key; null without a key and for an unlimited one. */
  readonly balanceUsd: number | null;
};

/** How requests are sent; all of it has defaults but the base URL. */
export type SendOptions = {
  /** Scheme, host and port of the service. */
  readonly baseUrl: string;
  /** Null where calls are paid one by one. */
  readonly apiKey: string | null;
  readonly payer: Payer | null;
  readonly fetch: typeof globalThis.fetch;
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
  /** Attempts after the first, for failures that may pass. */
  readonly retries: number;
  /** Waits between attempts. */
  readonly sleep: (ms: number) => Promise<void>;
  /** Where an earlier call stopped that this one goes on with; null for a new call. */
  readonly resume: Stopped | null;
  /** Called with the charge of each answered call. */
  readonly onCharge: (charge: Charge) => void;
};

export type Call = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Not to be tried again: what it changes makes a repeat fail. */
  readonly once?: true;
  /** Given where a repeat must neither be charged nor act twice. */
  readonly idempotencyKey?: string;
};

const FIRST_PAUSE_MS = 250;
/** A service that asks for a longer wait is reported at once. */
const LONGEST_PAUSE_MS = 30_000;
const PASSING = new Set([409, 429, 500, 502, 503, 504]);

/** As long as the service holds what a request of this key or payment began, and a little more. */
const LONGEST_SETTLING_MS = 150_000;

/** Earlier requests decide the next one: a payment is made once, and shown again with its claim. */
type Progress = { readonly idempotencyKey: string | null; payment: string | null; claim: string | null };

/**
 * Sends a call until it is answered; refusals that may pass and lost connections are tried again, and a 409 while a payment is out
 * for as long as its settlement may take. Throws an AgentHealthError that says how to resume the call. Every attempt carries the
 * same Idempotency-Key, so that the call is charged once.
 */
export async function send(call: Call, options: SendOptions): Promise<Response> {
  const { idempotencyKey, payment, claim } = options.resume ?? NOTHING_SENT;
  const progress: Progress = {
    idempotencyKey: call.idempotencyKey === undefined ? null : (idempotencyKey ?? call.idempotencyKey),
    payment,
    claim,
  };
  let settlingMs = 0;
  let attempt = 0;
  for (;;) {
    const outcome = await attemptOnce(call, options, progress);
    if (outcome instanceof Response) {
      reportCharge(call, outcome, options);
      return outcome;
    }
    const pauseMs = pauseAfter(outcome, attempt);
    const isSettling = progress.payment !== null && isConflict(outcome);
    if (isSettling) settlingMs += pauseMs;
    else attempt += 1;
    const isPatient = isSettling ? settlingMs <= LONGEST_SETTLING_MS : attempt <= retriesOf(call, options);
    if (!isPatient || !mayPass(outcome) || pauseMs > LONGEST_PAUSE_MS) throw outcome.after(progress);
    await options.sleep(pauseMs);
  }
}

function reportCharge({ method, path }: Call, { headers }: Response, { onCharge }: SendOptions): void {
  const charged = headers.get("x-charged-usd");
  if (charged === null) return;
  const balance = Number(headers.get("x-balance-usd") ?? Number.NaN);
  const balanceUsd = Number.isFinite(balance) ? balance : null;
  onCharge({ method, path, chargedUsd: Number(charged), balanceUsd });
}

const NOTHING_SENT: Stopped = { idempotencyKey: null, payment: null, claim: null };

function retriesOf(call: Call, { retries }: SendOptions): number {
  return call.once === true ? 0 : retries;
}

function isConflict(outcome: RefusedError | UnreachableError): boolean {
  return !(outcome instanceof UnreachableError) && outcome.status === 409;
}

function mayPass(outcome: RefusedError | UnreachableError): boolean {
  return outcome instanceof UnreachableError || PASSING.has(outcome.status);
}

/** One attempt, and the payment that it turns out to need; a refusal is returned. */
async function attemptOnce(
  call: Call,
  options: SendOptions,
  progress: Progress,
): Promise<Response | RefusedError | UnreachableError> {
  const response = await fetchOnce(call, options, progress);
  if (!(response instanceof Response) || response.ok || response.status === 304) return response;
  const body = await readRefusal(response);
  const terms = termsOf(body);
  if (response.status === 402 && terms !== null && options.payer !== null && progress.payment === null) {
    progress.payment = await options.payer(terms);
    return attemptOnce(call, options, progress);
  }
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  const refusal = refusalOf({
    status: response.status,
    body,
    requestId: response.headers.get("x-request-id"),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  });
  progress.claim = refusal.claim ?? progress.claim;
  return refusal;
}

async function fetchOnce(
  call: Call,
  options: SendOptions,
  { idempotencyKey, payment, claim }: Progress,
): Promise<Response | UnreachableError> {
  const { method, path, query = {}, body } = call;
  const url = new URL(options.baseUrl + path);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  const headers: Record<string, string> = {
    // The service charges the key where there is one: what is paid for goes without.
    ...(options.apiKey === null || payment !== null ? {} : { "X-API-Key": options.apiKey }),
    ...(idempotencyKey === null ? {} : { "Idempotency-Key": idempotencyKey }),
    ...(payment === null ? {} : { "PAYMENT-SIGNATURE": payment }),
    ...(claim === null ? {} : { "X-Payment-Claim": claim }),
    ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    ...call.headers,
  };
  try {
    const response = await options.fetch(url.href, {
      method,
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(options.timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Read here, so that an answer that breaks off is asked for again like one that never came.
    const bytes = await response.arrayBuffer();
    const { status, statusText } = response;
    return new Response(bytes.byteLength === 0 ? null : bytes, {
      status,
      statusText,
      headers: response.headers,
    });
  } catch (cause) {
    return new UnreachableError(`${method} ${url.origin}${url.pathname} was not answered`, { cause });
  }
}

async function readRefusal(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    // A proxy's page between here and the service: only its status is of use.
    return text;
  }
}

/** The JSON of an answer; throws UnexpectedAnswerError for anything else. */
export async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new UnexpectedAnswerError("the service answered 200 with something that is no JSON", { cause });
  }
}

/** The pause that the service asks for, else doubling pauses; milliseconds. */
function pauseAfter(outcome: RefusedError | UnreachableError, attempt: number): number {
  const asked = outcome instanceof UnreachableError ? null : outcome.retryAfterSeconds;
  return asked === null ? FIRST_PAUSE_MS * 2 ** attempt : asked * 1_000;
}
